// Spoiled descriptions: every golden's config.json and the metadata of its GGUF twin, with one key unknown, missing, of
// the wrong kind or nonsense at a time. Each is refused by the name of the key, or a default takes its place and says
// so.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "model/differences.h"
#include "testing/golden_twin.h"
#include "testing/goldens.h"

namespace vitro {
namespace {

using testing::Golden;

struct Case {
  Golden golden;
  SourceFormat format;
  friend std::ostream& operator<<(std::ostream& out, const Case& which) {
    return out << which.golden << (which.format == SourceFormat::kGguf ? ".gguf" : "");
  }
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Golden& golden : testing::kGoldens) {
    out.push_back({golden, SourceFormat::kHuggingFace});
    if (golden.twin != testing::TwinKind::kNone) out.push_back({golden, SourceFormat::kGguf});
  }
  return out;
}

Value description(const Case& which) {
  const auto read = [](const std::filesystem::path& path) {
    return description_of(Checkpoint::open(path, {.needs_weights = false}).value());
  };
  if (which.format == SourceFormat::kHuggingFace) return read(golden_path(which.golden) / "config.json");
  return read(testing::GoldenTwin(which.golden.name).path());
}

Result<ModelConfig> read_config(SourceFormat format, const Value& config) {
  VITRO_TRY_ASSIGN(const Architecture* arch, find_architecture(format, config));
  VITRO_TRY_ASSIGN(ModelConfig out, arch->read_config(format, config));
  VITRO_TRY(check_config(out));
  return out;
}

// ---- keys by path: "hidden_size", "rope_parameters.rope_theta"; GGUF keys have dots of their own ----

/// The object that holds the key, and the key's name in it; null where there is none.
std::pair<Value*, std::string> locate(Value& config, const std::string& path) {
  if (config.find(path)) return {&config, path};
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    for (Value::Member& member : *config.as_object()) {
      if (member.first == path.substr(0, dot) && member.second.as_object())
        return locate(member.second, path.substr(dot + 1));
    }
  }
  return {nullptr, ""};
}

/// Paths of all keys of an object and of the objects in it.
std::vector<std::string> all_paths(const Value& object, const std::string& prefix = "") {
  std::vector<std::string> paths;
  for (const Value::Member& member : *object.as_object()) {
    if (member.first.starts_with('(')) continue;  // the table of tensors, which is no key of the file
    paths.push_back(prefix + member.first);
    if (!member.second.as_object()) continue;
    for (std::string& path : all_paths(member.second, prefix + member.first + ".")) paths.push_back(std::move(path));
  }
  return paths;
}

Value without(Value config, const std::string& path) {
  const auto [object, key] = locate(config, path);
  std::erase_if(*object->as_object(), [&wanted = key](const Value::Member& member) { return member.first == wanted; });
  return config;
}

Value with(Value config, const std::string& path, Value value) {
  const auto [object, key] = locate(config, path);
  for (Value::Member& member : *object->as_object()) {
    if (member.first == key) member.second = std::move(value);
  }
  return config;
}

class ConfigErrors : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    config_ = description(GetParam());
    auto model = read_config(GetParam().format, config_);
    ASSERT_TRUE(model) << model.error().message;
    model_ = std::move(*model);
  }

  Result<ModelConfig> read(const Value& config) const { return read_config(GetParam().format, config); }

  void expect_refused(const Value& config, const std::string& key, const std::string& what) const {
    const auto result = read(config);
    if (result) {
      ADD_FAILURE() << what << ": accepted";
    } else if (result.error().message.find("'" + key + "'") == std::string::npos) {
      ADD_FAILURE() << what << ": not named in: " << result.error().message;
    }
  }

  /// The key that gave the value we know by this name; empty where the file gave none.
  std::string key_of(std::string_view name) const {
    for (const ConfigValue& value : model_.values) {
      if (value.name == name && value.origin == ValueOrigin::kFile) return value.source;
    }
    return "";
  }

  /// Whether this key gave a value that we know by a name.
  bool has_given(const std::string& key) const {
    return std::any_of(model_.values.begin(), model_.values.end(), [&](const ConfigValue& value) {
      return value.source == key && value.origin == ValueOrigin::kFile;
    });
  }

  /// Whether a value that `key`, or a key in it, gave to the sound model is a default of this one.
  bool says_default(const ModelConfig& model, const std::string& key) const {
    for (const ConfigValue& old : model_.values) {
      if (old.origin != ValueOrigin::kFile || (old.source != key && !old.source.starts_with(key + "."))) continue;
      for (const ConfigValue& value : model.values) {
        if (value.name == old.name && value.origin == ValueOrigin::kDefault) return true;
      }
    }
    return false;
  }

  Value config_;
  ModelConfig model_;
};

