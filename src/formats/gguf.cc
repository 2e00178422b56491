#include "formats/gguf.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/human.h"
#include "formats/bounded_reader.h"
#include "formats/quote_name.h"
#include "formats/tensor_table.h"

namespace vitro {
namespace {

// Every count is also compared with the bytes left; these caps bound what a large file of tiny records may make us
// allocate.
constexpr uint64_t kMaxPairs = uint64_t{1} << 16;         ///< real files have 20 to 100
constexpr uint64_t kMaxTensors = uint64_t{1} << 20;       ///< real files have up to some thousands
constexpr uint64_t kMaxNameBytes = 65535;                 ///< the specification's limit for keys
constexpr uint64_t kMaxNestedArrays = uint64_t{1} << 16;  ///< no known file nests arrays at all
constexpr uint64_t kMaxConfigElements = uint64_t{1}
                                        << 20;  ///< array elements outside tokenizer.*: they become Values of 40 bytes
constexpr int kMaxArrayDepth = 8;
constexpr std::string_view kTokenizerPrefix = "tokenizer.";

constexpr std::array<uint64_t, 13> kScalarBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::array<std::string_view, 13> kTypeNames = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                         "bool", "string", "array", "u64", "i64", "f64"};

uint64_t scalar_bytes(GgufType type) { return kScalarBytes[static_cast<size_t>(type)]; }
std::string_view type_name(GgufType type) { return kTypeNames[static_cast<size_t>(type)]; }

int64_t load_int(GgufType type, const std::byte* data) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kBool:
      return load_unaligned<uint8_t>(data);
    case GgufType::kI8:
      return load_unaligned<int8_t>(data);
    case GgufType::kU16:
      return load_unaligned<uint16_t>(data);
    case GgufType::kI16:
      return load_unaligned<int16_t>(data);
    case GgufType::kU32:
      return load_unaligned<uint32_t>(data);
    case GgufType::kI32:
      return load_unaligned<int32_t>(data);
    case GgufType::kU64:
      return static_cast<int64_t>(load_unaligned<uint64_t>(data));
    case GgufType::kI64:
      return load_unaligned<int64_t>(data);
    default:
      return 0;
  }
}

double load_real(GgufType type, const std::byte* data) {
  if (type == GgufType::kF32) return static_cast<double>(load_unaligned<float>(data));
  return type == GgufType::kF64 ? load_unaligned<double>(data) : 0.0;
}

/// Values that the in-memory kinds cannot hold: a bool that is neither 0 nor 1, a u64 above 2^63-1.
Status check_scalars(GgufType type, std::span<const std::byte> raw) {
  if (type == GgufType::kBool) {
    const auto bad = std::find_if(raw.begin(), raw.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad != raw.end()) return fail(ErrorCode::kCorrupt, "a bool is {}, not 0 or 1", std::to_integer<int>(*bad));
  }
  if (type == GgufType::kU64) {
    for (size_t i = 0; i < raw.size(); i += sizeof(uint64_t)) {
      const auto value = load_unaligned<uint64_t>(raw.data() + i);
      if (value > INT64_MAX) return fail(ErrorCode::kCorrupt, "the u64 {} is above 2^63-1", value);
    }
  }
  return {};
}

