// What the tests of the families share: reading a description that is written out in the test, and spoiling it.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "formats/json.h"
#include "model/arch/architecture.h"
#include "model/arch/gguf_config.h"

namespace vitro::testing {

inline Value json(std::string_view text) {
  auto value = parse_json(text, "test");
  EXPECT_TRUE(value) << value.error().message << "\n" << text;
  return value ? std::move(*value) : Value();
}

inline Result<ModelConfig> read(SourceFormat format, const Value& config) {
  VITRO_TRY_ASSIGN(const Architecture* arch, find_architecture(format, config));
  VITRO_TRY_ASSIGN(ModelConfig out, arch->read_config(format, config));
  VITRO_TRY(check_config(out));
  return out;
}

inline Result<ModelConfig> read_hf(std::string_view text) { return read(SourceFormat::kHuggingFace, json(text)); }

/// The same as `text` with these members in front (JSON without braces).
inline std::string with(std::string_view members, std::string_view text) {
  return fmt::format("{{{}{}{}", members, members.empty() ? "" : ", ", text.substr(1));
}

inline ModelConfig good_hf(std::string_view text) {
  auto config = read_hf(text);
  EXPECT_TRUE(config) << config.error().message;
  return config ? std::move(*config) : ModelConfig{};
}

/// Metadata of a GGUF file and the tensors that its header lists.
inline Result<ModelConfig> read_gguf(std::string_view metadata,
                                     std::initializer_list<std::pair<std::string, Shape>> tensors) {
  WeightIndex index;
  for (const auto& [name, shape] : tensors) index.push_back({.name = name, .shape = shape});
  return read(SourceFormat::kGguf, with_tensor_table(json(metadata), index));
}

inline const ConfigValue* find_value(const ModelConfig& config, std::string_view name) {
  for (const ConfigValue& value : config.values) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

/// A description with these members in place of its own.
inline Value changed(std::string_view text, std::string_view members) {
  Value config = json(text);
  const Value changes = json(fmt::format("{{{}}}", members));
  for (const Value::Member& change : *changes.as_object()) {
    auto& old = *config.as_object();
    std::erase_if(old, [&](const Value::Member& member) { return member.first == change.first; });
    old.push_back(change);
  }
  return config;
}

struct BadText {
  const char* members;  ///< that spoil the good description
  const char* part;     ///< of the message
};

/// Spoils a good description in one way after the other and expects the message.
inline void expect_refusals(std::string_view good, std::initializer_list<BadText> cases) {
  for (const BadText& bad : cases) {
    SCOPED_TRACE(bad.members);
    const auto result = read(SourceFormat::kHuggingFace, changed(good, bad.members));
    ASSERT_FALSE(result) << "accepted";
    EXPECT_NE(result.error().message.find(bad.part), std::string::npos) << result.error().message;
  }
}

}  // namespace vitro::testing
