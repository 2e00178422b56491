// For tests only: expectations stored as one JSON object a line, and running one of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "formats/json.h"
#include "testing/shared_data.h"
#include "text/chat_template.h"

namespace vitro::testing {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Value parsed(std::string_view text) {
  Result<Value> value = parse_json(text, "test data");
  EXPECT_TRUE(value) << value.error().message;
  return value ? *std::move(value) : Value();
}

inline std::vector<Value> lines_of(const std::filesystem::path& path) {
  std::vector<Value> out;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  for (std::string line; std::getline(in, line);) out.push_back(parsed(line));
  return out;
}

inline std::string string_of(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  return value && value->as_string() ? *value->as_string() : "";
}

/// The request of a line {messages, kwargs}: some kwargs are the request's own members, the others variables.
inline ChatRequest request_of(const Value& line, const std::string& now) {
  ChatRequest request;
  request.now = now;
  if (const Value* messages = line.find("messages")) request.messages = *messages;
  const Value* kwargs = line.find("kwargs");
  if (kwargs == nullptr || kwargs->as_object() == nullptr) return request;
  for (const auto& [key, value] : *kwargs->as_object()) {
    const bool is_set = value.as_bool() != nullptr && *value.as_bool();
    if (key == "tools") {
      request.tools = value;
    } else if (key == "documents") {
      request.documents = value;
    } else if (key == "add_generation_prompt") {
      request.add_generation_prompt = is_set;
    } else if (key == "continue_final_message") {
      request.continue_final_message = is_set;
    } else {
      request.variables.emplace_back(key, value);
    }
  }
  return request;
}

/// bos_token and eos_token of a header, where it has them.
inline Value::Object tokens_of(const Value& header) {
  Value::Object out;
  for (const char* key : {"bos_token", "eos_token"}) {
    if (const Value* token = header.find(key)) out.emplace_back(key, *token);
  }
  return out;
}

}  // namespace vitro::testing
