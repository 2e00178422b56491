#include "cli/table.h"

#include <algorithm>

#include "cli/terminal.h"

namespace vitro {

void Table::print() const {
  std::vector<size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += alignment_[i] == '>' ? fmt::format("{:>{}}  ", row[i], widths[i])
                                   : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    put("{}\n", line);
  }
}

}  // namespace vitro
