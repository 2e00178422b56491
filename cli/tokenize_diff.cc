#include "cli/tokenize_diff.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/json_lines.h"
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

// A shortest stretch of the text that begins and ends between tokens of both; or neighbouring tokens that stand for no
// text, with an empty range.
struct Stretch {
  ByteRange range;
  Run a, b;
  bool is_cut_alike = true;
};

// Tokens that stand for text, in cells. Those of the text without a range of their own are of the cell after them: some
// tokenizers give all bytes of a character to the last one of its tokens.
std::vector<TokenCell> text_cells(const Encoding& encoding) {
  std::vector<TokenCell> out;
  size_t n_waiting = 0;
  for (TokenCell cell : token_cells(encoding)) {
    if (cell.range.empty()) {
      n_waiting = is_added(encoding, cell.first) ? 0 : n_waiting + 1;
      continue;
    }
    cell.first -= n_waiting;
    cell.n += n_waiting;
    n_waiting = 0;
    out.push_back(cell);
  }
  return out;
}

// Walks both lists of cells to the next place where one of each ends.
std::vector<Stretch> text_stretches(const Encoding& a, const Encoding& b) {
  const std::vector<TokenCell> x = text_cells(a), y = text_cells(b);
  std::vector<Stretch> out;
  size_t a_end = 0, b_end = 0;
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
    const auto add = [&stretch](const std::vector<TokenCell>& cells, size_t first, size_t last, size_t& end) -> Run {
      if (first == last) return {end, end};
      stretch.range.begin = std::min(stretch.range.begin, cells[first].range.begin);
      stretch.range.end = std::max(stretch.range.end, cells[last - 1].range.end);
      end = cells[last - 1].first + cells[last - 1].n;
      return {cells[first].first, end};
    };
    stretch.a = add(x, first_i, i, a_end);
    stretch.b = add(y, first_j, j, b_end);
    stretch.is_cut_alike = i == first_i + 1 && j == first_j + 1 && x[first_i].range == y[first_j].range;
    out.push_back(stretch);
  }
  return out;
}

// Every token of both is in one of them: between those of the text, the ones that stand for none (BOS, EOS).
std::vector<Stretch> stretches(const Encoding& a, const Encoding& b) {
  std::vector<Stretch> out;
  size_t a_end = 0, b_end = 0, pos = 0;
  const auto add_between = [&](size_t a_next, size_t b_next) {
    if (a_end < a_next || b_end < b_next) out.push_back({{pos, pos}, {a_end, a_next}, {b_end, b_next}});
  };
  for (const Stretch& stretch : text_stretches(a, b)) {
    add_between(stretch.a.begin, stretch.b.begin);
    out.push_back(stretch);
    a_end = stretch.a.end;
    b_end = stretch.b.end;
    pos = stretch.range.end;
  }
  add_between(a.size(), b.size());
  return out;
}

// An added token as it is written, for it may decode to nothing; any other one as it is decoded.
std::string meaning(const Tokenised& t, size_t i) {
  const TokenId id = t.encoding.ids[i];
  return is_added(t.encoding, i) ? std::string(t.tokenizer->piece(id)) : t.tokenizer->token_bytes(id);
}

bool is_same_token(const Tokenised& a, size_t i, const Tokenised& b, size_t j, bool compares_ids) {
  if (is_added(a.encoding, i) != is_added(b.encoding, j) || meaning(a, i) != meaning(b, j)) return false;
  return !compares_ids || a.encoding.ids[i] == b.encoding.ids[j];
}

bool is_same(const Stretch& stretch, const Tokenised& a, const Tokenised& b, bool compares_ids) {
  const size_t n = stretch.a.end - stretch.a.begin;
  if (!stretch.is_cut_alike || stretch.b.end - stretch.b.begin != n) return false;
  for (size_t i = 0; i < n; ++i) {
    if (!is_same_token(a, stretch.a.begin + i, b, stretch.b.begin + i, compares_ids)) return false;
  }
  return true;
}

// A piece that `t` has in the text and `other` has not at all. Where there is none, both write the same pieces, and a
// difference of their ids is one of the models; sizes say nothing, for vocabularies are padded.
std::optional<std::string> unknown_piece(const Tokenised& t, const Tokenised& other) {
  for (size_t i = 0; i < t.encoding.size(); ++i) {
    const std::string_view piece = t.tokenizer->piece(t.encoding.ids[i]);
    if (!is_added(t.encoding, i) && other.tokenizer->find(piece) < 0) return std::string(piece);
  }
  return std::nullopt;
}

