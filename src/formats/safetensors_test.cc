// The safetensors reader: sound files, then broken ones after the notes of the format's authors ("attacks") and their
// own error list.
#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include "testing/allocation_watch.h"
#include "testing/expect_error.h"
#include "testing/index_rules.h"
#include "testing/safetensors_writer.h"

namespace vitro {
namespace {

using testing::as_bytes;
using testing::expect_error;
using testing::safetensors_bytes;
using testing::SafetensorsWriter;

/// Reads from a heap block of exactly that size, so that the sanitizer sees every byte too many.
Result<SafetensorsFile> read(const std::string& bytes, bool is_header_only = false) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  return read_safetensors(as_bytes({exact.data(), exact.size()}), "m.safetensors", is_header_only);
}

SafetensorsWriter small_writer() {
  SafetensorsWriter writer;
  writer.add("w", DType::kF32, {2, 3}, std::string(24, 'w')).add("b", DType::kBF16, {5}, std::string(10, 'b'));
  return writer;
}

/// A file whose header is one tensor "t" with this text, over `n_data` bytes of data.
Result<SafetensorsFile> read_one(const std::string& tensor, size_t n_data = 0) {
  return read(safetensors_bytes("{\"t\":" + tensor + "}", std::string(n_data, 'x')));
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const std::string bytes = small_writer().add_metadata("format", "pt").add("s", DType::kF64, {}, "12345678").bytes();
  const auto file = read(bytes);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->tensors.size(), 3u);
  EXPECT_EQ(file->tensors[0].name, "b");
  EXPECT_EQ(file->tensors[0].dtype, DType::kBF16);
  EXPECT_EQ(bytes.substr(file->tensors[0].begin, 10), std::string(10, 'b'));
  EXPECT_EQ(file->tensors[1].shape, Shape{});
  EXPECT_EQ(file->tensors[2].shape, (Shape{2, 3}));
  EXPECT_EQ(file->tensors[1].end, bytes.size());
  EXPECT_EQ(*file->metadata.find("format")->as_string(), "pt");
  EXPECT_EQ(testing::broken_rule(file->tensors, bytes.size()), "");
}

TEST(Safetensors, ReadsEveryDtypeOfTheFormat) {
  for (const char* name : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL",
                           "F8_E4M3", "F8_E5M2"}) {
    const auto dtype = dtype_from_name(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    const auto n_bytes = static_cast<size_t>(*checked_bytes(*dtype, {3}));
    const auto file = read(SafetensorsWriter().add("t", *dtype, {3}, std::string(n_bytes, 'x')).bytes());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(file->tensors[0].dtype, *dtype);
  }
}

TEST(Safetensors, TheHeaderMayListTensorsInAnyOrder) {
  const auto file = read(safetensors_bytes(R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[3,5]},)"
                                           R"("z":{"data_offsets":[0,3],"shape":[3],"dtype":"U8"}})",
                                           "12345"));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors[0].begin, file->tensors[1].end);
}

TEST(Safetensors, EmptyFilesAndEmptyTensorsAreSound) {
  EXPECT_TRUE(read(safetensors_bytes("{}", "")).has_value());
  EXPECT_TRUE(read(safetensors_bytes("{}      \n", "")).has_value());
  const auto file = read(SafetensorsWriter().add("e", DType::kF32, {0, 7}, "").add("f", DType::kI8, {1}, "x").bytes());
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors[0].begin, file->tensors[0].end);
}

TEST(Safetensors, HeaderOnlyNeedsNoTensorData) {
  const std::string bytes = small_writer().bytes();
  const std::string header = bytes.substr(0, bytes.size() - 34);
  EXPECT_TRUE(read(header, true).has_value());
  EXPECT_TRUE(read(bytes, true).has_value());
  expect_error(read(header), ErrorCode::kCorrupt, "the download may be incomplete");
  expect_error(read(header.substr(0, header.size() - 1), true), ErrorCode::kCorrupt, "header at offset 8 needs");
}

TEST(SafetensorsHostile, HeaderLengthsAreComparedWithTheFile) {
  for (const uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{100'000'000}, uint64_t{100'000'001},
                           uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX}) {
    std::string bytes = small_writer().bytes();
    bytes.replace(0, 8, reinterpret_cast<const char*>(&n), 8);
    testing::AllocationWatch watch;
    const auto file = read(bytes);
    EXPECT_LE(watch.largest(), 4u << 10);
    expect_error(file, ErrorCode::kCorrupt, "[safetensors] m.safetensors: ");
    if (n > 100'000'000) expect_error(file, ErrorCode::kCorrupt, "the header length is " + std::to_string(n));
  }
}

TEST(SafetensorsHostile, AHeaderAboveTheCapIsRefusedEvenIfItIsThere) {
  std::string header = "{}";
  header.resize(100'000'001, ' ');
  expect_error(read(safetensors_bytes(header, "")), ErrorCode::kCorrupt, "the header length is 100000001");
}

