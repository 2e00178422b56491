#include "formats/safetensors.h"

#include <algorithm>

#include "base/human.h"
#include "formats/bounded_reader.h"
#include "formats/json.h"
#include "formats/quote_name.h"
#include "formats/tensor_table.h"

namespace vitro {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  ///< the reference library's cap
/// A tensor takes 8 values, so 260,000 tensors fit; values cost up to 40 bytes each, which bounds what a header can ask
/// for.
constexpr JsonLimits kHeaderLimits = {.max_depth = 4, .max_values = size_t{1} << 21};

/// Array of integers from 0 on, or null.
const Value::Array* as_sizes(const Value* value) {
  const Value::Array* items = value == nullptr ? nullptr : value->as_array();
  if (items == nullptr) return nullptr;
  const bool are_sizes = std::all_of(items->begin(), items->end(),
                                     [](const Value& item) { return item.as_int() != nullptr && *item.as_int() >= 0; });
  return are_sizes ? items : nullptr;
}

uint64_t size_at(const Value::Array& items, size_t idx) { return static_cast<uint64_t>(*items[idx].as_int()); }

Result<DType> read_dtype(const Value& tensor) {
  const Value* name = tensor.find("dtype");
  if (name == nullptr || name->as_string() == nullptr) return fail(ErrorCode::kCorrupt, "has no string 'dtype'");
  const auto dtype = dtype_from_name(*name->as_string());
  // The same table lists GGUF's block types, which this format does not have.
  if (dtype && dtype_info(*dtype).block_elements == 1) return *dtype;
  return fail(ErrorCode::kUnsupported, "dtype {} is not known", quote_name(*name->as_string()));
}

Result<Shape> read_shape(const Value& tensor) {
  const Value::Array* dims = as_sizes(tensor.find("shape"));
  if (dims == nullptr) return fail(ErrorCode::kCorrupt, "'shape' is not a list of sizes");
  if (dims->size() > Shape::kMaxRank) {
    return fail(ErrorCode::kUnsupported, "rank {}, at most {} is read", dims->size(), Shape::kMaxRank);
  }
  Shape shape;
  for (const Value& dim : *dims) shape.append(*dim.as_int());
  return shape;
}

/// {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, nothing more. Offsets count from the end of the header.
Result<WeightEntry> read_tensor(const std::string& name, const Value& tensor) {
  if (tensor.as_object() == nullptr || tensor.as_object()->size() != 3) {
    return fail(ErrorCode::kCorrupt, "expected an object of dtype, shape and data_offsets, found {}",
                to_string(tensor, 80));
  }
  WeightEntry entry;
  entry.name = name;
  VITRO_TRY_ASSIGN(entry.dtype, read_dtype(tensor));
  VITRO_TRY_ASSIGN(entry.shape, read_shape(tensor));
  const Value::Array* range = as_sizes(tensor.find("data_offsets"));
  if (range == nullptr || range->size() != 2 || size_at(*range, 0) > size_at(*range, 1)) {
    return fail(ErrorCode::kCorrupt, "'data_offsets' is not [begin, end]");
  }
  entry.begin = size_at(*range, 0);
  entry.end = size_at(*range, 1);
  VITRO_TRY_ASSIGN(const uint64_t n_bytes, tensor_bytes(entry.dtype, entry.shape));
  if (entry.end - entry.begin == n_bytes) return entry;
  return fail(ErrorCode::kCorrupt, "'data_offsets' hold {} bytes, {} of {} needs {}", entry.end - entry.begin,
              to_string(entry.shape), dtype_info(entry.dtype).name, n_bytes);
}

Status check_metadata(const Value& metadata) {
  const Value::Object* members = metadata.as_object();
  const bool is_text = members != nullptr &&
                       std::all_of(members->begin(), members->end(),
                                   [](const Value::Member& member) { return member.second.as_string() != nullptr; });
  if (is_text) return {};
  return fail(ErrorCode::kCorrupt, "'__metadata__' is not an object of strings");
}

Result<SafetensorsFile> read_entries(const Value& header) {
  SafetensorsFile file;
  if (header.as_object() == nullptr) return fail(ErrorCode::kCorrupt, "the header is not an object");
  for (const auto& [name, value] : *header.as_object()) {
    if (name == "__metadata__") {
      VITRO_TRY(check_metadata(value));
      file.metadata = value;
      continue;
    }
    auto entry = read_tensor(name, value);
    if (!entry) return fail(entry.error().in("tensor " + quote_name(name)));
    file.tensors.push_back(std::move(*entry));
  }
  return file;
}

/// Makes offsets absolute. Tensors must lie back to back from the header's end; returns where the last one ends.
Result<uint64_t> place_tensors(WeightIndex& tensors, uint64_t data_begin) {
  uint64_t end = 0;
  for (WeightEntry* entry : by_offset(tensors)) {
    if (entry->begin != end) {
      return fail(ErrorCode::kCorrupt, "tensor {}: begins at {}, but the tensor before it ends at {}: {}",
                  quote_name(entry->name), entry->begin, end, entry->begin < end ? "they overlap" : "a gap");
    }
    end = entry->end;  // at most 2^63-1, as is the header
    entry->begin += data_begin;
    entry->end += data_begin;
  }
  return data_begin + end;
}

Result<SafetensorsFile> read_file(std::span<const std::byte> bytes, bool is_header_only) {
  BoundedReader in(bytes);
  VITRO_TRY_ASSIGN(const uint64_t n_header, in.read<uint64_t>("header length"));
  if (n_header > kMaxHeaderBytes) {
    return fail(ErrorCode::kCorrupt, "the header length is {}, at most {} is allowed; is this a safetensors file?",
                n_header, kMaxHeaderBytes);
  }
  VITRO_TRY_ASSIGN(const auto raw, in.take(n_header, "header"));
  const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
  if (text.empty() || text[0] != '{') return fail(ErrorCode::kCorrupt, "the header does not begin with '{{'");
  VITRO_TRY_ASSIGN(const Value header, parse_json(text, "header", kHeaderLimits));
  VITRO_TRY_ASSIGN(SafetensorsFile file, read_entries(header));
  VITRO_TRY_ASSIGN(const uint64_t end, place_tensors(file.tensors, in.pos()));
  VITRO_TRY(sort_by_name(file.tensors));
  if (is_header_only || end == bytes.size()) return file;
  if (end > bytes.size()) {
    return fail(ErrorCode::kCorrupt, "the tensors need {} ({} bytes), the file has {}; the download may be incomplete",
                human_bytes(end), end, bytes.size());
  }
  return fail(ErrorCode::kCorrupt, "{} bytes follow the last tensor, which ends at {}", bytes.size() - end, end);
}

/// Shard names come from a file and are joined to a folder: nothing in them may lead out of it.
Status check_shard_name(const std::string& name) {
  const bool is_safe = !name.empty() && name.size() <= 255 &&
                       name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos &&
                       name.find("..") == std::string::npos;
  if (is_safe) return {};
  return fail(ErrorCode::kCorrupt, "shard name {} is not a plain file name", quote_name(name));
}

Result<ShardIndex> read_weight_map(const Value::Object& weight_map) {
  ShardIndex index;
  for (const auto& [tensor, file] : weight_map) {
    if (file.as_string() == nullptr)
      return fail(ErrorCode::kCorrupt, "weight_map {}: not a file name", quote_name(tensor));
    VITRO_TRY(check_shard_name(*file.as_string()));
    index.files.push_back(*file.as_string());
  }
  std::sort(index.files.begin(), index.files.end());
  index.files.erase(std::unique(index.files.begin(), index.files.end()), index.files.end());
  for (const auto& [tensor, file] : weight_map) {
    const auto at = std::lower_bound(index.files.begin(), index.files.end(), *file.as_string());
    index.tensor_file.emplace_back(tensor, static_cast<int>(at - index.files.begin()));
  }
  std::sort(index.tensor_file.begin(), index.tensor_file.end());
  return index;
}

}  // namespace

Result<SafetensorsFile> read_safetensors(std::span<const std::byte> bytes, std::string_view where,
                                         bool is_header_only) {
  auto file = read_file(bytes, is_header_only);
  if (!file) return fail(file.error().in(fmt::format("[safetensors] {}", where)));
  return file;
}

Result<ShardIndex> read_shard_index(std::string_view json, std::string_view where) {
  VITRO_TRY_ASSIGN(const Value document, parse_json(json, where));
  const Value* weight_map = document.find("weight_map");
  if (weight_map == nullptr || weight_map->as_object() == nullptr) {
    return fail(ErrorCode::kCorrupt, "{}: has no object 'weight_map' (tensor name to shard file)", where);
  }
  auto index = read_weight_map(*weight_map->as_object());
  if (!index) return fail(index.error().in(where));
  return index;
}

}  // namespace vitro
