#include "weights/slot.h"

#include "base/check.h"

namespace vitro {

int64_t source_row(const RowMap& map, int64_t row) {
  switch (map.kind) {
    case RowMap::Kind::kIdentity:
      return row;
    case RowMap::Kind::kRange:
      return map.first + row;
    case RowMap::Kind::kPerHead:
      return row / map.d * map.stride + map.first + row % map.d;
    case RowMap::Kind::kRopeUnpermute: {
      const int64_t head = row / map.d;
      const int64_t half = map.d / 2;
      const int64_t j = row % map.d / half;
      const int64_t i = row % map.d % half;
      return head * map.d + 2 * i + j;
    }
  }
  VITRO_CHECK(false);
  return 0;
}

// Written without products and sums, which hostile sizes could overflow.
bool is_row_map_inside(const RowMap& map, int64_t n_rows, int64_t n_file_rows) {
  if (n_rows < 0 || n_file_rows < 0) return false;
  switch (map.kind) {
    case RowMap::Kind::kIdentity:
      return n_rows <= n_file_rows;
    case RowMap::Kind::kRange:
      return map.first >= 0 && map.first <= n_file_rows && n_rows <= n_file_rows - map.first;
    case RowMap::Kind::kPerHead:
      return map.d > 0 && n_rows % map.d == 0 && map.stride >= map.d && map.first >= 0 &&
             map.first <= map.stride - map.d && n_rows / map.d <= n_file_rows / map.stride;
    case RowMap::Kind::kRopeUnpermute:
      return map.d > 0 && map.d % 2 == 0 && n_rows % map.d == 0 && n_rows <= n_file_rows;
  }
  return false;
}

Shape part_shape(const Shape& stacked) {
  Shape part;
  for (int axis = 1; axis < stacked.rank(); ++axis) part.append(stacked[axis]);
  return part;
}

std::string source_name(const TensorSource& source, int64_t part) {
  const size_t at = source.is_one_by_one ? source.name.find("{}") : std::string::npos;
  if (at == std::string::npos) return source.name;
  return source.name.substr(0, at) + std::to_string(part) + source.name.substr(at + 2);
}

}  // namespace vitro
