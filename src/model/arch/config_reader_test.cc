// ConfigReader: aliases, defaults, kinds, unknown keys, inner objects; every problem in one message.
#include "model/arch/config_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/json.h"
#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;

Value json(std::string_view text) {
  auto value = parse_json(text, "test");
  EXPECT_TRUE(value) << value.error().message;
  return value ? std::move(*value) : Value();
}

TEST(ConfigReaderTest, RecordsWhereEachValueCameFrom) {
  const Value config = json(R"({"hidden_size": 64, "eps": 1e-5, "tied": true, "act": "silu"})");
  ConfigReader reader(config, "", "config.json");
  EXPECT_EQ(reader.need_int("d_model", {"n_embd", "hidden_size"}), 64);
  EXPECT_EQ(reader.need_real("norm.eps", {"eps"}), 1e-5);
  EXPECT_TRUE(reader.get_bool("is_head_tied", {"tied"}, false));
  EXPECT_EQ(reader.get_string("act", {"act"}, "relu"), "silu");
  EXPECT_EQ(reader.get_int("n_kv_head", {"kv_heads", "kv"}, 7), 7);
  EXPECT_TRUE(reader.finish());
  const std::vector<ConfigValue> values = reader.take_values();
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[0].name, "d_model");
  EXPECT_EQ(values[0].source, "hidden_size");
  EXPECT_EQ(values[0].value, "64");
  EXPECT_EQ(values[0].origin, ValueOrigin::kFile);
  EXPECT_EQ(values[4].source, "kv_heads");
  EXPECT_EQ(values[4].value, "7");
  EXPECT_EQ(values[4].origin, ValueOrigin::kDefault);
}

TEST(ConfigReaderTest, NullCountsAsMissingAndWholeRealsAsIntegers) {
  const Value config = json(R"({"a": null, "b": 4096.0})");
  ConfigReader reader(config, "", "config.json");
  EXPECT_EQ(reader.get_int("a", {"a"}, 3), 3);
  EXPECT_EQ(reader.get_value({"a"}), nullptr);
  EXPECT_FALSE(reader.has({"a"}));
  EXPECT_EQ(reader.need_int("b", {"b"}), 4096);
  EXPECT_TRUE(reader.finish());
}

TEST(ConfigReaderTest, ReportsEveryProblemAtOnce) {
  const Value config = json(R"({"width": "wide", "eps": [1], "tied": 3, "act": 0, "heads": -4, "layers": 1e12,
                               "mystery": 1, "other": {}, "half": 2.5})");
  ConfigReader reader(config, "", "config.json");
  reader.need_int("width", {"width"});
  reader.need_int("depth", {"depth", "n_depth"});
  reader.need_real("eps", {"eps"});
  reader.get_bool("tied", {"tied"}, false);
  reader.get_string("act", {"act"}, "silu");
  reader.need_size("heads", {"heads"});
  reader.get_size("layers", {"layers"}, 1, 100);
  reader.need_int("half", {"half"});
  const Status status = reader.finish();
  for (const char* part : {"[config.json]", "'width' must be an integer, found string \"wide\"",
                           "missing key 'depth' or 'n_depth'", "'eps' must be a number, found array [1]",
                           "'tied' must be true or false, found integer 3", "'act' must be a string, found integer 0",
                           "'heads' = -4 must be between 1 and", "'layers' = 1000000000000 must be between 1 and 100",
                           "'half' must be an integer, found real 2.5", "unknown keys 'mystery', 'other'"}) {
    expect_error(status, ErrorCode::kInvalidArgument, part);
  }
}

TEST(ConfigReaderTest, RefusesTwoNamesOfOneThingThatDiffer) {
  const Value same = json(R"({"n_ctx": 8, "n_positions": 8})");
  ConfigReader agrees(same, "", "config.json");
  EXPECT_EQ(agrees.need_int("n_ctx", {"n_positions", "n_ctx"}), 8);
  EXPECT_TRUE(agrees.finish());
  const Value differ = json(R"({"n_ctx": 8, "n_positions": 9})");
  ConfigReader differs(differ, "", "config.json");
  differs.need_int("n_ctx", {"n_positions", "n_ctx"});
  expect_error(differs.finish(), ErrorCode::kInvalidArgument,
               "'n_positions' = 9 and 'n_ctx' = 8 mean the same and differ");
}

TEST(ConfigReaderTest, OnlyKeysUnderThePrefixMustBeKnown) {
  const Value config = json(R"({"general.name": "x", "llama.block_count": 2, "llama.surprise": 1, "llamas": 3})");
  ConfigReader reader(config, "llama.", "gguf");
  EXPECT_EQ(reader.need_int("n_layer", {"block_count"}), 2);
  const Status status = reader.finish();
  expect_error(status, ErrorCode::kInvalidArgument, "unknown key 'llama.surprise'");
  EXPECT_EQ(status.error().message.find("general"), std::string::npos);
  EXPECT_EQ(status.error().message.find("llamas"), std::string::npos);
}

