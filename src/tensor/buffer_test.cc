// Buffers: aligned, zeroed, refused when they cannot be had; and views of rows.
#include "tensor/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/view.h"

namespace vitro {
namespace {

TEST(Buffer, IsAlignedAndZero) {
  for (const size_t n_bytes : {size_t{1}, size_t{63}, size_t{4097}, size_t{3} << 20}) {
    const Buffer buffer = Buffer::allocate(n_bytes, "test").value();
    EXPECT_EQ(buffer.size(), n_bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % Buffer::kAlignment, 0U);
    EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(Buffer, EmptyOwnsNothing) {
  const Buffer buffer = Buffer::allocate(0, "test").value();
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.bytes().empty());
}

TEST(Buffer, MovesItsBytes) {
  Buffer from = Buffer::allocate(64, "test").value();
  from.as<int32_t>(8)[0] = 42;
  const Buffer to = std::move(from);
  EXPECT_EQ(to.as<int32_t>()[2], 42);
}

TEST(Buffer, RefusesWhatTheMachineCannotGive) {
  const Result<Buffer> buffer = Buffer::allocate(size_t{1} << 62, "the impossible");
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(buffer.error().message.find("the impossible"), std::string::npos);
}

TEST(Rows, SlicesKeepTheStride) {
  std::vector<float> data(4 * 5);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const Rows rows(data.data(), 4, 3, 5);
  const ConstRows part = rows.slice(1, 2);
  EXPECT_EQ(part.n_rows, 2);
  EXPECT_EQ(part.row(0)[0], 5.0F);
  EXPECT_EQ(part.row(1)[2], 12.0F);
}

TEST(ConstTensorView, CountsItsBytes) {
  const std::vector<std::byte> data(40);
  const ConstTensorView view{data.data(), DType::kQ4_1, Shape{2, 32}};
  EXPECT_EQ(view.n_bytes(), 40);
  EXPECT_EQ(view.bytes().size(), 40U);
  EXPECT_FALSE(view.empty());
  EXPECT_TRUE(ConstTensorView{}.empty());
}

}  // namespace
}  // namespace vitro
