// A text table on stdout: columns are as wide as their widest cell.
#pragma once

#include <string>
#include <vector>

namespace vitro {

class Table {
 public:
  /// One '<' (left) or '>' (right) for each column.
  explicit Table(std::string alignment) : alignment_(std::move(alignment)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print() const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace vitro
