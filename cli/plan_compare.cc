#include "cli/plan_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/human.h"

namespace vitro {
namespace {

constexpr int kDepth = 2;  // owners below the top of a tree that get a row

PlanCell amount_cell(PlanUnit unit, int64_t amount) {
  return {decimal_text(static_cast<double>(amount), unit == PlanUnit::kBytes ? "B" : ""), Value(amount)};
}

PlanCell difference_cell(PlanUnit unit, int64_t a, int64_t b) {
  PlanCell cell = amount_cell(unit, b - a);
  if (b > a) cell.text = "+" + cell.text;
  if (b == a) cell.text = "=";
  return cell;
}

PlanCell ratio_cell(int64_t a, int64_t b) {
  if (a <= 0) return no_cell();
  return real_cell(static_cast<double>(b) / static_cast<double>(a), 3);
}

// Paths of a tree's owners in order, those of another tree put in where their elder stands.
void collect_paths(const PlanItem& item, const std::string& path, int depth, std::vector<std::string>* paths) {
  auto at = paths->end();
  for (const PlanItem& part : item.parts) {
    const std::string part_path = path.empty() ? part.name : path + "/" + part.name;
    at = std::find(paths->begin(), paths->end(), part_path);
    if (at == paths->end()) {
      // Behind everything of the owner above that is there already.
      auto place = paths->end();
      for (auto it = paths->begin(); it != paths->end(); ++it) {
        if (!path.empty() && (*it == path || it->starts_with(path + "/"))) place = it + 1;
      }
      paths->insert(place, part_path);
    }
    if (depth + 1 < kDepth) collect_paths(part, part_path, depth + 1, paths);
  }
}

std::string row_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string(path) : "  " + std::string(path.substr(slash + 1));
}

const PlanSection* find_section(const PlanReport& report, std::string_view id) {
  const auto at = std::find_if(report.sections.begin(), report.sections.end(),
                               [&](const PlanSection& section) { return section.id == id; });
  return at == report.sections.end() ? nullptr : &*at;
}

std::vector<PlanColumn> compare_columns(std::span<const PlanReport> reports) {
  std::vector<PlanColumn> columns = {{"owner", "", true}};
  for (size_t i = 0; i < reports.size(); ++i) {
    columns.push_back({fmt::format("amount_{}", i + 1), reports[i].title});
  }
  if (reports.size() == 2) columns.insert(columns.end(), {{"difference", "difference"}, {"ratio", "ratio"}});
  return columns;
}

std::vector<PlanCell> compare_row(std::span<const PlanReport> reports, const PlanSection& like, std::string_view path) {
  std::vector<PlanCell> row = {{path.empty() ? "in all" : row_name(path), Value(std::string(path))}};
  std::vector<int64_t> amounts;
  for (const PlanReport& report : reports) {
    const PlanSection* section = find_section(report, like.id);
    const PlanItem* item = section ? find_item(section->item, path) : nullptr;
    row.push_back(item ? amount_cell(like.unit, item->amount) : no_cell());
    amounts.push_back(item ? item->amount : 0);
  }
  if (reports.size() == 2) {
    row.push_back(difference_cell(like.unit, amounts[0], amounts[1]));
    row.push_back(ratio_cell(amounts[0], amounts[1]));
  }
  return row;
}

PlanTable compare_section(std::span<const PlanReport> reports, const PlanSection& like) {
  PlanTable table{.id = like.id, .title = like.title, .columns = compare_columns(reports)};
  std::vector<std::string> paths;
  for (const PlanReport& report : reports) {
    const PlanSection* section = find_section(report, like.id);
    if (!section) continue;
    collect_paths(section->item, "", 0, &paths);
    table.certainty = std::max(table.certainty, section->item.certainty);
  }
  // Of work only the sum: its parts are those of the feed-forward and attention above.
  if (like.unit == PlanUnit::kFlops) paths.clear();
  for (const std::string& path : paths) table.rows.push_back(compare_row(reports, like, path));
  table.rows.push_back(compare_row(reports, like, ""));
  return table;
}

// Columns of other tables that are worth a place beside each other.
struct ComparedColumn {
  std::string_view table, column, title;
};
constexpr auto kComparedColumns = std::to_array<ComparedColumn>({{"work", "prefill_seconds", "Time of the prompt"},
                                                                 {"work", "decode_seconds", "Time of a token"},
                                                                 {"fits", "answer", "What fits"},
                                                                 {"time", "value", "Work and time"}});

const PlanTable* find_table(const PlanReport& report, std::string_view id) {
  const auto at =
      std::find_if(report.tables.begin(), report.tables.end(), [&](const PlanTable& table) { return table.id == id; });
  return at == report.tables.end() ? nullptr : &*at;
}

// The cell of the row that begins with such a text; an em dash where there is none.
PlanCell cell_of(const PlanTable* table, std::string_view row_name, std::string_view column) {
  if (!table) return no_cell();
  const auto at =
      std::find_if(table->columns.begin(), table->columns.end(), [&](const PlanColumn& c) { return c.id == column; });
  for (const std::vector<PlanCell>& row : table->rows) {
    if (at != table->columns.end() && row[0].text == row_name)
      return row[static_cast<size_t>(at - table->columns.begin())];
  }
  return no_cell();
}

bool has_column(const PlanTable& table, std::string_view column) {
  return std::any_of(table.columns.begin(), table.columns.end(), [&](const PlanColumn& c) { return c.id == column; });
}

// Rows as the first report has them; nothing where it has no such table.
std::optional<PlanTable> compare_table(std::span<const PlanReport> reports, const ComparedColumn& compared) {
  const PlanTable* like = find_table(reports.front(), compared.table);
  if (!like || !has_column(*like, compared.column)) return std::nullopt;
  PlanTable table{.id = std::string(compared.column), .title = std::string(compared.title)};
  table.columns = {{"question", "", true}};
  for (size_t i = 0; i < reports.size(); ++i) {
    const PlanTable* other = find_table(reports[i], compared.table);
    if (other) table.certainty = std::max(table.certainty, other->certainty);
    table.columns.push_back({fmt::format("answer_{}", i + 1), reports[i].title});
  }
  for (const std::vector<PlanCell>& row : like->rows) {
    std::vector<PlanCell> cells = {row[0]};
    for (const PlanReport& report : reports)
      cells.push_back(cell_of(find_table(report, compared.table), row[0].text, compared.column));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

PlanReport compare_reports(std::span<const PlanReport> reports) {
  PlanReport out;
  Value::Array questions;
  for (const PlanReport& report : reports) {
    out.title += (out.title.empty() ? "" : " and ") + report.title;
    out.heads.insert(out.heads.end(), report.heads.begin(), report.heads.end());
    questions.push_back(report.question);
    for (const std::string& note : report.notes) {
      if (std::find(out.notes.begin(), out.notes.end(), note) == out.notes.end()) out.notes.push_back(note);
    }
  }
  out.question = Value(Value::Object{{"kind", Value(std::string("comparison"))}, {"of", Value(std::move(questions))}});
  for (const PlanSection& section : reports.front().sections) out.tables.push_back(compare_section(reports, section));
  for (const ComparedColumn& compared : kComparedColumns) {
    if (auto table = compare_table(reports, compared)) out.tables.push_back(*std::move(table));
  }
  return out;
}

}  // namespace vitro
