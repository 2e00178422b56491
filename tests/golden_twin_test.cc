// Patches of golden twins: what the format says, and hostile ones.
#include "testing/golden_twin.h"

#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "testing/gguf_writer.h"

namespace vitro::testing {
namespace {

std::string u32(uint32_t value) { return GgufWriter::scalar(value).bytes; }
std::string piece(const std::string& literal, uint32_t offset, uint32_t n_copied) {
  return u32(static_cast<uint32_t>(literal.size())) + u32(offset) + u32(n_copied) + literal;
}
constexpr uint32_t kCheckValue = 0xCBF43926;  // CRC-32 of "123456789", the published check value

TEST(GoldenTwin, CopiesAndLiterals) {
  const std::string head = "VITROTWN" + u32(9) + u32(kCheckValue);
  EXPECT_EQ(apply_patch(head + piece("12", 3, 4) + piece("7", 0, 2), "89.3456").value(), "123456789");
  EXPECT_EQ(apply_patch(head + piece("123456789", 0, 0), "").value(), "123456789");
  EXPECT_EQ(apply_patch("VITROTWN" + u32(0) + u32(0), "x").value(), "");
}

TEST(GoldenTwin, RefusesWhatBreaksTheRules) {
  const std::string source = "89.3456", head = "VITROTWN" + u32(9) + u32(kCheckValue);
  const std::string good = head + piece("12", 3, 4) + piece("7", 0, 2);
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_FALSE(apply_patch(good.substr(0, n), source).has_value()) << "cut to " << n;
    std::string flipped = good;
    flipped[n] = static_cast<char>(flipped[n] ^ 0x40);
    EXPECT_FALSE(apply_patch(flipped, source).has_value()) << "byte " << n;
  }
  const auto refused = [&](const std::string& patch, std::string_view part) {
    expect_error(apply_patch(patch, source), ErrorCode::kCorrupt, part);
  };
  refused(good + "x", "bytes follow it");
  refused(head + piece("", 0, 0) + good.substr(head.size()), "behind 0 bytes");  // a piece that adds nothing
  refused(head + piece("", 4, 4), "behind 0 bytes");
  refused(head + piece("", 0xFFFFFFFF, 1), "behind 0 bytes");
  refused(head + piece("", 0, 0xFFFFFFFF), "behind 0 bytes");
  refused(head + piece("1234567890", 0, 0), "behind 0 bytes");
  refused("VITROTWN" + u32((64U << 20) + 1) + u32(0), "one of over 67108864 bytes");
  refused(head + piece("12", 2, 4) + piece("7", 0, 2), "does not belong to this source");
}

}  // namespace
}  // namespace vitro::testing
