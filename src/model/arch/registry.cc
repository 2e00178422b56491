#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/arch/architecture.h"
#include "model/arch/families.h"
#include "model/arch/gguf_config.h"

namespace vitro {
namespace {

constexpr const Architecture* kFamilies[] = {
    &kGpt1,      &kGpt2,    &kGptNeo,   &kGptJ,       &kGptNeox,    &kBloom,  &kOpt,    &kMpt,
    &kFalcon,    &kLlama,   &kStablelm, &kStarcoder2, &kPhi,        &kPhi3,   &kQwen2,  &kQwen3,
    &kGemma,     &kGemma2,  &kGemma3,   &kSmolLm3,    &kGranite,    &kOlmo2,  &kGlm,    &kGlm4,
    &kCohere,    &kMixtral, &kQwen2Moe, &kQwen3Moe,   &kOlmoe,      &kGptOss, &kPhiMoe, &kDeepseek2,
    &kDeepseek3, &kGlm4Moe, &kBert,     &kRoberta,    &kDistilBert, &kT5,     &kBart,
};

std::span<const std::string_view> names_of(const Architecture& arch, SourceFormat format) {
  return format == SourceFormat::kGguf ? arch.gguf_names : arch.hf_model_types;
}

std::string known_names(SourceFormat format) {
  std::vector<std::string_view> names;
  for (const Architecture* arch : kFamilies) {
    const auto more = names_of(*arch, format);
    names.insert(names.end(), more.begin(), more.end());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::span<const Architecture* const> all_architectures() { return kFamilies; }

Result<const Architecture*> find_architecture(SourceFormat format, const Value& config) {
  if (format == SourceFormat::kLlama2c) return &kLlama;
  const std::string_view key = format == SourceFormat::kGguf ? "general.architecture" : "model_type";
  const Value* value = config.find(key);
  const std::string* type = value ? value->as_string() : nullptr;
  if (!type) {
    return fail(ErrorCode::kInvalidArgument,
                "'{}' is missing or not a string: no way to tell the model's family; known: {}", key,
                known_names(format));
  }
  for (const Architecture* arch : kFamilies) {
    const auto names = names_of(*arch, format);
    if (std::find(names.begin(), names.end(), *type) != names.end()) return arch;
  }
  return fail(ErrorCode::kUnsupported, "{} = {} is not a model family that is implemented; known: {}", key,
              to_string(Value(*type), 60), known_names(format));
}

Value description_of(const Checkpoint& checkpoint) {
  if (checkpoint.format() != SourceFormat::kGguf) return checkpoint.config();
  return with_tensor_table(checkpoint.config(), checkpoint.tensors());
}

Result<ModelDescription> describe_model(const Checkpoint& checkpoint) {
  ModelDescription description;
  VITRO_TRY_ASSIGN(description.arch, find_architecture(checkpoint.format(), checkpoint.config()));
  VITRO_TRY_ASSIGN(description.config, description.arch->read_config(checkpoint.format(), description_of(checkpoint)));
  VITRO_TRY(check_config(description.config));
  return description;
}

}  // namespace vitro
