// Broken GGUF files, each made from a sound one by a mutation that has hurt other programs: the right code, a message
// that names the place, no allocation beyond the file. Run under the address and undefined-behaviour sanitizers too
// (preset dev).
#define VITRO_DEFINE_ALLOCATION_WATCH
#include <gtest/gtest.h>

#include <functional>

#include "formats/gguf.h"
#include "testing/allocation_watch.h"
#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/index_rules.h"

namespace vitro {
namespace {

using testing::as_bytes;
using testing::expect_error;
using testing::GgufWriter;

/// A number from the file as seen by a hostile author.
const std::vector<uint64_t> kHostileCounts = {
    0, 1, 400, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX};

GgufWriter small_writer() {
  GgufWriter writer;
  writer.add("some.number", uint32_t{5})
      .add("some.text", "hello")
      .add("some.words", std::vector<std::string>{"one", "two"});
  writer.add_tensor("first", DType::kF32, {2, 3}, std::string(24, 'f'));
  writer.add_tensor("second", DType::kQ4_0, {2, 32}, std::string(36, 's'));
  return writer;
}

/// The sound file and where its fields are.
struct Sample {
  std::string bytes = small_writer().bytes();

  /// Offset just behind the key or tensor name.
  size_t behind(std::string_view name) const { return bytes.find(name) + name.size(); }
  template <class T>
  Sample& patch(size_t offset, T value) {
    bytes.replace(offset, sizeof(T), reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  /// Reads from a heap block of exactly that size, so that the sanitizer sees every byte too many.
  Result<GgufFile> read(bool is_header_only = false) const {
    const std::vector<char> exact(bytes.begin(), bytes.end());
    return read_gguf(as_bytes({exact.data(), exact.size()}), "bad.gguf", is_header_only);
  }
};
constexpr size_t kVersionAt = 4, kTensorCountAt = 8, kPairCountAt = 16, kFirstKeyAt = 24;

TEST(GgufHostile, TheSampleIsSound) {
  const auto file = Sample().read();
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors.size(), 2u);
}

TEST(GgufHostile, CountsAndLengthsAreComparedWithTheBytesLeft) {
  const Sample sound;
  const struct {
    const char* field;
    size_t offset;
    uint64_t original;
  } kFields[] = {{"tensor count", kTensorCountAt, 2},
                 {"metadata count", kPairCountAt, 3},
                 {"key length", kFirstKeyAt, 11},
                 {"string length", sound.behind("some.text") + 4, 5},
                 {"array length", sound.behind("some.words") + 8, 2},
                 {"array string length", sound.behind("some.words") + 16, 3},
                 {"tensor name length", sound.bytes.find("first") - 8, 5}};
  for (const auto& field : kFields) {
    for (const uint64_t count : kHostileCounts) {
      if (count == field.original) continue;
      SCOPED_TRACE(::testing::Message() << field.field << " = " << count);
      Sample bad;
      bad.patch(field.offset, count);
      testing::AllocationWatch watch;
      const auto file = bad.read();
      EXPECT_LE(watch.largest(), 64u << 10);
      ASSERT_FALSE(file.has_value());  // what follows a wrong length is read as something else: Corrupt or Unsupported
      EXPECT_EQ(file.error().message.find("[gguf] bad.gguf: "), 0u) << file.error().message;
      if (count > sound.bytes.size()) expect_error(file, ErrorCode::kCorrupt, " left");
    }
  }
}

TEST(GgufHostile, NothingDeclaredIsAllocatedBeforeItIsSeen) {
  for (const uint32_t element : {0u, 8u, 9u, 10u}) {
    GgufWriter writer;
    writer.add("a", GgufWriter::array({}, element)).add("pad", std::string(60, 'x').c_str());
    Sample bad{writer.bytes()};
    ASSERT_LE(bad.bytes.size(), 160u);
    bad.patch(kFirstKeyAt + 8 + 1 + 8, (uint64_t{1} << 30) - 1);
    testing::AllocationWatch watch;
    const auto file = bad.read();
    EXPECT_LE(watch.largest(), 4u << 10);
    expect_error(file, ErrorCode::kCorrupt, "metadata 'a': array length at offset 41 is 1073741823, but the");
  }
}

TEST(GgufHostile, RanksAreLimited) {
  for (const uint32_t rank : {5u, 400u, 1u << 31, UINT32_MAX}) {
    Sample bad;
    expect_error(bad.patch(bad.behind("first"), rank).read(), ErrorCode::kUnsupported, "tensor 'first': rank ");
  }
}

/// A header of one tensor with these dimensions (innermost first), and the reader's answer to it.
Result<GgufFile> read_dims(DType dtype, const std::vector<uint64_t>& dims, bool is_header_only) {
  std::string bytes = "GGUF" + GgufWriter::scalar(uint32_t{3}).bytes + GgufWriter::scalar(uint64_t{1}).bytes +
                      GgufWriter::scalar(uint64_t{0}).bytes + GgufWriter::string("t").bytes +
                      GgufWriter::scalar(static_cast<uint32_t>(dims.size())).bytes;
  for (const uint64_t dim : dims) bytes += GgufWriter::scalar(dim).bytes;
  bytes += GgufWriter::scalar(static_cast<uint32_t>(dtype_info(dtype).gguf_type)).bytes +
           GgufWriter::scalar(uint64_t{0}).bytes;
  return read_gguf(as_bytes(bytes), "bad.gguf", is_header_only);
}

TEST(GgufHostile, SizesThatDoNotFitAreRefused) {
  constexpr uint64_t kOne = 1;
  const std::vector<std::pair<DType, std::vector<uint64_t>>> kCases = {
      {DType::kF32, {UINT64_MAX, 2}},
      {DType::kI8, {kOne << 32, kOne << 32, 1}},
      {DType::kI8, {kOne << 62, 4}},
      {DType::kF32, {kOne << 62}},
      {DType::kF64, {kOne << 60, 1}},
      {DType::kI8, {kOne << 63}},
      {DType::kQ4_0, {kOne << 62, 32}},
      {DType::kF32, {3, kOne << 62}},
      {DType::kI8, {INT64_MAX, INT64_MAX, 4, 4}},
      {DType::kI8, {kOne << 31, kOne << 32, 1}},
  };
  for (const auto& [dtype, dims] : kCases) {
    SCOPED_TRACE(dims[0]);
    expect_error(read_dims(dtype, dims, true), ErrorCode::kCorrupt, "does not fit");
  }
}

TEST(GgufHostile, RowsOfBlocksAreWhole) {
  expect_error(read_dims(DType::kQ4_0, {31}, true), ErrorCode::kCorrupt,
               "tensor 't': shape [31]: a row of 31 is not whole blocks of 32 Q4_0");
  expect_error(read_dims(DType::kQ6_K, {128, 2}, true), ErrorCode::kCorrupt,
               "a row of 128 is not whole blocks of 256 Q6_K");
  expect_error(read_dims(DType::kQ4_0, {}, true), ErrorCode::kCorrupt, "a row of 1 is not whole blocks");
  EXPECT_TRUE(read_dims(DType::kQ4_0, {0, 5}, true).has_value());
}

TEST(GgufHostile, SumsOfSizesThatWrapAreRefused) {
  for (const int n_tensors : {2, 3, 5, 10000}) {
    const uint64_t size = UINT64_MAX / static_cast<uint64_t>(n_tensors) / 32 * 32 + 32;  // n of them pass 2^64
    if (size > INT64_MAX) continue;                                                      // refused alone, see above
    std::string bytes = "GGUF" + GgufWriter::scalar(uint32_t{3}).bytes +
                        GgufWriter::scalar(static_cast<uint64_t>(n_tensors)).bytes +
                        GgufWriter::scalar(uint64_t{0}).bytes;
    for (int i = 0; i < n_tensors; ++i) {
      bytes += GgufWriter::string("t" + std::to_string(i)).bytes + GgufWriter::scalar(uint32_t{1}).bytes +
               GgufWriter::scalar(size).bytes + GgufWriter::scalar(uint32_t{24}).bytes +
               GgufWriter::scalar(size * static_cast<uint64_t>(i)).bytes;
    }
    expect_error(read_gguf(as_bytes(bytes), "bad.gguf", true), ErrorCode::kCorrupt, "does not fit");
    expect_error(read_gguf(as_bytes(bytes), "bad.gguf"), ErrorCode::kCorrupt, "tensor 't");
  }
}

TEST(GgufHostile, AlignmentIsAPowerOfTwoOfTheRightType) {
  for (const uint32_t alignment : {0u, 1u, 3u, 4u, 24u, 131072u, 1u << 20, 1u << 30, 1u << 31}) {
    GgufWriter writer;
    writer.add("general.alignment", alignment);
    expect_error(Sample{writer.bytes()}.read(), ErrorCode::kCorrupt,
                 "'general.alignment' is " + std::to_string(alignment));
  }
  const GgufWriter::Encoded kOtherTypes[] = {
      GgufWriter::scalar(int32_t{32}),  GgufWriter::scalar(32.0f),
      GgufWriter::string("32"),         GgufWriter::scalar(uint64_t{1} << 62),
      GgufWriter::scalar(uint16_t{32}), GgufWriter::array({GgufWriter::scalar(uint32_t{32})})};
  for (const auto& value : kOtherTypes) {
    GgufWriter writer;
    writer.add("general.alignment", value);
    expect_error(Sample{writer.bytes()}.read(), ErrorCode::kCorrupt, "'general.alignment' is of type ");
  }
}

TEST(GgufHostile, VersionsAndByteOrders) {
  for (const uint32_t version : {0u, 1u, 4u, UINT32_MAX}) {
    expect_error(Sample().patch(kVersionAt, version).read(), ErrorCode::kUnsupported,
                 "version " + std::to_string(version));
  }
  expect_error(Sample().patch(kVersionAt, uint32_t{3} << 24).read(), ErrorCode::kUnsupported,
               "a big-endian file (version 3)");
  expect_error(Sample().patch(0, 'g').read(), ErrorCode::kCorrupt, "does not begin with 'GGUF'");
}

TEST(GgufHostile, UnknownTypesAreRefusedByNumber) {
  for (const uint32_t type : {13u, 255u, UINT32_MAX}) {
    Sample pair;
    expect_error(pair.patch(pair.behind("some.number"), type).read(), ErrorCode::kCorrupt,
                 "metadata 'some.number': value type at offset 43 is " + std::to_string(type));
    Sample array;
    expect_error(array.patch(array.behind("some.words") + 4, type).read(), ErrorCode::kCorrupt,
                 "metadata 'some.words': element type");
  }
  for (const uint32_t type : {4u, 5u, 31u, 33u, 36u, 38u, 43u, UINT32_MAX}) {
    Sample bad;
    expect_error(bad.patch(bad.behind("first") + 4 + 16, type).read(), ErrorCode::kUnsupported,
                 "tensor 'first': tensor type " + std::to_string(type) + " is unknown");
  }
}

TEST(GgufHostile, OffsetsLieBackToBack) {
  const size_t second_offset = Sample().behind("second") + 4 + 16 + 4;
  const auto read_with = [&](uint64_t offset) { return Sample().patch(second_offset, offset).read(); };
  EXPECT_TRUE(read_with(32).has_value());
  expect_error(read_with(33), ErrorCode::kCorrupt, "tensor 'second': offset 33 is not a multiple of the alignment 32");
  expect_error(read_with(0), ErrorCode::kCorrupt, "is inside another tensor, which ends at");
  expect_error(read_with(64), ErrorCode::kCorrupt, "tensor 'second': offset 64 leaves a gap of 40 bytes");
  expect_error(read_with(uint64_t{1} << 40), ErrorCode::kCorrupt, "leaves a gap");
  expect_error(read_with(UINT64_MAX - 31), ErrorCode::kCorrupt, "does not fit");
}

TEST(GgufHostile, TwinsAreRefused) {
  GgufWriter keys;
  keys.add("a.key", uint8_t{1}).add("b.key", uint8_t{1}).add("a.key", uint8_t{1});
  expect_error(Sample{keys.bytes()}.read(), ErrorCode::kCorrupt, "metadata 'a.key' is there twice");
  GgufWriter tensors;
  for (const char* name : {"x", "y", "x"}) tensors.add_tensor(name, DType::kI8, {1}, "1");
  expect_error(Sample{tensors.bytes()}.read(), ErrorCode::kCorrupt, "tensor 'x' is there twice");
}

TEST(GgufHostile, ValuesThatTheKindsCannotHold) {
  GgufWriter big;
  big.add("n", uint64_t{1} << 63);
  expect_error(Sample{big.bytes()}.read(), ErrorCode::kCorrupt,
               "metadata 'n': the u64 9223372036854775808 is above 2^63-1");
  GgufWriter bigs;
  bigs.add("n", std::vector<uint64_t>{1, UINT64_MAX});
  expect_error(Sample{bigs.bytes()}.read(), ErrorCode::kCorrupt, "metadata 'n': the u64 18446744073709551615");
  GgufWriter maybe;
  maybe.add("b", GgufWriter::Encoded{7, "\x02"});
  expect_error(Sample{maybe.bytes()}.read(), ErrorCode::kCorrupt, "metadata 'b': a bool is 2");
}

TEST(GgufHostile, NestingAndNumbersOfSmallThingsAreLimited) {
  GgufWriter::Encoded deep = GgufWriter::array({GgufWriter::scalar(uint8_t{1})});
  for (int depth = 2; depth <= 8; ++depth) deep = GgufWriter::array({deep});
  EXPECT_TRUE(Sample{GgufWriter().add("d", deep).bytes()}.read().has_value());
  deep = GgufWriter::array({deep});
  expect_error(Sample{GgufWriter().add("d", deep).bytes()}.read(), ErrorCode::kUnsupported, "nested deeper than 8");
  for (int depth = 0; depth < 100000; ++depth)
    deep.bytes =
        GgufWriter::scalar(uint32_t{9}).bytes + GgufWriter::scalar(uint64_t{1}).bytes + deep.bytes.substr(0, 4000);
  expect_error(Sample{GgufWriter().add("d", deep).bytes()}.read(), ErrorCode::kUnsupported, "nested deeper than 8");

  const std::vector<GgufWriter::Encoded> many(70000, GgufWriter::array({}));
  expect_error(Sample{GgufWriter().add("d", GgufWriter::array(many)).bytes()}.read(), ErrorCode::kUnsupported,
               "nested arrays");
  const std::vector<uint8_t> config(1100000, 1);
  expect_error(Sample{GgufWriter().add("d", config).bytes()}.read(), ErrorCode::kUnsupported, "outside tokenizer.*");
  EXPECT_TRUE(Sample{GgufWriter().add("tokenizer.d", config).bytes()}.read().has_value());
}

TEST(GgufHostile, EveryPrefixIsRefused) {
  const Sample sound;
  const auto whole = sound.read();
  ASSERT_TRUE(whole.has_value());
  const uint64_t end = whole->tensors[1].end;
  const uint64_t header = small_writer().header().size();
  for (uint64_t n = 0; n <= sound.bytes.size(); ++n) {
    SCOPED_TRACE(n);
    const Sample cut{sound.bytes.substr(0, n)};
    EXPECT_EQ(cut.read(true).has_value(), n >= header);
    if (n >= end) {
      EXPECT_TRUE(cut.read().has_value());
    } else {
      expect_error(cut.read(), ErrorCode::kCorrupt, "[gguf] bad.gguf: ");
    }
  }
}

TEST(GgufHostile, EveryBitMayFlip) {
  const Sample sound;
  int n_refused = 0;
  for (size_t bit = 0; bit < sound.bytes.size() * 8; ++bit) {
    Sample bad;
    bad.bytes[bit / 8] = static_cast<char>(bad.bytes[bit / 8] ^ (1 << (bit % 8)));
    const auto file = bad.read();
    n_refused += !file.has_value();
    EXPECT_EQ(file ? testing::broken_rule(file->tensors, bad.bytes.size()) : "", "") << "bit " << bit;
  }
  EXPECT_GT(n_refused, 400);  // names and values may change, structure may not
}

TEST(GgufHostile, MessagesCannotBeForged) {
  GgufWriter writer;
  writer.add("evil\n\x1b[2Jkey", uint64_t{1} << 63);
  const auto file = Sample{writer.bytes()}.read();
  expect_error(file, ErrorCode::kCorrupt, "metadata 'evil\\x0a\\x1b[2Jkey'");
  EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace vitro
