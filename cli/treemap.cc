#include "cli/treemap.h"

#include <algorithm>
#include <numeric>

namespace vitro {
namespace {

// The worst ratio of sides, were these areas a strip along a side of this length.
double worst_ratio(std::span<const double> areas, double side) {
  const double sum = std::accumulate(areas.begin(), areas.end(), 0.0);
  const auto [least, most] = std::minmax_element(areas.begin(), areas.end());
  if (*least <= 0 || sum <= 0) return 1e300;
  return std::max(side * side * *most / (sum * sum), sum * sum / (side * side * *least));
}

// Lays a strip along the shorter side of `rest` and takes it off.
void lay_strip(std::span<const double> areas, Box* rest, std::vector<Box>* out) {
  const double sum = std::accumulate(areas.begin(), areas.end(), 0.0);
  const bool is_wide = rest->width >= rest->height;
  const double side = is_wide ? rest->height : rest->width;
  const double depth = side > 0 ? sum / side : 0;
  double at = 0;
  for (const double area : areas) {
    const double length = depth > 0 ? area / depth : 0;
    out->push_back(is_wide ? Box{rest->x, rest->y + at, depth, length} : Box{rest->x + at, rest->y, length, depth});
    at += length;
  }
  if (is_wide) {
    rest->x += depth;
    rest->width = std::max(rest->width - depth, 0.0);
  } else {
    rest->y += depth;
    rest->height = std::max(rest->height - depth, 0.0);
  }
}

}  // namespace

std::vector<Box> treemap(std::span<const double> values, const Box& whole) {
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  if (total <= 0) return std::vector<Box>(values.size(), Box{whole.x, whole.y, 0, 0});
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::vector<double> areas;
  for (const size_t i : order) areas.push_back(values[i] / total * whole.width * whole.height);
  std::vector<Box> sorted;
  Box rest = whole;
  for (size_t first = 0; first < areas.size();) {
    const double side = std::min(rest.width, rest.height);
    size_t end = first + 1;
    const auto strip = [&](size_t n) { return std::span(areas).subspan(first, n - first); };
    while (end < areas.size() && worst_ratio(strip(end + 1), side) <= worst_ratio(strip(end), side)) ++end;
    lay_strip(strip(end), &rest, &sorted);
    first = end;
  }
  std::vector<Box> out(values.size());
  for (size_t i = 0; i < order.size(); ++i) out[order[i]] = sorted[i];
  return out;
}

}  // namespace vitro
