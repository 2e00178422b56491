#include "cli/plan_json.h"

#include <utility>

namespace vitro {
namespace {

Value text_value(std::string_view text) { return Value(std::string(text)); }

Value item_json(const PlanItem& item) {
  Value::Array parts;
  for (const PlanItem& part : item.parts) parts.push_back(item_json(part));
  return Value(Value::Object{{"name", Value(item.name)},
                             {"amount", Value(item.amount)},
                             {"certainty", text_value(certainty_name(item.certainty))},
                             {"formula", Value(item.formula)},
                             {"arithmetic", Value(item.arithmetic)},
                             {"parts", Value(std::move(parts))}});
}

Value section_json(const PlanSection& section) {
  return Value(Value::Object{{"title", Value(section.title)},
                             {"unit", text_value(unit_name(section.unit))},
                             {"budget", section.budget > 0 ? Value(section.budget) : Value()},
                             {"note", Value(section.note)},
                             {"item", item_json(section.item)}});
}

Value lines_json(const std::vector<std::string>& lines) {
  Value::Array out;
  for (const std::string& line : lines) out.emplace_back(line);
  return Value(std::move(out));
}

Value table_json(const PlanTable& table) {
  Value::Array rows;
  for (const auto& row : table.rows) {
    Value::Object cells;
    for (size_t i = 0; i < row.size(); ++i) cells.emplace_back(table.columns[i].id, row[i].value);
    rows.emplace_back(std::move(cells));
  }
  return Value(Value::Object{{"title", Value(table.title)},
                             {"certainty", text_value(certainty_name(table.certainty))},
                             {"rows", Value(std::move(rows))},
                             {"notes", lines_json(table.notes)},
                             {"formulas", lines_json(table.formulas)}});
}

}  // namespace

Value plan_json(const PlanReport& report) {
  Value::Object sections, tables;
  for (const PlanSection& section : report.sections) sections.emplace_back(section.id, section_json(section));
  for (const PlanTable& table : report.tables) tables.emplace_back(table.id, table_json(table));
  return Value(Value::Object{{"version", Value(int64_t{1})},
                             {"title", Value(report.title)},
                             {"question", report.question},
                             {"figures", Value(report.figures)},
                             {"sections", Value(std::move(sections))},
                             {"tables", Value(std::move(tables))},
                             {"notes", lines_json(report.notes)}});
}

}  // namespace vitro