TEST(SafetensorsHostile, RangesAreInOrderAndCoverTheFile) {
  const auto read_ranges = [](const char* a, const char* b, size_t n_data) {
    const std::string entry = R"({"dtype":"I8","shape":[4],"data_offsets":)";
    return read(safetensors_bytes("{\"a\":" + entry + a + "},\"b\":" + entry + b + "}}", std::string(n_data, 'x')));
  };
  EXPECT_TRUE(read_ranges("[0,4]", "[4,8]", 8).has_value());
  expect_error(read_ranges("[0,4]", "[2,6]", 6), ErrorCode::kCorrupt,
               "tensor 'b': begins at 2, but the tensor before it ends at 4: they overlap");
  expect_error(read_ranges("[0,4]", "[0,4]", 4), ErrorCode::kCorrupt, "they overlap");
  expect_error(read_ranges("[0,4]", "[5,9]", 9), ErrorCode::kCorrupt,
               "tensor 'b': begins at 5, but the tensor before it ends at 4: a gap");
  expect_error(read_ranges("[1,5]", "[5,9]", 9), ErrorCode::kCorrupt, "tensor 'a': begins at 1");
  expect_error(read_ranges("[0,4]", "[4,8]", 9), ErrorCode::kCorrupt, "1 bytes follow the last tensor");
  expect_error(read_ranges("[0,4]", "[4,8]", 7), ErrorCode::kCorrupt, "the download may be incomplete");
  expect_error(read_ranges("[0,4]", "[8,4]", 8), ErrorCode::kCorrupt, "tensor 'b': 'data_offsets' is not [begin, end]");
  expect_error(read_ranges("[0,4]", "[-4,0]", 8), ErrorCode::kCorrupt,
               "tensor 'b': 'data_offsets' is not [begin, end]");
  expect_error(read_ranges("[0,4]", "[18446744073709551612,18446744073709551616]", 8), ErrorCode::kCorrupt,
               "tensor 'b': ");
  expect_error(read_ranges("[0,4]", "[4]", 8), ErrorCode::kCorrupt, "tensor 'b': 'data_offsets' is not [begin, end]");
}

TEST(SafetensorsHostile, NothingHidesBehindTheTensors) {
  const std::string sound = small_writer().bytes();
  for (const std::string& hidden :
       {std::string("PK\x03\x04zip"), std::string("\x89PNG\r\n"), std::string("<html>"), std::string("\0", 1)}) {
    expect_error(read(sound + hidden), ErrorCode::kCorrupt, "bytes follow the last tensor");
  }
}

TEST(SafetensorsHostile, ShapesMatchTheirBytes) {
  expect_error(read_one(R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,20]})", 20), ErrorCode::kCorrupt,
               "tensor 't': 'data_offsets' hold 20 bytes, [2, 3] of F32 needs 24");
  expect_error(read_one(R"({"dtype":"F32","shape":[],"data_offsets":[0,0]})"), ErrorCode::kCorrupt, "needs 4");
  expect_error(read_one(R"({"dtype":"F32","shape":[0],"data_offsets":[0,4]})", 4), ErrorCode::kCorrupt, "needs 0");
  for (const char* shape :
       {"[4294967296,4294967296]", "[9223372036854775807,2]", "[2305843009213693952]", "[3,6148914691236517206]"}) {
    expect_error(read_one("{\"dtype\":\"F64\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[0,8]}", 8),
                 ErrorCode::kCorrupt, "does not fit");
  }
}

TEST(SafetensorsHostile, UnknownTypesAndRanksAreUnsupported) {
  for (const char* dtype : {"F4", "F8_E8M0", "C64", "f32", "Q4_0", "", "F128"}) {
    expect_error(read_one("{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":[2],\"data_offsets\":[0,1]}", 1),
                 ErrorCode::kUnsupported, "tensor 't': dtype '" + std::string(dtype) + "' is not known");
  }
  std::string shape = "[1,1,1,1,1";
  expect_error(read_one("{\"dtype\":\"I8\",\"shape\":" + shape + "],\"data_offsets\":[0,1]}", 1),
               ErrorCode::kUnsupported, "tensor 't': rank 5");
  for (int i = 5; i < 64; ++i) shape += ",1";
  expect_error(read_one("{\"dtype\":\"I8\",\"shape\":" + shape + "],\"data_offsets\":[0,1]}", 1),
               ErrorCode::kUnsupported, "rank 64");
}

TEST(SafetensorsHostile, EntriesHaveExactlyTheirThreeFields) {
  for (const char* entry : {"1", "[]", "null", "{}", R"({"dtype":"I8","shape":[1]})",
                            R"({"dtype":"I8","shape":[0],"data_offsets":[0,0],"x":1})"}) {
    expect_error(read_one(entry), ErrorCode::kCorrupt,
                 "tensor 't': expected an object of dtype, shape and data_offsets, found ");
  }
  expect_error(read_one(R"({"dtype":8,"shape":[0],"data_offsets":[0,0]})"), ErrorCode::kCorrupt, "'dtype'");
  for (const char* shape : {"1", "[-1]", "[1.0]", "[\"1\"]", "[18446744073709551615]", "[[1]]"}) {
    expect_error(read_one("{\"dtype\":\"I8\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[0,0]}"),
                 ErrorCode::kCorrupt, "");
  }
}