/// Reads the parts of one file in their order. Errors say what was wrong; read_gguf adds the file.
class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) : in_(bytes), file_bytes_(bytes.size()) {}

  Result<GgufFile> parse(bool is_header_only) {
    VITRO_TRY(read_magic_and_version());
    VITRO_TRY_ASSIGN(const uint64_t n_tensors, in_.read_count(kMinTensorBytes, "tensor count"));
    VITRO_TRY_ASSIGN(const uint64_t n_pairs, in_.read_count(kMinPairBytes, "metadata count"));
    if (n_tensors > kMaxTensors)
      return fail(ErrorCode::kUnsupported, "{} tensors, at most {} are read", n_tensors, kMaxTensors);
    if (n_pairs > kMaxPairs)
      return fail(ErrorCode::kUnsupported, "{} metadata keys, at most {} are read", n_pairs, kMaxPairs);
    VITRO_TRY(read_metadata(n_pairs));
    VITRO_TRY(read_alignment());
    VITRO_TRY(read_tensors(n_tensors));
    VITRO_TRY(place_tensors(is_header_only));
    VITRO_TRY(sort_by_name(file_.tensors));
    return std::move(file_);
  }

 private:
  static constexpr uint64_t kMinPairBytes = 8 + 4 + 1;        ///< key length, type, the shortest value
  static constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;  ///< name length, rank, type, offset
  static constexpr uint64_t kMinArrayBytes = 4 + 8;           ///< element type, count

  Status read_magic_and_version() {
    VITRO_TRY_ASSIGN(const auto magic, in_.take(4, "magic"));
    if (std::memcmp(magic.data(), "GGUF", 4) != 0) return fail(ErrorCode::kCorrupt, "does not begin with 'GGUF'");
    VITRO_TRY_ASSIGN(file_.version, in_.read<uint32_t>("version"));
    if (file_.version == 2 || file_.version == 3) return {};
    const uint32_t swapped = __builtin_bswap32(file_.version);
    if (swapped >= 1 && swapped <= 3) {
      return fail(ErrorCode::kUnsupported, "a big-endian file (version {}); convert it to little-endian first",
                  swapped);
    }
    return fail(ErrorCode::kUnsupported, "version {}, versions 2 and 3 are read; convert the model anew",
                file_.version);
  }

  Result<std::string_view> read_string(std::string_view what) {
    VITRO_TRY_ASSIGN(const uint64_t n_bytes, in_.read<uint64_t>(what));
    VITRO_TRY_ASSIGN(const auto bytes, in_.take(n_bytes, what));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  Result<std::string_view> read_name(std::string_view what) {
    VITRO_TRY_ASSIGN(const std::string_view name, read_string(what));
    if (name.size() <= kMaxNameBytes) return name;
    return fail(ErrorCode::kCorrupt, "{} {} has {} bytes, at most {} are allowed", what, quote_name(name), name.size(),
                kMaxNameBytes);
  }

  Result<GgufType> read_type(std::string_view what) {
    const uint64_t at = in_.pos();
    VITRO_TRY_ASSIGN(const uint32_t type, in_.read<uint32_t>(what));
    if (type < kScalarBytes.size()) return static_cast<GgufType>(type);
    return fail(ErrorCode::kCorrupt, "{} at offset {} is {}, types 0 to 12 exist", what, at, type);
  }

  Status read_metadata(uint64_t n_pairs) {
    file_.metadata.reserve(n_pairs);
    for (uint64_t i = 0; i < n_pairs; ++i) {
      auto key = read_name("metadata key");
      if (!key) return fail(key.error().in(fmt::format("metadata key {} of {}", i + 1, n_pairs)));
      auto pair = read_pair(*key);
      if (!pair) return fail(pair.error().in("metadata " + quote_name(*key)));
      file_.metadata.push_back(std::move(*pair));
    }
    return check_twin_keys();
  }

  Result<GgufPair> read_pair(std::string_view key) {
    GgufPair pair{key, GgufType::kU8, int64_t{0}};
    VITRO_TRY_ASSIGN(pair.type, read_type("value type"));
    if (pair.type == GgufType::kString) {
      VITRO_TRY_ASSIGN(pair.value, read_string("string"));
    } else if (pair.type == GgufType::kArray) {
      is_config_ = key.substr(0, kTokenizerPrefix.size()) != kTokenizerPrefix;
      VITRO_TRY_ASSIGN(pair.value, read_array(1));
    } else {
      VITRO_TRY(read_scalar(pair));
    }
    return pair;
  }

  Status read_scalar(GgufPair& pair) {
    VITRO_TRY_ASSIGN(const auto raw, in_.take(scalar_bytes(pair.type), "value"));
    VITRO_TRY(check_scalars(pair.type, raw));
    if (pair.type == GgufType::kBool) {
      pair.value = raw[0] == std::byte{1};
    } else if (pair.type == GgufType::kF32 || pair.type == GgufType::kF64) {
      pair.value = load_real(pair.type, raw.data());
    } else {
      pair.value = load_int(pair.type, raw.data());
    }
    return {};
  }

  Result<GgufArray> read_array(int depth) {
    GgufArray array;
    VITRO_TRY_ASSIGN(array.element, read_type("element type"));
    const bool is_string = array.element == GgufType::kString;
    const bool is_array = array.element == GgufType::kArray;
    const uint64_t min_bytes = is_string ? sizeof(uint64_t) : is_array ? kMinArrayBytes : scalar_bytes(array.element);
    VITRO_TRY_ASSIGN(array.count, in_.read_count(min_bytes, "array length"));
    VITRO_TRY(count_elements(array));
    if (is_string) VITRO_TRY(read_strings(array));
    if (is_array) VITRO_TRY(read_nested(array, depth));
    if (is_string || is_array) return array;
    VITRO_TRY_ASSIGN(array.raw, in_.take(array.count * scalar_bytes(array.element), "array"));
    VITRO_TRY(check_scalars(array.element, array.raw));
    return array;
  }

  Status count_elements(const GgufArray& array) {
    if (is_config_) n_config_elements_ += array.count;
    if (array.element == GgufType::kArray) n_nested_arrays_ += array.count;
    if (n_config_elements_ > kMaxConfigElements) {
      return fail(ErrorCode::kUnsupported, "more than {} array elements outside tokenizer.*", kMaxConfigElements);
    }
    if (n_nested_arrays_ > kMaxNestedArrays)
      return fail(ErrorCode::kUnsupported, "more than {} nested arrays", kMaxNestedArrays);
    return {};
  }

  Status read_strings(GgufArray& array) {
    array.strings.reserve(array.count);
    for (uint64_t i = 0; i < array.count; ++i) {
      auto text = read_string("string");
      if (!text) return fail(text.error().in(fmt::format("element {} of {}", i, array.count)));
      array.strings.push_back(*text);
    }
    return {};
  }

  Status read_nested(GgufArray& array, int depth) {
    if (depth >= kMaxArrayDepth) return fail(ErrorCode::kUnsupported, "arrays nested deeper than {}", kMaxArrayDepth);
    array.arrays.reserve(array.count);
    for (uint64_t i = 0; i < array.count; ++i) {
      auto inner = read_array(depth + 1);
      if (!inner) return fail(inner.error().in(fmt::format("element {} of {}", i, array.count)));
      array.arrays.push_back(std::move(*inner));
    }
    return {};
  }

  Status check_twin_keys() const {
    std::vector<std::string_view> keys;
    keys.reserve(file_.metadata.size());
    for (const GgufPair& pair : file_.metadata) keys.push_back(pair.key);
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin == keys.end()) return {};
    return fail(ErrorCode::kCorrupt, "metadata {} is there twice", quote_name(*twin));
  }

  Status read_alignment() {
    const GgufPair* pair = file_.find("general.alignment");
    if (pair == nullptr) return {};
    if (pair->type != GgufType::kU32) {
      return fail(ErrorCode::kCorrupt, "metadata 'general.alignment' is of type {}, expected u32",
                  type_name(pair->type));
    }
    const auto value = static_cast<uint64_t>(std::get<int64_t>(pair->value));
    if (!std::has_single_bit(value) || value < 8 || value > 65536) {
      return fail(ErrorCode::kCorrupt, "metadata 'general.alignment' is {}, expected a power of two from 8 to 65536",
                  value);
    }
    file_.alignment = value;
    return {};
  }

  Status read_tensors(uint64_t n_tensors) {
    file_.tensors.reserve(n_tensors);
    for (uint64_t i = 0; i < n_tensors; ++i) {
      auto name = read_name("tensor name");
      if (!name) return fail(name.error().in(fmt::format("tensor {} of {}", i + 1, n_tensors)));
      WeightEntry entry;
      entry.name = *name;
      if (auto status = read_tensor(entry); !status) return fail(status.error().in("tensor " + quote_name(*name)));
      file_.tensors.push_back(std::move(entry));
    }
    return {};
  }

  /// Rank, dimensions (innermost first), type, offset. begin and end stay relative to the tensor data until
  /// place_tensors.
  Status read_tensor(WeightEntry& entry) {
    VITRO_TRY_ASSIGN(const uint32_t rank, in_.read<uint32_t>("rank"));
    if (rank > Shape::kMaxRank)
      return fail(ErrorCode::kUnsupported, "rank {}, at most {} is read", rank, Shape::kMaxRank);
    std::array<uint64_t, Shape::kMaxRank> dims{};
    for (uint32_t axis = 0; axis < rank; ++axis) {
      VITRO_TRY_ASSIGN(dims[axis], in_.read<uint64_t>("dimension"));
      if (dims[axis] > INT64_MAX)
        return fail(ErrorCode::kCorrupt, "dimension {} is {}: its size does not fit", axis, dims[axis]);
    }
    for (uint32_t axis = rank; axis-- > 0;) entry.shape.append(static_cast<int64_t>(dims[axis]));

    VITRO_TRY_ASSIGN(const uint32_t type, in_.read<uint32_t>("type"));
    const auto dtype = dtype_from_gguf(type);
    if (!dtype) return fail(ErrorCode::kUnsupported, "tensor type {} is unknown", type);
    entry.dtype = *dtype;
    VITRO_TRY_ASSIGN(entry.begin, in_.read<uint64_t>("offset"));
    if (entry.begin % file_.alignment != 0) {
      return fail(ErrorCode::kCorrupt, "offset {} is not a multiple of the alignment {}", entry.begin, file_.alignment);
    }
    VITRO_TRY_ASSIGN(const uint64_t n_bytes, tensor_bytes(entry.dtype, entry.shape));
    const auto end = checked_add(entry.begin, n_bytes);
    if (!end) return fail(ErrorCode::kCorrupt, "offset {} plus {} bytes does not fit", entry.begin, n_bytes);
    entry.end = *end;
    return {};
  }

  /// Tensors follow each other in the data, each at the next multiple of the alignment (so nothing overlaps and nothing
  /// hides between).
  Status place_tensors(bool is_header_only) {
    const uint64_t infos_end = in_.pos();
    const uint64_t data_begin =
        static_cast<uint64_t>(round_up(static_cast<int64_t>(infos_end), static_cast<int64_t>(file_.alignment)));
    uint64_t end = 0;  // relative to data_begin
    for (WeightEntry* entry : by_offset(file_.tensors)) {
      if (auto status = check_follows(*entry, end, data_begin, is_header_only); !status) {
        return fail(status.error().in("tensor " + quote_name(entry->name)));
      }
      end = entry->end;
      entry->begin += data_begin;
      entry->end += data_begin;
    }
    const uint64_t data_end = file_.tensors.empty() ? infos_end : data_begin + end;
    if (is_header_only || file_bytes_ - data_end < file_.alignment) return {};
    return fail(ErrorCode::kCorrupt,
                "{} bytes follow the last tensor, which ends at {}; at most {} bytes of padding are allowed",
                file_bytes_ - data_end, data_end, file_.alignment - 1);
  }

  Status check_follows(const WeightEntry& entry, uint64_t previous_end, uint64_t data_begin,
                       bool is_header_only) const {
    if (entry.begin < previous_end) {
      return fail(ErrorCode::kCorrupt, "offset {} is inside another tensor, which ends at {}", entry.begin,
                  previous_end);
    }
    if (entry.begin - previous_end >= file_.alignment) {
      return fail(ErrorCode::kCorrupt, "offset {} leaves a gap of {} bytes after {}, the alignment is {}", entry.begin,
                  entry.begin - previous_end, previous_end, file_.alignment);
    }
    const auto end = checked_add(entry.end, data_begin);
    if (!end || *end > INT64_MAX) return fail(ErrorCode::kCorrupt, "offset {} plus its size does not fit", entry.begin);
    if (is_header_only || *end <= file_bytes_) return {};
    return fail(ErrorCode::kCorrupt, "needs {} at offset {}, the file ends at {}; the download may be incomplete",
                human_bytes(entry.end - entry.begin), data_begin + entry.begin, file_bytes_);
  }

  BoundedReader in_;
  uint64_t file_bytes_;
  GgufFile file_;
  bool is_config_ = false;  ///< the array being read is not the tokenizer's
  uint64_t n_config_elements_ = 0;
  uint64_t n_nested_arrays_ = 0;
};

