#include <fmt/core.h>

#include "model/arch/hf_config.h"

namespace vitro {
namespace {

/// The class in "architectures"; "Model" (the bare body) where there is none.
std::string class_name(const Value& config) {
  const Value* names = config.find("architectures");
  const Value::Array* items = names ? names->as_array() : nullptr;
  const std::string* name = items && !items->empty() ? items->front().as_string() : nullptr;
  return name ? *name : "Model";
}

struct HeadName {
  std::string_view ending;
  HeadKind kind;
};
constexpr HeadName kHeads[] = {{"ForMaskedLM", HeadKind::kMaskedLm},
                               {"ForPreTraining", HeadKind::kMaskedLm},
                               {"ForSequenceClassification", HeadKind::kTextClasses},
                               {"ForTokenClassification", HeadKind::kTokenClasses},
                               {"Model", HeadKind::kNone}};

/// As many as "id2label" names; two where nothing is said.
int64_t read_n_class(ConfigReader& reader, const Value& config) {
  const Value* labels = config.find("id2label");
  const Value::Object* names = labels ? labels->as_object() : nullptr;
  if (!names) return reader.get_size("n_class", {"num_labels", "_num_labels"}, 2, kMaxVocab);
  reader.note("n_class", "id2label", fmt::format("{}", names->size()), ValueOrigin::kFile);
  return static_cast<int64_t>(names->size());
}

}  // namespace

void read_hf_head(ConfigReader& reader, const Value& config, ModelConfig* out) {
  const std::string name = class_name(config);
  const HeadName* head = nullptr;
  for (const HeadName& known : kHeads) {
    if (!head && name.ends_with(known.ending)) head = &known;
  }
  if (!head) {
    reader.problem(fmt::format("'architectures' names {}: this head is not implemented", to_string(Value(name), 60)));
    return;
  }
  out->head = head->kind;
  out->has_head_bias = out->head != HeadKind::kNone;
  if (out->head == HeadKind::kMaskedLm) return;
  out->is_head_tied = false;
  if (out->head != HeadKind::kNone) out->n_class = read_n_class(reader, config);
}

HeadKind read_hf_generator(ConfigReader& reader, const Value& config) {
  const std::string name = class_name(config);
  if (name.ends_with("ForConditionalGeneration") || name.ends_with("MTModel")) return HeadKind::kLogits;
  if (name.ends_with("Model")) return HeadKind::kNone;
  reader.problem(fmt::format("'architectures' names {}: this head is not implemented", to_string(Value(name), 60)));
  return HeadKind::kNone;
}

}  // namespace vitro
