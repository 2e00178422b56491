#include "formats/protobuf.h"

#include <gtest/gtest.h>

#include <string>

namespace vitro {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(Protobuf, HandsOutFieldsOfEveryKind) {
  // Fields 1 (150, as in the format's own example), 2 ("hi"), 3 (1.0F), 4 (a fixed64), 16 (-1).
  const std::string message(
      "\x08\x96\x01\x12\x02hi\x1D\x00\x00\x80\x3F\x21\x01\x00\x00\x00\x00\x00\x00\x00"
      "\x80\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
      33);
  ProtoReader reader(bytes_of(message));
  const auto next = [&] { return reader.next().value().value(); };
  EXPECT_EQ(next().integer().value(), 150);
  EXPECT_EQ(next().text().value(), "hi");
  EXPECT_EQ(next().real().value(), 1.0F);
  EXPECT_EQ(next().bits, 1U);
  const ProtoField last = next();
  EXPECT_EQ(last.number, 16U);
  EXPECT_EQ(last.integer().value(), -1);
  EXPECT_TRUE(last.boolean().value());
  EXPECT_EQ(last.text().error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(reader.next().value().has_value());
}

TEST(Protobuf, RefusesWhatIsNoMessage) {
  const auto code_of = [](std::string_view text) { return ProtoReader(bytes_of(text)).next().error().code; };
  EXPECT_EQ(code_of(std::string_view("\x00\x00", 2)), ErrorCode::kCorrupt);  // field 0
  EXPECT_EQ(code_of("\x08"), ErrorCode::kCorrupt);                           // no value
  EXPECT_EQ(code_of("\x12\x05hi"), ErrorCode::kCorrupt);                     // a length beyond the end
  EXPECT_EQ(code_of("\x0D\x01"), ErrorCode::kCorrupt);                       // half a float
  EXPECT_EQ(code_of("\x0E"), ErrorCode::kCorrupt);                           // wire type 6
  EXPECT_EQ(code_of("\x0B"), ErrorCode::kUnsupported);                       // a group
  EXPECT_EQ(code_of("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), ErrorCode::kCorrupt);  // eleven bytes
  EXPECT_EQ(code_of("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), ErrorCode::kCorrupt);      // 2^64 - 1 bytes
}

}  // namespace
}  // namespace vitro