Value to_value(const GgufArray& array) {
  Value::Array items;
  items.reserve(array.count);
  for (uint64_t i = 0; i < array.count; ++i) {
    if (array.element == GgufType::kString) {
      items.emplace_back(std::string(array.strings[i]));
    } else if (array.element == GgufType::kArray) {
      items.push_back(to_value(array.arrays[i]));
    } else if (array.element == GgufType::kBool) {
      items.emplace_back(array.int_at(i) != 0);
    } else if (array.is_real()) {
      items.emplace_back(array.real_at(i));
    } else {
      items.emplace_back(array.int_at(i));
    }
  }
  return Value(std::move(items));
}

Value to_value(const GgufPair& pair) {
  if (const auto* n = std::get_if<int64_t>(&pair.value)) return Value(*n);
  if (const auto* x = std::get_if<double>(&pair.value)) return Value(*x);
  if (const auto* b = std::get_if<bool>(&pair.value)) return Value(*b);
  if (const auto* s = std::get_if<std::string_view>(&pair.value)) return Value(std::string(*s));
  return to_value(std::get<GgufArray>(pair.value));
}

template <class T>
const T* find_as(const GgufFile& file, std::string_view key) {
  const GgufPair* pair = file.find(key);
  return pair == nullptr ? nullptr : std::get_if<T>(&pair->value);
}

}  // namespace

