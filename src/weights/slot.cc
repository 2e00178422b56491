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

}  // namespace vitro