TEST(SafetensorsHostile, TheHeaderIsStrictJson) {
  const std::string entry = R"({"dtype":"I8","shape":[1],"data_offsets":[0,1]})";
  expect_error(read(safetensors_bytes("{\"t\":" + entry + ",\"t\":" + entry + "}", "x")), ErrorCode::kCorrupt,
               "'t' twice");
  expect_error(read_one(R"({"dtype":"I8","dtype":"I8","shape":[1],"data_offsets":[0,1]})", 1), ErrorCode::kCorrupt,
               "'dtype' twice");
  expect_error(read(safetensors_bytes("{\"t\":" + entry + ",}", "x")), ErrorCode::kCorrupt, "header:1:");
  expect_error(read(safetensors_bytes(" {}", "")), ErrorCode::kCorrupt, "does not begin with '{'");
  expect_error(read(safetensors_bytes("[]", "")), ErrorCode::kCorrupt, "does not begin with '{'");
  expect_error(read(safetensors_bytes(std::string("{}\0\0", 4), "")), ErrorCode::kCorrupt, "NUL");
  expect_error(read(safetensors_bytes("{\"\xff\":" + entry + "}", "x")), ErrorCode::kCorrupt, "UTF-8");
  expect_error(read(safetensors_bytes("{\"t\":" + std::string(100000, '['), "")), ErrorCode::kCorrupt,
               "nested deeper than 4");
  expect_error(read(safetensors_bytes(R"({"__metadata__":{"a":1}})", "")), ErrorCode::kCorrupt, "'__metadata__'");
  expect_error(read(safetensors_bytes(R"({"__metadata__":"a"})", "")), ErrorCode::kCorrupt, "'__metadata__'");
}

TEST(SafetensorsHostile, EveryPrefixIsRefused) {
  const std::string sound = small_writer().bytes();
  for (size_t n = 0; n < sound.size(); ++n) {
    SCOPED_TRACE(n);
    expect_error(read(sound.substr(0, n)), ErrorCode::kCorrupt, "[safetensors] m.safetensors: ");
    EXPECT_EQ(read(sound.substr(0, n), true).has_value(), n + 34 >= sound.size());
  }
}

TEST(SafetensorsHostile, EveryBitMayFlip) {
  const std::string sound = small_writer().add_metadata("k", "v").bytes();
  int n_refused = 0;
  for (size_t bit = 0; bit < sound.size() * 8; ++bit) {
    std::string bad = sound;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const auto file = read(bad);
    n_refused += !file.has_value();
    EXPECT_EQ(file ? testing::broken_rule(file->tensors, bad.size()) : "", "") << "bit " << bit;
  }
  EXPECT_GT(n_refused, 400);
}

TEST(ShardIndex, ListsFilesOnceAndTensorsSorted) {
  const auto index = read_shard_index(
      R"({"metadata":{"total_size":9},"weight_map":{"z":"m-2.safetensors","a":"m-1.safetensors","b":"m-2.safetensors"}})",
      "index.json");
  ASSERT_TRUE(index.has_value()) << index.error().message;
  EXPECT_EQ(index->files, (std::vector<std::string>{"m-1.safetensors", "m-2.safetensors"}));
  const std::vector<std::pair<std::string, int>> expected = {{"a", 0}, {"b", 1}, {"z", 1}};
  EXPECT_EQ(index->tensor_file, expected);
}

TEST(ShardIndex, NamesCannotLeadOutOfTheFolder) {
  for (const std::string& name :
       {std::string("../x"), std::string(".."), std::string("/etc/passwd"), std::string("a/b"), std::string("a\\\\b"),
        std::string("C:x"), std::string("a\\u0000b"), std::string(""), std::string(256, 'n'), std::string(300, 'n')}) {
    expect_error(read_shard_index("{\"weight_map\":{\"t\":\"" + name + "\"}}", "index.json"), ErrorCode::kCorrupt,
                 "index.json: shard name ");
  }
  EXPECT_TRUE(read_shard_index("{\"weight_map\":{\"t\":\"" + std::string(255, 'n') + "\"}}", "index.json").has_value());
}

TEST(ShardIndex, RefusesOtherDocuments) {
  expect_error(read_shard_index("{}", "index.json"), ErrorCode::kCorrupt, "index.json: has no object 'weight_map'");
  expect_error(read_shard_index("[]", "index.json"), ErrorCode::kCorrupt, "weight_map");
  expect_error(read_shard_index(R"({"weight_map":{"t":1}})", "index.json"), ErrorCode::kCorrupt,
               "weight_map 't': not a file name");
  expect_error(read_shard_index(R"({"weight_map":{"t":"a","t":"b"}})", "index.json"), ErrorCode::kCorrupt, "'t' twice");
}

}  // namespace
}  // namespace vitro
