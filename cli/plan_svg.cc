#include "cli/plan_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cli/columns.h"
#include "cli/roofline_svg.h"
#include "cli/svg_canvas.h"
#include "cli/treemap.h"

namespace vitro {
namespace {

constexpr double kWidth = 960, kMargin = 24, kInner = kWidth - 2 * kMargin;
constexpr double kBarHeight = 30, kMapHeight = 380, kHeader = 18, kGap = 2;
constexpr double kSmall = 6.6;  // a cell of 11 pixel text is about so wide
constexpr int kNColours = 6;

// Tiles are light on both pages and their text dark; all else follows the page.
constexpr std::string_view kStyle = R"(text { font: 11px sans-serif; fill: #1a1a1a; }
.head { font-size: 14px; font-weight: bold; }
.dim { fill: #5a5a5a; }
.page { fill: #ffffff; }
.tile { stroke: #ffffff; stroke-width: 1; }
.c0 { fill: #9ecae9; } .c1 { fill: #ffcf8a; } .c2 { fill: #b5dfa8; } .c3 { fill: #e7b7de; } .c4 { fill: #f4b8ae; } .c5 { fill: #d7d39a; }
.free { fill: none; stroke: #8a8a8a; stroke-dasharray: 4 3; }
.over { stroke: #c62828; stroke-width: 2; }
.axis { stroke: #5a5a5a; stroke-width: 1; } .grid { stroke: #dddddd; stroke-width: 1; }
.roof { stroke: #1a1a1a; stroke-width: 2; }
.point { stroke: #1a1a1a; stroke-width: 1; }
.ink { fill: #1a1a1a; }
@media (prefers-color-scheme: dark) {
  text { fill: #ececec; } .dim { fill: #a8a8a8; } .page { fill: #16181c; } .tile { stroke: #16181c; }
  .axis { stroke: #a8a8a8; } .grid { stroke: #34383f; } .roof { stroke: #ececec; }
  .ink { fill: #1a1a1a; }
}
)";

std::string amount_text(const PlanSection& section, int64_t amount) {
  return decimal_text(static_cast<double>(amount), section.unit == PlanUnit::kBytes ? "B" : "");
}

std::string tooltip(const PlanSection& section, const PlanItem& item) {
  const double share =
      100.0 * static_cast<double>(item.amount) / static_cast<double>(std::max<int64_t>(section.item.amount, 1));
  std::string text = fmt::format("{}: {} {} ({:.1f}%), {}", item.name, human_count(item.amount),
                                 unit_name(section.unit), share, certainty_name(item.certainty));
  if (!item.arithmetic.empty()) text += fmt::format("; {}", item.arithmetic);
  return text;
}

std::vector<Box> part_boxes(const PlanItem& item, const Box& whole) {
  std::vector<double> values;
  for (const PlanItem& part : item.parts) values.push_back(static_cast<double>(part.amount));
  return treemap(values, whole);
}

// An owner's name and amount in as much of them as its box has room for.
void draw_label(const PlanSection& section, const PlanItem& item, const Box& box, SvgCanvas* canvas) {
  if (box.height < 13) return;
  const std::string amount = amount_text(section, item.amount);
  const std::string both = fmt::format("{} {}", item.name, amount);
  const double room = box.width - 8;
  if (display_width(both) * kSmall <= room) return canvas->text(box.x + 4, box.y + 12, both, "ink");
  canvas->text(box.x + 4, box.y + 12, fitting_text(item.name, room, kSmall), "ink");
  const bool has_room = box.height >= 26 && display_width(amount) * kSmall <= room;
  if (has_room) canvas->text(box.x + 4, box.y + 24, amount, "ink");
}

void draw_owner(const PlanSection& section, const PlanItem& item, const Box& box, int colour, SvgCanvas* canvas) {
  if (box.width < 1 || box.height < 1) return;
  canvas->rect(box, fmt::format("tile c{}", colour), tooltip(section, item));
  draw_label(section, item, box, canvas);
  const bool has_room = box.width > 48 && box.height > kHeader + 26;
  if (item.parts.size() < 2 || !has_room) {
    const bool is_alone = item.parts.size() == 1 && has_room && !item.parts[0].parts.empty();
    if (is_alone) draw_owner(section, item.parts[0], box, colour, canvas);
    return;
  }
  const Box inside{box.x + kGap, box.y + kHeader, box.width - 2 * kGap, box.height - kHeader - kGap};
  const std::vector<Box> boxes = part_boxes(item, inside);
  for (size_t i = 0; i < boxes.size(); ++i) draw_owner(section, item.parts[i], boxes[i], colour, canvas);
}

// All owners in one row; where there is a budget, as long as that.
double draw_bar(const PlanSection& section, double y, SvgCanvas* canvas) {
  const auto total = static_cast<double>(std::max<int64_t>(section.item.amount, 1));
  const double whole = std::max(total, static_cast<double>(section.budget));
  double x = kMargin;
  for (size_t i = 0; i < section.item.parts.size(); ++i) {
    const PlanItem& part = section.item.parts[i];
    const Box box{x, y, kInner * static_cast<double>(part.amount) / whole, kBarHeight};
    canvas->rect(box, fmt::format("tile c{}", i % kNColours), tooltip(section, part));
    const std::string share = fmt::format("{} {:.1f}%", part.name, 100.0 * static_cast<double>(part.amount) / total);
    canvas->text(x + 5, y + 19, fitting_text(share, box.width - 8, kSmall), "ink");
    x += box.width;
  }
  if (section.budget == 0) return y + kBarHeight;
  const bool fits = section.item.amount <= section.budget;
  const double end = kMargin + kInner * static_cast<double>(section.budget) / whole;
  if (fits) canvas->rect({x, y, end - x, kBarHeight}, "free");
  if (!fits) canvas->line(end, y - 4, end, y + kBarHeight + 4, "over");
  const std::string text = fits ? fmt::format("free {}", amount_text(section, section.budget - section.item.amount))
                                : fmt::format("there are {}", amount_text(section, section.budget));
  canvas->text(kMargin + kInner, y + kBarHeight + 14, text, "dim", "end");
  return y + kBarHeight + 18;
}

double draw_section(const PlanSection& section, double y, SvgCanvas* canvas) {
  const std::string title = fmt::format("{} {}", section.title, amount_text(section, section.item.amount));
  canvas->text(kMargin, y + 14, title, "head");
  y = draw_bar(section, y + 24, canvas) + 8;
  const std::vector<Box> boxes = part_boxes(section.item, {kMargin, y, kInner, kMapHeight});
  for (size_t i = 0; i < boxes.size(); ++i) {
    draw_owner(section, section.item.parts[i], boxes[i], static_cast<int>(i) % kNColours, canvas);
  }
  return y + kMapHeight + 24;
}

}  // namespace

std::string plan_svg(const PlanReport& report) {
  SvgCanvas canvas;
  double y = kMargin;
  for (const auto* lines : {&report.heads, &report.notes}) {
    for (const std::string& line : *lines) {
      canvas.text(kMargin, y + 10, fitting_text(line, kInner, kSmall), "dim");
      y += 16;
    }
  }
  y += 10;
  for (const PlanSection& section : report.sections) {
    if (section.is_drawn) y = draw_section(section, y, &canvas);
  }
  if (!report.roofline.is_empty()) y = draw_roofline(report.roofline, {kMargin, y, kInner, 400}, &canvas);
  SvgCanvas page;
  page.rect({0, 0, kWidth, y}, "page");
  page.add(canvas);
  return page.document(kWidth, y, report.title, kStyle);
}

}  // namespace vitro