// Empty if ids can be compared.
std::string why_not_ids(const Tokenised& a, const Tokenised& b) {
  if (const auto piece = unknown_piece(a, b)) return fmt::format("'{}' is only in {}", printable(*piece), a.name);
  if (const auto piece = unknown_piece(b, a)) return fmt::format("'{}' is only in {}", printable(*piece), b.name);
  return "";
}

std::vector<TokenId> ids_of(const Tokenised& t, const Run& run) {
  return {t.encoding.ids.begin() + static_cast<ptrdiff_t>(run.begin),
          t.encoding.ids.begin() + static_cast<ptrdiff_t>(run.end)};
}

// "The|␣dog"
std::string cut_text(const Tokenised& t, const Run& run) {
  std::string out;
  for (size_t i = run.begin; i < run.end; ++i) {
    if (i > run.begin) out += '|';
    const TokenId id = t.encoding.ids[i];
    const std::string text = is_added(t.encoding, i) ? printable(t.tokenizer->piece(id)) : decoded(*t.tokenizer, id);
    for (const char c : text) out += c == ' ' ? "␣" : std::string(1, c);
  }
  return out;
}

void print_differences(const std::vector<Stretch>& differing, const Tokenised& a, const Tokenised& b) {
  Table table("><<");
  table.add({"bytes", a.name, b.name});
  for (const Stretch& d : differing) {
    std::string x = cut_text(a, d.a), y = cut_text(b, d.b);
    if (x == y) {  // what is not seen is in the ids
      x += " " + json_ids(ids_of(a, d.a));
      y += " " + json_ids(ids_of(b, d.b));
    }
    table.add({d.range.empty() ? "none" : fmt::format("{}-{}", d.range.begin, d.range.end), x, y});
  }
  table.print();
}

std::string total(std::string_view text, const Tokenised& t) {
  return fmt::format("{}: {} tokens, {:.3f} a character", t.name, t.encoding.ids.size(),
                     tokens_per_character(t.encoding.ids.size(), text));
}

std::string side_json(const Tokenised& t, const Run& run) {
  const std::vector<TokenId> ids = ids_of(t, run);
  return fmt::format(R"({{"ids":{},"tokens":{}}})", json_ids(ids), json_pieces(*t.tokenizer, ids));
}

void print_json(const std::vector<Stretch>& differing, const Tokenised& a, const Tokenised& b, bool compares_ids) {
  put(R"({{"a":{{"model":{},"tokens":{}}},"b":{{"model":{},"tokens":{}}},"compares_ids":{},"differences":[)",
      json_quote(a.name), a.encoding.ids.size(), json_quote(b.name), b.encoding.ids.size(), compares_ids);
  for (size_t i = 0; i < differing.size(); ++i) {
    const Stretch& d = differing[i];
    put(R"({}{{"bytes":[{},{}],"a":{},"b":{}}})", i > 0 ? "," : "", d.range.begin, d.range.end, side_json(a, d.a),
        side_json(b, d.b));
  }
  put("]}}\n");
}

}  // namespace

bool print_diff(std::string_view text, const Tokenised& a, const Tokenised& b, bool is_json) {
  const std::string reason = why_not_ids(a, b);
  const bool compares_ids = reason.empty();
  std::vector<Stretch> differing = stretches(a.encoding, b.encoding);
  std::erase_if(differing, [&](const Stretch& s) { return is_same(s, a, b, compares_ids); });
  if (is_json) {
    print_json(differing, a, b, compares_ids);
    return !differing.empty();
  }
  if (!differing.empty()) print_differences(differing, a, b);
  put("{}\n{}\ncompared: cuts, text of the tokens, added tokens{}\n", total(text, a), total(text, b),
      compares_ids ? ", ids" : "");
  if (!compares_ids) put("ids are not compared: the vocabularies differ ({})\n", reason);
  put("{} {}\n", differing.size(), differing.size() == 1 ? "stretch differs" : "stretches differ");
  return !differing.empty();
}

}  // namespace vitro
