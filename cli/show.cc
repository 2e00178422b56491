// vitro show: what a model is made of: its module tree with shapes, types and sizes, the tensors of its file, or the
// settings that were read. Needs no weights: a config.json or the beginning of a .gguf file is enough.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/human.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "embedded/open_model.h"
#include "formats/quote_name.h"
#include "model/arch/architecture.h"
#include "model/module_tree.h"
#include "model/words.h"

namespace vitro {
namespace {

struct ShowOptions {
  std::string model;
  ModelSearch search{.needs_weights = false};
  bool lists_tensors = false;
  bool lists_config = false;
  bool is_json = false;
};

Value text_value(std::string_view text) { return Value(std::string(text)); }

Value shape_value(const Shape& shape) {
  Value::Array dims;
  for (int axis = 0; axis < shape.rank(); ++axis) dims.emplace_back(shape[axis]);
  return Value(std::move(dims));
}

// ---- the module tree ----

std::string type_names(const std::vector<DType>& types) {
  std::string names;
  for (const DType type : types) names += fmt::format("{}{}", names.empty() ? "" : ", ", dtype_info(type).name);
  return names;
}

std::string bytes_cell(int64_t n_bytes) { return n_bytes > 0 ? human_bytes(static_cast<uint64_t>(n_bytes)) : ""; }

std::string count_cell(int64_t n, int64_t copies) {
  return copies > 1 ? fmt::format("{} x {}", copies, human_count(n)) : human_count(n);
}

void add_rows(const Module& module, int depth, int64_t copies, Table* table) {
  const std::string indent(static_cast<size_t>(2 * depth), ' ');
  for (const TensorLeaf& leaf : module.tensors) {
    table->add({indent + leaf.name, to_string(leaf.shape), type_names(leaf.types),
                leaf.is_parameter ? count_cell(leaf.shape.n_elements(), copies) : "not trained",
                bytes_cell(leaf.n_bytes)});
  }
  for (const Module& inner : module.modules) {
    const bool is_fold = !inner.layers.empty();
    std::string title = fmt::format("{}({}):", indent, inner.name);
    if (is_fold) title += fmt::format(" {} x", inner.n_copies);
    if (!inner.what.empty()) title += " " + inner.what;
    const int64_t inner_copies = copies * inner.n_copies;
    table->add({title, "", "",
                inner_copies > 1 ? fmt::format("{} x {}", inner_copies, human_count(inner.n_parameters))
                                 : human_count(inner.n_parameters),
                bytes_cell(inner.n_bytes)});
    add_rows(inner, depth + 1, inner_copies, table);
  }
}

Value tensor_json(const TensorLeaf& leaf) {
  Value::Array types;
  for (const DType type : leaf.types) types.push_back(text_value(dtype_info(type).name));
  return Value(Value::Object{{"name", Value(leaf.name)},
                             {"shape", shape_value(leaf.shape)},
                             {"types", Value(std::move(types))},
                             {"parameters", Value(leaf.is_parameter ? leaf.shape.n_elements() : int64_t{0})},
                             {"bytes_of_all_copies", Value(leaf.n_bytes)}});
}

Value module_json(const Module& module) {
  Value::Array tensors, modules;
  for (const TensorLeaf& leaf : module.tensors) tensors.push_back(tensor_json(leaf));
  for (const Module& inner : module.modules) modules.push_back(module_json(inner));
  return Value(Value::Object{{"name", Value(module.name)},
                             {"what", Value(module.what)},
                             {"copies", Value(module.n_copies)},
                             {"parameters", Value(module.n_parameters)},
                             {"bytes_of_all_copies", Value(module.n_bytes)},
                             {"tensors", Value(std::move(tensors))},
                             {"modules", Value(std::move(modules))}});
}

/// Tensors of the file that the description leaves out on purpose.
void print_skipped(const Checkpoint& checkpoint, std::span<const TensorSlot> slots) {
  for (const TensorSlot& slot : slots) {
    if (slot.use != SlotUse::kSkipped) continue;
    const std::string& prefix = slot.sources.at(0).name;
    int64_t n_skipped = 0;
    for (const WeightEntry& entry : checkpoint.tensors()) n_skipped += entry.name.starts_with(prefix) ? 1 : 0;
    if (n_skipped > 0) put("left out: {} tensors {}*, {}\n", n_skipped, prefix, slot.name);
  }
}

void print_tree(const ModelConfig& config, const Module& root) {
  const size_t n_encoder = config.encoder_blocks.size();
  put("{}: {} layers{}, width {}, vocabulary {}, context {}\n", config.family, config.n_layer(),
      n_encoder > 0 ? fmt::format(" and {} of an encoder", n_encoder) : "", config.d_model,
      human_count(config.vocab_size), human_count(config.n_ctx));
  put("attention: {}; positions: {}\n", attention_kind(config), position_kind(config));
  Table table("<<<>>");
  table.add({"module", "shape", "type", "parameters", root.n_bytes > 0 ? "bytes in all" : ""});
  add_rows(root, 0, 1, &table);
  table.print();
  put("parameters: {}{}{}\n", human_count(root.n_parameters),
      config.is_head_tied ? ", the head is the embedding (tied)" : "",
      root.n_bytes > 0 ? fmt::format("; {} in the file's types", human_bytes(static_cast<uint64_t>(root.n_bytes)))
                       : "");
  if (const Status status = check_runnable(config); !status) put("note: {}\n", status.error().message);
}

Status show_tree(const Checkpoint& checkpoint, const ShowOptions& options) {
  VITRO_TRY_ASSIGN(const ModelDescription description, describe_model(checkpoint));
  const ModelConfig& config = description.config;
  const std::vector<TensorSlot> slots = description.arch->tensor_slots(checkpoint.format(), config);
  std::vector<BoundTensor> bound;
  if (!checkpoint.tensors().empty()) {
    VITRO_TRY_ASSIGN(bound, bind_tensors(checkpoint, slots, description.arch->ignorable_tensors));
  }
  const Module root = module_tree(config, slots, bound);
  if (!options.is_json) {
    print_tree(config, root);
    print_skipped(checkpoint, slots);
    return {};
  }
  put_json(Value(Value::Object{{"family", Value(config.family)},
                               {"layers", Value(config.n_layer())},
                               {"encoder_layers", Value(std::ssize(config.encoder_blocks))},
                               {"attention", Value(attention_kind(config))},
                               {"positions", Value(position_kind(config))},
                               {"parameters", Value(root.n_parameters)},
                               {"bytes", Value(root.n_bytes)},
                               {"is_head_tied", Value(config.is_head_tied)},
                               {"is_runnable", Value(check_runnable(config).has_value())},
                               {"modules", *module_json(root).find("modules")}}));
  return {};
}

// ---- the file's tensors ----

Status show_tensors(const Checkpoint& checkpoint, const ShowOptions& options) {
  if (checkpoint.tensors().empty()) {
    return fail(ErrorCode::kNotFound, "{}: only a description, no tensors", checkpoint.path().string());
  }
  Table table("<<<>>");
  Value::Array rows;
  table.add({"name", "type", "shape", "bytes", "offset"});
  for (const WeightEntry& entry : checkpoint.tensors()) {
    const int64_t n_bytes = static_cast<int64_t>(entry.end - entry.begin);
    const std::string_view type = dtype_info(entry.dtype).name;
    table.add({quote_name(entry.name), std::string(type), to_string(entry.shape), human_count(n_bytes),
               human_count(static_cast<int64_t>(entry.begin))});
    rows.emplace_back(Value::Object{{"name", Value(entry.name)},
                                    {"type", text_value(type)},
                                    {"shape", shape_value(entry.shape)},
                                    {"bytes", Value(n_bytes)},
                                    {"offset", Value(static_cast<int64_t>(entry.begin))},
                                    {"file", Value(int64_t{entry.file_idx})}});
  }
  if (options.is_json) {
    put_json(Value(std::move(rows)));
  } else {
    table.print();
  }
  return {};
}

// ---- the settings ----

Status show_config(const Checkpoint& checkpoint, const ShowOptions& options) {
  VITRO_TRY_ASSIGN(const ModelDescription description, describe_model(checkpoint));
  Table table("<<<<");
  Value::Array rows;
  table.add({"setting", "value", "from", "key"});
  for (const ConfigValue& value : description.config.values) {
    const std::string_view origin = value.origin == ValueOrigin::kFile ? "file" : "default";
    table.add({value.name, value.value, std::string(origin), value.source});
    rows.emplace_back(Value::Object{{"setting", Value(value.name)},
                                    {"value", Value(value.value)},
                                    {"from", text_value(origin)},
                                    {"key", Value(value.source)}});
  }
  if (options.is_json) {
    put_json(Value(Value::Object{{"family", Value(description.config.family)}, {"values", Value(std::move(rows))}}));
  } else {
    put("family: {}\n", description.config.family);
    table.print();
  }
  return {};
}

Status show(const ShowOptions& options) {
  VITRO_TRY_ASSIGN(const LocatedDescription located, locate_description(options.model, options.search));
  VITRO_TRY_ASSIGN(const Checkpoint checkpoint, open_checkpoint(located.path, {.needs_weights = false}));
  if (options.lists_tensors) return show_tensors(checkpoint, options);
  if (options.lists_config) return show_config(checkpoint, options);
  return show_tree(checkpoint, options);
}

}  // namespace

int show_command(std::span<const std::string> args) {
  ShowOptions options;
  CLI::App app{"Shows what a model is made of. Without options: its modules, tensors, types and parameter counts."};
  app.footer("Example: vitro show tests/golden/llama-gqa --config");
  add_model_option(app, options.model, options.search,
                   "a Hugging Face folder, a config.json, or a .gguf file (its beginning is enough)")
      ->required();
  auto* tensors =
      app.add_flag("--tensors", options.lists_tensors, "list the file's own tensors: name, type, shape, bytes, offset");
  auto* config = app.add_flag("--config", options.lists_config,
                              "list every setting, whether the file or a default gives it, and its key");
  tensors->excludes(config);
  app.add_flag("--json", options.is_json, "print JSON");
  if (const auto code = parse_args(app, "show", args)) return *code;
  if (const Status status = show(options); !status) return report_error("show", status.error());
  return 0;
}

}  // namespace vitro
