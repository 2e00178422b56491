#include "cli/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vitro {
namespace {

constexpr double kLegendWidth = 300, kLeft = 64, kTop = 28, kBottom = 44, kCharacter = 6.6;

// One axis: powers of ten from 10^first to 10^last over pixels.
struct LogAxis {
  int first = 0, last = 1;
  double from = 0, to = 1;

  double at(double value) const {
    const double share = (std::log10(value) - first) / (last - first);
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

LogAxis axis_of(double least, double most, double from, double to) {
  LogAxis axis{static_cast<int>(std::floor(std::log10(least))), static_cast<int>(std::ceil(std::log10(most))), from,
               to};
  axis.last = std::max(axis.last, axis.first + 1);
  return axis;
}

struct Axes {
  LogAxis x, y;
  Box area;
};

Axes make_axes(const RooflinePlot& plot, const Box& box) {
  const Box area{box.x + kLeft, box.y + kTop, box.width - kLeft - kLegendWidth - 16, box.height - kTop - kBottom};
  double least = plot.peak / plot.bandwidth / 10, most = plot.peak / plot.bandwidth * 10;
  double slowest = plot.peak / 100;
  for (const RooflinePoint& point : plot.points) {
    least = std::min(least, point.intensity);
    most = std::max(most, point.intensity);
    slowest = std::min(slowest, point.flops_per_second);
  }
  return {axis_of(least, most, area.x, area.x + area.width),
          axis_of(slowest, plot.peak * 1.01, area.y + area.height, area.y), area};
}

std::string power_text(int power) {
  const DecimalScale scale = decimal_scale(std::pow(10.0, power));
  return fmt::format("{:g}{}{}", std::pow(10.0, power) / scale.divisor, scale.prefix.empty() ? "" : " ", scale.prefix);
}

void draw_axes(const Axes& axes, SvgCanvas* canvas) {
  const Box& area = axes.area;
  for (int power = axes.x.first; power <= axes.x.last; ++power) {
    const double x = axes.x.at(std::pow(10.0, power));
    canvas->line(x, area.y, x, area.y + area.height, "grid");
    canvas->text(x, area.y + area.height + 15, fmt::format("{:g}", std::pow(10.0, power)), "dim", "middle");
  }
  for (int power = axes.y.first; power <= axes.y.last; ++power) {
    const double y = axes.y.at(std::pow(10.0, power));
    canvas->line(area.x, y, area.x + area.width, y, "grid");
    canvas->text(area.x - 6, y + 4, power_text(power), "dim", "end");
  }
  canvas->line(area.x, area.y + area.height, area.x + area.width, area.y + area.height, "axis");
  canvas->line(area.x, area.y, area.x, area.y + area.height, "axis");
  canvas->text(area.x + area.width / 2, area.y + area.height + 34, "FLOPs a byte", "", "middle");
  canvas->turned_text(area.x - 50, area.y + area.height / 2, "FLOP/s", "");
}

void draw_roof(const RooflinePlot& plot, const Axes& axes, SvgCanvas* canvas) {
  const double ridge = plot.peak / plot.bandwidth;
  const double slowest = std::pow(10.0, axes.y.first), left = std::pow(10.0, axes.x.first);
  const double start = std::max(left, slowest / plot.bandwidth);
  const double y = axes.y.at(plot.peak);
  canvas->line(axes.x.at(start), axes.y.at(start * plot.bandwidth), axes.x.at(ridge), y, "roof");
  canvas->line(axes.x.at(ridge), y, axes.area.x + axes.area.width, y, "roof");
  canvas->text(axes.area.x + axes.area.width, y - 6, fmt::format("{}", decimal_text(plot.peak, "FLOP/s")), "", "end");
  const double middle = std::sqrt(start * ridge);
  canvas->text(axes.x.at(middle) - 8, axes.y.at(middle * plot.bandwidth) - 8, decimal_text(plot.bandwidth, "B/s"), "",
               "end");
  canvas->line(axes.x.at(ridge), y, axes.x.at(ridge), axes.area.y + axes.area.height, "free");
  canvas->text(axes.x.at(ridge) + 4, axes.area.y + axes.area.height - 6, fmt::format("{:.0f}", ridge), "dim");
}

void draw_points(const RooflinePlot& plot, const Axes& axes, const Box& box, SvgCanvas* canvas) {
  const double x = box.x + box.width - kLegendWidth;
  double y = axes.area.y + 12;
  // The dots are where they belong; numbers of dots close together stand below each other.
  std::vector<std::pair<double, double>> taken;
  for (size_t i = 0; i < plot.points.size(); ++i) {
    const RooflinePoint& point = plot.points[i];
    const double px = axes.x.at(point.intensity), py = axes.y.at(point.flops_per_second);
    double label_y = py + 14;
    const auto is_taken = [&] {
      return std::any_of(taken.begin(), taken.end(), [&](const auto& other) {
        return std::abs(other.first - px) < 17 && std::abs(other.second - label_y) < 17;
      });
    };
    while (is_taken()) label_y += 18;
    taken.emplace_back(px, label_y);
    const std::string text = fmt::format("{}: {:.3g} FLOP/B, {}", point.name, point.intensity,
                                         decimal_text(point.flops_per_second, "FLOP/s"));
    canvas->circle(px, py, 4, fmt::format("point c{}", i % 6), text);
    canvas->text(px + 6, label_y, fmt::format("{}", i + 1), "");
    canvas->text(x, y, fitting_text(fmt::format("{}  {}", i + 1, text), kLegendWidth, kCharacter), "");
    y += 18;
  }
}

}  // namespace

double draw_roofline(const RooflinePlot& plot, const Box& box, SvgCanvas* canvas) {
  canvas->text(box.x, box.y + 12, plot.title, "head");
  const Axes axes = make_axes(plot, box);
  draw_axes(axes, canvas);
  draw_roof(plot, axes, canvas);
  draw_points(plot, axes, box, canvas);
  return box.y + box.height;
}

}  // namespace vitro