TEST_P(ConfigErrors, UnknownKeysAreNamed) {
  const bool is_gguf = GetParam().format == SourceFormat::kGguf;
  const std::string prefix = is_gguf ? *config_.find("general.architecture")->as_string() + "." : "";
  Value config = config_;
  config.as_object()->emplace_back(prefix + "surprise", Value(int64_t{1}));
  expect_refused(config, prefix + "surprise", "an unknown key");
  for (const std::string& path : all_paths(config_)) {
    if (path.ends_with("id2label") || path.ends_with("label2id")) continue;  // lists of names, not of keys
    Value inner = config_;
    const auto [object, key] = locate(inner, path);
    for (Value::Member& member : *object->as_object()) {
      if (member.first != key || !member.second.as_object()) continue;
      member.second.as_object()->emplace_back("surprise", Value(int64_t{1}));
      expect_refused(inner, path + ".surprise", "an unknown key in " + path);
      break;
    }
  }
}

// Never silently another model: a missing key is an error that names it, changes nothing, or is replaced by a default
// that `show --config` marks.
TEST_P(ConfigErrors, MissingKeysAreNamedOrDefaults) {
  int n_refused = 0;
  for (const std::string& path : all_paths(config_)) {
    const Value config = without(config_, path);
    const auto result = read(config);
    if (!result) {
      expect_refused(config, path, "without " + path);
      ++n_refused;
    } else if (!config_differences(model_, *result).empty()) {
      EXPECT_TRUE(says_default(*result, path)) << "without " << path << " silently another model";
    }
  }
  EXPECT_GE(n_refused, 4);  // whose family, how wide, how deep, how many heads
}

// No key that matters can be an object with a strange member, or a list of lists.
TEST_P(ConfigErrors, WrongKindsAreNamed) {
  const Value object(Value::Object{{"strange", Value(int64_t{1})}});
  const Value lists(Value::Array{Value(Value::Array{})});
  for (const std::string& path : all_paths(config_)) {
    for (const Value& wrong : {object, lists}) {
      const auto result = read(with(config_, path, wrong));
      const std::string what = path + " = " + to_string(wrong);
      if (result) {
        EXPECT_TRUE(config_differences(model_, *result).empty() && !has_given(path)) << what << ": accepted";
      } else {
        const std::string& message = result.error().message;
        const bool is_named = message.find("'" + path + "'") != std::string::npos ||
                              message.find("'" + path + ".strange'") != std::string::npos;
        EXPECT_TRUE(is_named) << what << ": not named in: " << message;
      }
    }
  }
}

/// Values that the quantity we know by this name can never have.
struct Nonsense {
  const char* name;
  std::vector<Value> values;
};

std::vector<Value> no_sizes() {
  return {Value(int64_t{0}), Value(int64_t{-64}), Value(std::numeric_limits<int64_t>::max()),
          Value(1e300),      Value(2.5),          Value(std::string("64"))};
}
std::vector<Value> no_positive_numbers() { return {Value(0.0), Value(-1.0), Value(std::string("1"))}; }

const std::vector<Nonsense>& nonsense() {
  static const std::vector<Nonsense> kNonsense = {
      {"d_model", no_sizes()},
      {"n_layer", no_sizes()},
      {"vocab_size", no_sizes()},
      {"n_ctx", no_sizes()},
      {"ffn.d_ff", no_sizes()},
      {"attn.n_head", no_sizes()},
      {"attn.n_kv_head", no_sizes()},
      {"attn.n_kv_head", {Value(int64_t{3})}},  // of 4 heads
      {"attn.d_head", no_sizes()},
      {"attn.window", {Value(int64_t{-1}), Value(2.5), Value(std::string("8"))}},
      {"norm.eps", no_positive_numbers()},
      {"rope.theta", no_positive_numbers()},
      {"rope.factor", no_positive_numbers()},
      {"rope.n_ctx_original", no_sizes()},
      {"rope.low_freq_factor", no_positive_numbers()},
      {"rope.beta_fast", no_positive_numbers()},
      {"rope.beta_slow", no_positive_numbers()},
      {"rope.fraction", {Value(0.0), Value(-1.0), Value(1.5), Value(std::string("1"))}},
  };
  return kNonsense;
}

TEST_P(ConfigErrors, NonsenseIsNamed) {
  for (const Nonsense& wrong : nonsense()) {
    const std::string key = key_of(wrong.name);
    if (key.empty()) continue;
    for (const Value& value : wrong.values)
      expect_refused(with(config_, key, value), key, key + " = " + to_string(value));
  }
  for (const char* name : {"d_model", "n_layer", "attn.n_head"}) EXPECT_NE(key_of(name), "") << name;
}

// What must fit together: heads divide the width unless a head has a width of its own, which is even where it rotates.
TEST_P(ConfigErrors, MisfitsAreNamed) {
  ASSERT_EQ(model_.blocks[0].attn.n_head, 4);
  const std::string heads = key_of("attn.n_head"), width = key_of("attn.d_head");
  if (width.empty()) expect_refused(with(config_, heads, Value(int64_t{5})), heads, heads + " = 5");
  const bool rotates = !rope_kinds(model_).empty();
  if (rotates && !width.empty()) expect_refused(with(config_, width, Value(int64_t{15})), width, width + " = 15");
}

INSTANTIATE_TEST_SUITE_P(Goldens, ConfigErrors, ::testing::ValuesIn(cases()), [](const auto& param) {
  return testing::test_name(param.param.golden) + (param.param.format == SourceFormat::kGguf ? "_gguf" : "");
});

}  // namespace
}  // namespace vitro
