#include "cli/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vitro {
namespace {

constexpr double kLegendWidth = 250, kLeft = 64, kTop = 28, kBottom = 44, kCharacter = 6.6;

// One axis: logarithms from `first` to `last` over pixels.
struct LogAxis {
  double first = 0, last = 1;
  double from = 0, to = 1;

  double at(double value) const {
    const double share = (std::log10(value) - first) / (last - first);
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

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
  constexpr double kRoom = 0.3;  // of a decade, so that nothing stands on the edge
  const auto below = [](double value) { return std::floor(std::log10(value) - kRoom / 2); };
  return {{below(least), std::log10(most) + kRoom, area.x, area.x + area.width},
          {below(slowest), std::log10(plot.peak) + kRoom, area.y + area.height, area.y},
          area};
}

std::string power_text(int power) {
  const DecimalScale scale = decimal_scale(std::pow(10.0, power));
  return fmt::format("{:g}{}{}", std::pow(10.0, power) / scale.divisor, scale.prefix.empty() ? "" : " ", scale.prefix);
}

void draw_axes(const Axes& axes, SvgCanvas* canvas) {
  const Box& area = axes.area;
  for (int power = static_cast<int>(axes.x.first); power <= axes.x.last; ++power) {
    const double x = axes.x.at(std::pow(10.0, power));
    canvas->line(x, area.y, x, area.y + area.height, "grid");
    canvas->text(x, area.y + area.height + 15, fmt::format("{:g}", std::pow(10.0, power)), "dim", "middle");
  }
  for (int power = static_cast<int>(axes.y.first); power <= axes.y.last; ++power) {
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

// Dots too close to be told apart share a label.
struct Label {
  double x = 0, y = 0;
  std::string numbers;
};

void add_label(double x, double y, size_t number, std::vector<Label>* labels) {
  constexpr double kNear = 24;
  for (Label& label : *labels) {
    if (std::abs(label.x - x) > kNear || std::abs(label.y - y) > kNear) continue;
    label.numbers += fmt::format(", {}", number);
    return;
  }
  labels->push_back({x, y, std::to_string(number)});
}

// Dots where they belong, each with a number, and behind the picture what the numbers stand for.
void draw_points(const RooflinePlot& plot, const Axes& axes, const Box& box, SvgCanvas* canvas) {
  const double x = box.x + box.width - kLegendWidth;
  double y = axes.area.y + 4;
  std::vector<Label> labels;
  for (size_t i = 0; i < plot.points.size(); ++i) {
    const RooflinePoint& point = plot.points[i];
    const double px = axes.x.at(point.intensity), py = axes.y.at(point.flops_per_second);
    const std::string figures =
        fmt::format("{:.4g} FLOP/B, {}", point.intensity, decimal_text(point.flops_per_second, "FLOP/s"));
    canvas->circle(px, py, 4, fmt::format("point c{}", i % 6), fmt::format("{}: {}", point.name, figures));
    add_label(px, py, i + 1, &labels);
    canvas->text(x + 18, y, std::to_string(i + 1), "", "end");
    canvas->text(x + 26, y, fitting_text(point.name, kLegendWidth - 26, kCharacter), "");
    canvas->text(x + 26, y + 13, figures, "dim");
    y += 32;
  }
  for (const Label& label : labels) canvas->text(label.x + 8, label.y + 16, label.numbers, "");
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
