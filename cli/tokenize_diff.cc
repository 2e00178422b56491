#include "cli/tokenize_diff.h"

#include <algorithm>
#include <vector>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tokenize_view.h"
#include "formats/json.h"

namespace vitro {
namespace {

// Tokens [begin, end) of an encoding.
struct Run {
  size_t begin = 0;
  size_t end = 0;
};

// A shortest stretch of the text that begins and ends between tokens of both.
struct Stretch {
  ByteRange range;
  Run a, b;
};

// Tokens that stand for text, in cells.
std::vector<TokenCell> text_cells(const Encoding& encoding) {
  std::vector<TokenCell> cells = token_cells(encoding);
  std::erase_if(cells, [](const TokenCell& cell) { return cell.range.empty(); });
  return cells;
}

// Walks both lists of cells to the next place where one of each ends.
std::vector<Stretch> stretches(const Encoding& a, const Encoding& b) {
  const std::vector<TokenCell> x = text_cells(a), y = text_cells(b);
  std::vector<Stretch> out;
  for (size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    const size_t first_i = i, first_j = j;
    if (i < x.size()) ++i;
    if (j < y.size()) ++j;
    while (i > 0 && j > 0 && x[i - 1].range.end != y[j - 1].range.end) {
      const bool takes_a = x[i - 1].range.end < y[j - 1].range.end;
      if (takes_a ? i == x.size() : j == y.size()) break;
      ++(takes_a ? i : j);
    }
    Stretch stretch;
    stretch.range = {SIZE_MAX, 0};
    const auto add = [&stretch](const std::vector<TokenCell>& cells, size_t first, size_t last, Run& run) {
      if (first == last) return;
      run = {cells[first].first, cells[last - 1].first + cells[last - 1].n};
      stretch.range.begin = std::min(stretch.range.begin, cells[first].range.begin);
      stretch.range.end = std::max(stretch.range.end, cells[last - 1].range.end);
    };
    add(x, first_i, i, stretch.a);
    add(y, first_j, j, stretch.b);
    out.push_back(stretch);
  }
  return out;
}

bool is_same(const Stretch& stretch, const Encoding& a, const Encoding& b, bool compares_ids) {
  const auto at = [](const auto& items, size_t i) { return items.begin() + static_cast<ptrdiff_t>(i); };
  const auto is_equal = [&](const auto& x, const auto& y) {
    return std::equal(at(x, stretch.a.begin), at(x, stretch.a.end), at(y, stretch.b.begin), at(y, stretch.b.end));
  };
  return is_equal(a.ranges, b.ranges) && (!compares_ids || is_equal(a.ids, b.ids));
}

std::vector<TokenId> ids_of(const Tokenised& t, const Run& run) {
  return {t.encoding.ids.begin() + static_cast<ptrdiff_t>(run.begin),
          t.encoding.ids.begin() + static_cast<ptrdiff_t>(run.end)};
}

// "The|␣dog"
std::string cut_text(const Tokenised& t, const Run& run) {
  std::string out;
  for (const TokenId id : ids_of(t, run)) {
    if (!out.empty()) out += '|';
    for (const char c : decoded(*t.tokenizer, id)) out += c == ' ' ? "␣" : std::string(1, c);
  }
  return out;
}

std::string total(std::string_view text, const Tokenised& t) {
  return fmt::format("{}: {} tokens, {:.3f} a character", t.name, t.encoding.ids.size(),
                     tokens_per_character(t.encoding.ids.size(), text));
}

std::string side_json(const Tokenised& t, const Run& run) {
  const std::vector<TokenId> ids = ids_of(t, run);
  return fmt::format(R"({{"ids":{},"tokens":{}}})", json_ids(ids), json_pieces(*t.tokenizer, ids));
}

void print_json(const std::vector<Stretch>& differing, const Tokenised& a, const Tokenised& b) {
  put(R"({{"a":{{"model":{},"tokens":{}}},"b":{{"model":{},"tokens":{}}},"differences":[)", json_quote(a.name),
      a.encoding.ids.size(), json_quote(b.name), b.encoding.ids.size());
  for (size_t i = 0; i < differing.size(); ++i) {
    const Stretch& d = differing[i];
    put(R"({}{{"bytes":[{},{}],"a":{},"b":{}}})", i > 0 ? "," : "", d.range.begin, d.range.end, side_json(a, d.a),
        side_json(b, d.b));
  }
  put("]}}\n");
}

}  // namespace

void print_diff(std::string_view text, const Tokenised& a, const Tokenised& b, bool is_json) {
  const bool compares_ids = a.tokenizer->vocab_size() == b.tokenizer->vocab_size();
  std::vector<Stretch> differing = stretches(a.encoding, b.encoding);
  std::erase_if(differing, [&](const Stretch& s) { return is_same(s, a.encoding, b.encoding, compares_ids); });
  if (is_json) return print_json(differing, a, b);
  if (!differing.empty()) {
    Table table("><<");
    table.add({"bytes", a.name, b.name});
    for (const Stretch& d : differing) {
      table.add({fmt::format("{}-{}", d.range.begin, d.range.end), cut_text(a, d.a), cut_text(b, d.b)});
    }
    table.print();
  }
  put("{}\n{}\n{} stretches of the text differ\n", total(text, a), total(text, b), differing.size());
}

}  // namespace vitro
