// PlanReport: everything that one `vitro plan` says, as data. Each of the writers (screen, explanation, JSON, pictures)
// takes any report; none knows what a plan is about.
#pragma once

#include <string>
#include <vector>

#include "formats/value.h"
#include "plan/item.h"

namespace vitro {

enum class PlanUnit : uint8_t { kBytes, kFlops, kParameters };

/// A tree of owners.
struct PlanSection {
  std::string id;     ///< key in JSON: "memory"
  std::string title;  ///< "Who ate the memory?"
  PlanUnit unit = PlanUnit::kBytes;
  PlanItem item;
  std::string note = {};     ///< a line below the tree
  int64_t budget = 0;        ///< what there is, in the same unit; 0: no such thing
  bool is_on_screen = true;  ///< false: in JSON and explanations only
  bool is_drawn = false;     ///< in pictures
  int depth = 3;             ///< levels of the tree that the screen shows; deeper ones stand behind their owner
};

/// A cell as people read it and as programs do.
struct PlanCell {
  std::string text;
  Value value = {};
};
PlanCell text_cell(std::string text);
PlanCell count_cell(int64_t n);                  ///< 6,738,415,616
PlanCell bytes_cell(int64_t n_bytes);            ///< 13.48 GB
PlanCell binary_cell(int64_t n_bytes);           ///< 12.6 GiB
PlanCell flops_cell(int64_t n);                  ///< 549.8 G
PlanCell real_cell(double value, int n_digits);  ///< fixed digits behind the point
PlanCell seconds_cell(double seconds);           ///< 12.3 ms
PlanCell no_cell();                              ///< an em dash; null

struct PlanColumn {
  std::string id;     ///< key in JSON
  std::string title;  ///< head on the screen
  bool is_text = false;
  bool is_on_screen = true;
};
struct PlanTable {
  std::string id;
  std::string title;
  Certainty certainty = Certainty::kExact;
  std::vector<PlanColumn> columns;
  std::vector<std::vector<PlanCell>> rows;
  std::vector<std::string> notes = {};     ///< lines below the table
  std::vector<std::string> formulas = {};  ///< how the columns come about, for --explain
  bool is_on_screen = true;
};

/// A point of a roofline picture: a part of a pass.
struct RooflinePoint {
  std::string name;
  double intensity = 0;         ///< FLOPs a byte
  double flops_per_second = 0;  ///< FLOPs / time
};
struct RooflinePlot {
  std::string title;
  double peak = 0;       ///< FLOP/s
  double bandwidth = 0;  ///< bytes/s
  std::vector<RooflinePoint> points;
  bool is_empty() const { return points.empty(); }
};

struct PlanReport {
  std::string title;               ///< family and file
  std::vector<std::string> heads;  ///< lines before everything
  Value question;                  ///< what was asked, for JSON: model, context, ...
  Value::Object figures = {};      ///< numbers of their own, for JSON: the text of the sections has them too
  std::vector<PlanSection> sections;
  std::vector<PlanTable> tables;
  std::vector<std::string> notes;  ///< lines after everything
  RooflinePlot roofline;
};

// ---- numbers as the documents write them ----

/// Divides by powers of 1,000 until `largest` has at most three digits before the point, of GB four.
struct DecimalScale {
  double divisor = 1;
  std::string prefix = {};  ///< "", "k", "M", "G", "T", "P"
};
DecimalScale decimal_scale(double largest, PlanUnit unit = PlanUnit::kFlops);
/// 13476831232 -> "13.48 GB".
std::string decimal_text(double value, std::string_view unit);
/// "1 row", "4,096 rows".
std::string plural(int64_t n, std::string_view one);
/// "B", "FLOP", "parameters".
std::string_view unit_name(PlanUnit unit);

}  // namespace vitro
