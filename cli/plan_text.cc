#include "cli/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/human.h"
#include "cli/columns.h"
#include "cli/terminal.h"

namespace vitro {
namespace {

constexpr int kWidth = 80;
constexpr int kNameWidth = 26;
constexpr int kBarWidth = 16;

std::string padded(std::string_view text, int width, bool is_right) {
  const std::string blanks(static_cast<size_t>(std::max(width - display_width(text), 0)), ' ');
  return is_right ? blanks + std::string(text) : std::string(text) + blanks;
}

void append_line(std::string line, std::string* out) {
  line.erase(line.find_last_not_of(' ') + 1);
  *out += line + '\n';
}

void append_wrapped(std::string_view text, std::string* out) {
  for (const std::string& line : wrapped(text, kWidth)) append_line(line, out);
}

std::string_view mark(Certainty certainty) {
  if (certainty == Certainty::kEstimated) return "~";
  return certainty == Certainty::kMeasured ? "*" : "";
}

// At most so many cells, an ellipsis for what is cut off.
std::string cut(std::string_view text, int width) {
  const std::vector<std::string> lines = wrapped(text, width - 4);
  return lines[0].substr(0, lines[0].find_last_not_of(" ,") + 1) + " ...";
}

// ---- trees ----

// One tree's numbers, all in one unit so that they can be compared by eye.
struct TreeScale {
  DecimalScale decimal;
  double total = 1;
  int n_digits = 2;
  bool is_bytes = false;

  std::string text(int64_t amount) const { return number(static_cast<double>(amount) / decimal.divisor); }
  // The same in powers of two: GiB where the documents' GB stand.
  std::string binary_text(int64_t amount) const {
    const double power = std::pow(1024.0 / 1000.0, std::round(std::log10(decimal.divisor) / 3));
    return number(static_cast<double>(amount) / decimal.divisor / power);
  }

 private:
  std::string number(double scaled) const {
    const double least = std::pow(10, -n_digits);
    return scaled > 0 && scaled < least / 2 ? fmt::format("<{:.{}f}", least, n_digits)
                                            : fmt::format("{:.{}f}", scaled, n_digits);
  }
};

TreeScale tree_scale(const PlanSection& section) {
  TreeScale scale;
  scale.total = static_cast<double>(std::max<int64_t>(section.item.amount, 1));
  scale.decimal = decimal_scale(scale.total, section.unit);
  scale.n_digits = scale.decimal.divisor == 1 ? 0 : scale.total / scale.decimal.divisor >= 1000 ? 1 : 2;
  scale.is_bytes = section.unit == PlanUnit::kBytes;
  return scale;
}

// Owners that the tree has no line for stand behind their own, the largest first: "q 1.07, k 1.07".
std::string folded_parts(const PlanItem& item, const TreeScale& scale) {
  constexpr size_t kMost = 4;
  if (item.parts.size() == 1) return item.parts[0].name;
  std::vector<const PlanItem*> parts;
  for (const PlanItem& part : item.parts) parts.push_back(&part);
  std::stable_sort(parts.begin(), parts.end(), [](const auto* a, const auto* b) { return a->amount > b->amount; });
  std::string out;
  for (size_t i = 0; i < std::min(parts.size(), kMost); ++i) {
    const bool is_shown = scale.text(parts[i]->amount).front() != '<';
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", parts[i]->name,
                       is_shown ? " " + scale.text(parts[i]->amount) : "");
  }
  return parts.size() > kMost ? out + ", ..." : out;
}

void append_row(const PlanItem& item, int depth, std::string_view behind, const TreeScale& scale, std::string* out) {
  const double share = static_cast<double>(item.amount) / scale.total;
  const std::string name = std::string(static_cast<size_t>(2 * depth), ' ') + item.name;
  const std::string amount = std::string(mark(item.certainty)) + scale.text(item.amount);
  std::string line = padded(name, kNameWidth, false) + padded(amount, 9, true);
  if (scale.is_bytes) line += padded(scale.binary_text(item.amount), 9, true);
  line += fmt::format("{:6.1f}%  ", 100 * share);
  // What stands behind may take the cells that the bar leaves.
  const std::string filled = bar(share, kBarWidth);
  line += behind.empty() ? filled : filled + (filled.empty() ? "" : " ") + std::string(behind);
  if (display_width(line) > kWidth) line = cut(line, kWidth);
  append_line(line, out);
}

// Parts get lines of their own where there are several and they matter.
void append_tree(const PlanItem& item, int depth, int max_depth, const TreeScale& scale, std::string* out) {
  constexpr double kLeastShare = 0.02;
  const bool is_small = static_cast<double>(item.amount) < kLeastShare * scale.total;
  const bool is_folded = depth + 1 >= max_depth || is_small || item.parts.size() < 2;
  append_row(item, depth, is_folded ? folded_parts(item, scale) : "", scale, out);
  if (is_folded) return;
  for (const PlanItem& part : item.parts) append_tree(part, depth + 1, max_depth, scale, out);
}

// What is left of what there is.
void append_budget(const PlanSection& section, const TreeScale& scale, std::string* out) {
  const bool fits = section.item.amount <= section.budget;
  const int64_t amount = std::abs(section.budget - section.item.amount);
  append_line(padded(fits ? "left" : "too much by", kNameWidth, false) + padded(scale.text(amount), 9, true) +
                  padded(scale.binary_text(amount), 9, true) +
                  fmt::format("  of {}{}", decimal_text(static_cast<double>(section.budget), "B"),
                              fits ? "" : ": DOES NOT FIT"),
              out);
}

void append_section(const PlanSection& section, std::string* out) {
  const TreeScale scale = tree_scale(section);
  const std::string unit = scale.decimal.prefix + (scale.is_bytes ? "B" : "");
  std::string head = padded(section.title, kNameWidth, false) + padded(unit, 9, true);
  if (scale.is_bytes) {
    const std::string prefix = scale.decimal.prefix.empty()  ? ""
                               : scale.decimal.prefix == "k" ? "Ki"
                                                             : scale.decimal.prefix + "i";
    head += padded(prefix + "B", 9, true);
  }
  append_line(head + "  share", out);
  for (const PlanItem& part : section.item.parts) append_tree(part, 0, section.depth, scale, out);
  PlanItem total{.name = "in all", .amount = section.item.amount, .certainty = section.item.certainty};
  append_row(total, 0, "", scale, out);
  if (section.budget > 0) append_budget(section, scale, out);
  if (!section.note.empty()) append_wrapped(section.note, out);
}

// ---- tables ----

void append_table(const PlanTable& table, std::string* out) {
  std::vector<int> widths;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    int width = display_width(table.columns[column].title);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[column].text));
    widths.push_back(width);
  }
  const auto append_cells = [&](auto&& text_of) {
    std::string line;
    for (size_t column = 0; column < table.columns.size(); ++column) {
      if (!table.columns[column].is_on_screen) continue;
      line += padded(text_of(column), widths[column], !table.columns[column].is_text) + "  ";
    }
    append_line(std::move(line), out);
  };
  const std::string_view certainty = table.certainty == Certainty::kExact ? "" : certainty_name(table.certainty);
  if (!table.title.empty()) {
    append_wrapped(fmt::format("{}{}{}", table.title, certainty.empty() ? "" : ", ", certainty), out);
  }
  const bool has_head = std::any_of(table.columns.begin(), table.columns.end(),
                                    [](const PlanColumn& column) { return !column.title.empty(); });
  if (has_head) append_cells([&](size_t column) { return table.columns[column].title; });
  for (const auto& row : table.rows) append_cells([&](size_t column) { return row[column].text; });
  for (const std::string& note : table.notes) append_wrapped(note, out);
}