int64_t GgufArray::int_at(uint64_t idx) const {
  if (idx >= count || raw.empty()) return 0;
  return load_int(element, raw.data() + idx * scalar_bytes(element));
}

double GgufArray::real_at(uint64_t idx) const {
  if (idx >= count || raw.empty()) return 0.0;
  return load_real(element, raw.data() + idx * scalar_bytes(element));
}

bool GgufArray::is_integer() const {
  return !is_real() && element != GgufType::kBool && element != GgufType::kString && element != GgufType::kArray;
}

const GgufPair* GgufFile::find(std::string_view key) const {
  const auto found =
      std::find_if(metadata.begin(), metadata.end(), [&](const GgufPair& pair) { return pair.key == key; });
  return found == metadata.end() ? nullptr : &*found;
}

const std::string_view* GgufFile::find_string(std::string_view key) const {
  return find_as<std::string_view>(*this, key);
}
const int64_t* GgufFile::find_int(std::string_view key) const { return find_as<int64_t>(*this, key); }
const double* GgufFile::find_real(std::string_view key) const { return find_as<double>(*this, key); }
const bool* GgufFile::find_bool(std::string_view key) const { return find_as<bool>(*this, key); }
const GgufArray* GgufFile::find_array(std::string_view key) const { return find_as<GgufArray>(*this, key); }

Result<GgufFile> read_gguf(std::span<const std::byte> bytes, std::string_view where, bool is_header_only) {
  auto file = Parser(bytes).parse(is_header_only);
  if (!file) return fail(file.error().in(fmt::format("[gguf] {}", where)));
  return file;
}

Value gguf_config(const GgufFile& file) {
  Value::Object members;
  for (const GgufPair& pair : file.metadata) {
    if (pair.key.substr(0, kTokenizerPrefix.size()) == kTokenizerPrefix) continue;
    members.emplace_back(std::string(pair.key), to_value(pair));
  }
  return Value(std::move(members));
}

}  // namespace vitro
