// Architecture: everything the engine knows about one family, as data and two pure functions. One file a family in this
// folder, one line in registry.cc, one golden; docs/architectures is made from these. Foreign names live here and
// nowhere else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "model/config.h"
#include "weights/slot.h"

namespace vitro {

/// A mistake of the reference that one of its goldens carries. Repeated, it must explain every difference: that is the
/// proof that nothing else differs.
struct ReferenceFault {
  std::string_view golden;       ///< name of the folder
  std::string_view text;         ///< what the reference does, after "agrees with"
  void (*repeat)(ModelConfig*);  ///< turns the description into what the reference computes
};

struct Architecture {
  std::string_view name;                              ///< ours, e.g. "llama"
  std::span<const std::string_view> hf_model_types;   ///< config.json "model_type"
  std::span<const std::string_view> gguf_names = {};  ///< "general.architecture"
  std::string_view golden;                            ///< folder under goldens that proves it
  bool runs = true;  ///< false: described and planned; check_runnable refuses its models

  /// Reads the foreign description (of description_of). Unknown keys are refused by name (all at once) unless listed as
  /// harmless; missing keys are errors unless the family has a default, which is then marked in ModelConfig::values.
  Result<ModelConfig> (*read_config)(SourceFormat format, const Value& config);
  /// Every tensor of such a model, in forward order. Only for a config that check_config accepts.
  std::vector<TensorSlot> (*tensor_slots)(SourceFormat format, const ModelConfig& config);

  /// Tensors that files may hold and no slot uses, as bind_tensors takes them: masks, rotary tables, the repeat of a
  /// tied head.
  std::span<const std::string_view> ignorable_tensors = {};

  /// Where models of this family knowingly compute otherwise than transformers, and why; for people.
  std::string_view differs = {};
  const ReferenceFault* fault = nullptr;
};

/// All families, in registry order.
std::span<const Architecture* const> all_architectures();

/// The family of a checkpoint: config.json's model_type, GGUF's general.architecture, llama for llama2.c.
/// Unsupported: names the type found and lists the known ones.
Result<const Architecture*> find_architecture(SourceFormat format, const Value& config);

/// What read_config wants: checkpoint.config(), for GGUF with the shapes of the tensors, because GGUF says whether a
/// head is tied or whether there are biases only by the tensors it holds.
Value description_of(const Checkpoint& checkpoint);

/// A checkpoint described.
struct ModelDescription {
  const Architecture* arch = nullptr;
  ModelConfig config;  ///< check_config accepts it
};
/// find_architecture, read_config, check_config; needs no weights. Their errors.
Result<ModelDescription> describe_model(const Checkpoint& checkpoint);

}  // namespace vitro