// ---- explanations ----

void append_explained(const PlanItem& item, int depth, const PlanSection& section, std::string* out) {
  const std::string indent(static_cast<size_t>(2 * depth), ' ');
  const std::string amount = fmt::format("{} {}", human_count(item.amount), unit_name(section.unit));
  const auto total = static_cast<double>(std::max<int64_t>(section.item.amount, 1));
  append_line(fmt::format("{}{}{:7.2f}%  {}", padded(indent + item.name, 34, false), padded(amount, 28, true),
                          100.0 * static_cast<double>(item.amount) / total, certainty_name(item.certainty)),
              out);
  if (!item.formula.empty()) append_line(fmt::format("{}    = {}", indent, item.formula), out);
  if (!item.arithmetic.empty() && item.arithmetic != item.formula) {
    append_line(fmt::format("{}    = {}", indent, item.arithmetic), out);
  }
  for (const PlanItem& part : item.parts) append_explained(part, depth + 1, section, out);
}

}  // namespace

std::string plan_screen(const PlanReport& report) {
  std::string out;
  for (const std::string& head : report.heads) append_wrapped(head, &out);
  for (const PlanSection& section : report.sections) {
    if (!section.is_on_screen) continue;
    out += '\n';
    append_section(section, &out);
  }
  for (const PlanTable& table : report.tables) {
    if (!table.is_on_screen) continue;
    out += '\n';
    append_table(table, &out);
  }
  if (!report.notes.empty()) out += '\n';
  for (const std::string& note : report.notes) append_wrapped(note, &out);
  return out;
}

std::string plan_explanation(const PlanReport& report) {
  std::string out;
  for (const std::string& head : report.heads) append_wrapped(head, &out);
  for (const PlanSection& section : report.sections) {
    out += '\n' + section.title + '\n';
    append_explained(section.item, 0, section, &out);
    if (!section.note.empty()) append_wrapped(section.note, &out);
  }
  for (const PlanTable& table : report.tables) {
    out += '\n';
    append_table(table, &out);
    for (const std::string& formula : table.formulas) append_line("    " + formula, &out);
  }
  if (!report.notes.empty()) out += '\n';
  for (const std::string& note : report.notes) append_wrapped(note, &out);
  return out;
}

}  // namespace vitro
