#include "inspect/expectation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "formats/json.h"

namespace vitro {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Result<std::optional<StoredTensors>> open_if_there(const std::filesystem::path& path) {
  // What cannot be looked at (a loop of links) counts as there, so that opening it tells why.
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::optional<StoredTensors>();
  VITRO_TRY_ASSIGN(StoredTensors tensors, StoredTensors::open(path));
  return std::optional<StoredTensors>(std::move(tensors));
}

}  // namespace

Result<StoredTensors> StoredTensors::open(const std::filesystem::path& path) {
  StoredTensors out;
  VITRO_TRY_ASSIGN(out.file_, MappedFile::open(path));
  VITRO_TRY_ASSIGN(out.header_, read_safetensors(out.file_.bytes(), path.string()));
  return out;
}

std::optional<ConstRows> StoredTensors::find(std::string_view name) const {
  const auto it = std::lower_bound(header_.tensors.begin(), header_.tensors.end(), name,
                                   [](const WeightEntry& entry, std::string_view n) { return entry.name < n; });
  if (it == header_.tensors.end() || it->name != name) return std::nullopt;
  return float_rows({file_.bytes().data() + it->begin, it->dtype, it->shape});
}

Result<Expectation> open_expectation(const std::filesystem::path& folder) {
  Expectation out;
  out.folder = folder;
  const std::filesystem::path json_path = folder / "expected.json";
  VITRO_TRY_ASSIGN(const MappedFile file, MappedFile::open(json_path));
  VITRO_TRY_ASSIGN(out.json, parse_json(file.text(), json_path.string()));
  VITRO_TRY_ASSIGN(out.tensors, open_if_there(folder / "expected.safetensors"));
  VITRO_TRY_ASSIGN(out.rope, open_if_there(folder / "rope.safetensors"));
  return out;
}

std::optional<int32_t> int32_of(const Value& value) {
  const int64_t* n = value.as_int();
  if (!n || !std::in_range<int32_t>(*n)) return std::nullopt;
  return static_cast<int32_t>(*n);
}

std::optional<std::vector<int32_t>> id_list(const Value* value) {
  const Value::Array* array = value ? value->as_array() : nullptr;
  if (!array) return std::nullopt;
  std::vector<int32_t> ids;
  for (const Value& item : *array) {
    const auto id = int32_of(item);
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  return ids;
}

double absolute_error(const float* ours, const float* reference, int64_t n) {
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double difference = std::abs(static_cast<double>(ours[i]) - static_cast<double>(reference[i]));
    if (!(difference <= worst)) worst = std::isnan(difference) ? kInfinity : difference;
  }
  return worst;
}

double row_error(const float* ours, const float* reference, int64_t n) {
  const double difference = absolute_error(ours, reference, n);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(reference[i]) * static_cast<double>(reference[i]);
  return difference == 0 ? 0 : difference / std::sqrt(squares);
}

}  // namespace vitro