TEST(ConfigReaderTest, RefusesNumbersThatAreNone) {
  const Value config(Value::Object{{"nan", Value(std::nan(""))}, {"inf", Value(HUGE_VAL)}, {"two", Value(2.0)}});
  ConfigReader reader(config, "", "gguf");
  reader.need_real("a", {"nan"});
  reader.get_real("b", {"inf"}, 1.0);
  EXPECT_EQ(reader.need_real("c", {"two"}), 2.0);
  const Status status = reader.finish();
  expect_error(status, ErrorCode::kInvalidArgument, "'nan' = nan is not a finite number");
  expect_error(status, ErrorCode::kInvalidArgument, "'inf' = inf is not a finite number");
}

TEST(ConfigReaderTest, SwitchesThatMustStayOff) {
  const Value off = json(R"({"a": false, "b": null, "c": 0, "d": {}, "e": [], "f": 1, "g": false})");
  ConfigReader fine(off, "", "config.json");
  for (const char* key : {"a", "b", "c", "d", "e", "z"}) fine.expect_off(key);
  fine.expect_int("f", 1);
  fine.expect_bool("g", false);
  EXPECT_TRUE(fine.finish());
  const Value on = json(R"({"a": true, "d": {"x": 1}, "f": 2, "g": true})");
  ConfigReader reader(on, "", "config.json");
  reader.expect_off("a");
  reader.expect_off("d");
  reader.expect_int("f", 1);
  reader.expect_bool("g", false);
  const Status status = reader.finish();
  for (const char* part : {"'a' = true is not implemented", "'d' = {\"x\":1} is not implemented",
                           "'f' = 2 is not implemented (only 1)", "'g' = true is not implemented (only false)"}) {
    expect_error(status, ErrorCode::kInvalidArgument, part);
  }
}

TEST(ConfigReaderTest, InnerObjectsReportUnderTheirPath) {
  const Value config = json(R"({"rope": {"theta": 1.5, "what": 1}, "number": 3})");
  ConfigReader reader(config, "", "config.json");
  ConfigReader inner = reader.inner(*reader.get_value({"rope"}), "rope");
  EXPECT_EQ(inner.need_real("rope.theta", {"theta"}), 1.5);
  inner.need_int("rope.factor", {"factor"});
  reader.absorb(std::move(inner));
  ConfigReader no_object = reader.inner(*reader.get_value({"number"}), "number");
  reader.absorb(std::move(no_object));
  const Status status = reader.finish();
  expect_error(status, ErrorCode::kInvalidArgument, "missing key 'rope.factor'");
  expect_error(status, ErrorCode::kInvalidArgument, "unknown key 'rope.what'");
  expect_error(status, ErrorCode::kInvalidArgument, "'number' must be an object, found integer 3");
  EXPECT_EQ(reader.take_values()[0].source, "rope.theta");
}

TEST(ConfigReaderTest, ListsOfReals) {
  const Value config = json(R"({"good": [1, 2.5], "bad": [1, "x"], "none": 4})");
  ConfigReader reader(config, "", "config.json");
  EXPECT_EQ(reader.get_reals("a", {"good"}), (std::vector<double>{1.0, 2.5}));
  EXPECT_TRUE(reader.get_reals("b", {"bad"}).empty());
  EXPECT_TRUE(reader.get_reals("c", {"none"}).empty());
  EXPECT_TRUE(reader.get_reals("d", {"gone"}).empty());
  const Status status = reader.finish();
  expect_error(status, ErrorCode::kInvalidArgument, "'bad' must be a list of numbers");
  expect_error(status, ErrorCode::kInvalidArgument, "'none' must be a list of numbers");
  expect_error(status, ErrorCode::kInvalidArgument, "missing key 'gone'");
}

TEST(ConfigReaderTest, AMillionUnknownKeysMakeAShortMessage) {
  Value::Object members;
  for (int i = 0; i < 100'000; ++i) members.emplace_back(fmt::format("key{}{}", i, std::string(200, 'x')), Value(true));
  const Value config(std::move(members));
  ConfigReader reader(config, "", "config.json");
  const Status status = reader.finish();
  expect_error(status, ErrorCode::kInvalidArgument, "and 99980 more");
  EXPECT_LT(status.error().message.size(), 4000u);
}

TEST(ConfigReaderTest, WhatIsNoObject) {
  const Value config = json("[1]");
  ConfigReader reader(config, "", "config.json");
  reader.need_int("a", {"a"});
  expect_error(reader.finish(), ErrorCode::kInvalidArgument, "the description must be an object, found array [1]");
}

}  // namespace
}  // namespace vitro
