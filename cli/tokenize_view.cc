#include "cli/tokenize_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/json_lines.h"
#include "cli/terminal.h"
#include "formats/json.h"
#include "text/utf8.h"

namespace vitro {
namespace {

// Code points before each byte of a text, for offsets.
std::vector<ByteRange> code_point_offsets(std::string_view text, const std::vector<ByteRange>& ranges) {
  std::vector<size_t> index(text.size() + 1);
  size_t n = 0;
  for (size_t pos = 0; pos < text.size(); ++n) {
    const auto n_bytes = static_cast<size_t>(decode_utf8(text.substr(pos)).n_bytes);
    for (size_t i = 0; i < n_bytes; ++i) index[pos + i] = n;
    pos += n_bytes;
  }
  index[text.size()] = n;
  std::vector<ByteRange> out;
  for (const ByteRange& range : ranges) out.push_back({index[range.begin], index[range.end]});
  return out;
}

}  // namespace

bool is_added(const Encoding& encoding, size_t idx) {
  const TokenSource source = encoding.sources[idx];
  return source == TokenSource::kAdded || source == TokenSource::kPadding;
}

std::vector<TokenCell> token_cells(const Encoding& encoding) {
  std::vector<TokenCell> cells;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const ByteRange range = encoding.ranges[i];
    TokenCell* last = cells.empty() ? nullptr : &cells.back();
    if (last && !range.empty() && range.begin < last->range.end) {
      ++last->n;
      last->range.end = std::max(last->range.end, range.end);
    } else {
      cells.push_back({i, 1, range});
    }
  }
  return cells;
}

size_t n_characters(std::string_view text) {
  size_t n = 0;
  for (; !text.empty(); ++n) text.remove_prefix(static_cast<size_t>(decode_utf8(text).n_bytes));
  return n;
}

double tokens_per_character(size_t n_tokens, std::string_view text) {
  const size_t n = n_characters(text);
  return n > 0 ? static_cast<double>(n_tokens) / static_cast<double>(n) : 0;
}

std::string printable(std::string_view text) {
  const std::string quoted = json_quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

std::string decoded(const Tokenizer& tokenizer, TokenId id) {
  const std::string bytes = tokenizer.token_bytes(id);
  std::string out;
  for (std::string_view rest = bytes; !rest.empty();) {
    const CodePoint c = decode_utf8(rest);
    const auto n = static_cast<size_t>(c.n_bytes);
    if (c.is_valid) {
      out += printable(rest.substr(0, n));
    } else {
      for (const char byte : rest.substr(0, n)) out += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    }
    rest.remove_prefix(n);
  }
  return out;
}

std::string json_pieces(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  return json_list(ids, [&](TokenId id) { return json_quote(tokenizer.piece(id)); });
}

std::string encoding_json(const Tokenizer& tokenizer, std::string_view text, const Encoding& encoding,
                          bool has_decoded) {
  std::string out = fmt::format(R"({{"ids":{},"tokens":{},"offsets":{},"byte_offsets":{})", json_ids(encoding.ids),
                                json_pieces(tokenizer, encoding.ids),
                                json_ranges(code_point_offsets(text, encoding.ranges)), json_ranges(encoding.ranges));
  if (has_decoded) {
    out += R"(,"decoded":)";
    out += json_list(encoding.ids, [&](TokenId id) { return json_quote(tokenizer.token_bytes(id)); });
  }
  return out + "}";
}

void print_table(const Tokenizer& tokenizer, const Encoding& encoding, bool has_decoded) {
  put("{:>8}  {:>13}  {:<{}}{}\n", "id", "bytes", "piece", has_decoded ? 24 : 0, has_decoded ? "  text" : "");
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const ByteRange range = encoding.ranges[i];
    const std::string bytes = is_added(encoding, i) ? "added" : fmt::format("{}-{}", range.begin, range.end);
    const std::string piece = printable(tokenizer.piece(encoding.ids[i]));
    put("{:>8}  {:>13}  {:<{}}{}\n", encoding.ids[i], bytes, piece, has_decoded ? 24 : 0,
        has_decoded ? "  '" + decoded(tokenizer, encoding.ids[i]) + "'" : "");
  }
}

void print_pair(const Tokenizer& tokenizer, std::string_view first, std::string_view second, const Encoding& encoding,
                bool is_json) {
  const auto text_of = [&](size_t i) { return is_added(encoding, i) ? 0 : static_cast<int>(encoding.sources[i]) + 1; };
  if (!is_json) {
    put("{:>8}  {:>4}  {:>4}  {:>13}  piece\n", "id", "type", "text", "bytes");
    for (size_t i = 0; i < encoding.size(); ++i) {
      const ByteRange range = encoding.ranges[i];
      put("{:>8}  {:>4}  {:>4}  {:>13}  {}\n", encoding.ids[i], encoding.type_ids[i],
          is_added(encoding, i) ? "-" : std::to_string(text_of(i)),
          is_added(encoding, i) ? "added" : fmt::format("{}-{}", range.begin, range.end),
          printable(tokenizer.piece(encoding.ids[i])));
    }
    return;
  }
  std::vector<int> texts;
  for (size_t i = 0; i < encoding.size(); ++i) texts.push_back(text_of(i));
  std::vector<ByteRange> offsets(encoding.size());
  for (const int text : {1, 2}) {
    std::vector<ByteRange> ranges = encoding.ranges;
    for (size_t i = 0; i < ranges.size(); ++i) ranges[i] = texts[i] == text ? ranges[i] : ByteRange{};
    ranges = code_point_offsets(text == 1 ? first : second, ranges);
    for (size_t i = 0; i < ranges.size(); ++i) offsets[i] = texts[i] == text ? ranges[i] : offsets[i];
  }
  const auto number = [](int n) { return std::to_string(n); };
  put(R"({{"ids":{},"tokens":{},"type_ids":{},"texts":{},"offsets":{},"byte_offsets":{}}})"
      "\n",
      json_ids(encoding.ids), json_pieces(tokenizer, encoding.ids), json_list(encoding.type_ids, number),
      json_list(texts, number), json_ranges(offsets), json_ranges(encoding.ranges));
}

void print_colours(std::string_view text, const Encoding& encoding) {
  size_t pos = 0;
  bool is_odd = false;
  for (const TokenCell& cell : token_cells(encoding)) {
    if (cell.range.end <= pos) continue;
    put("\x1b[{}m{}\x1b[0m", is_odd ? "30;46" : "30;43", for_terminal(text.substr(pos, cell.range.end - pos), true));
    pos = cell.range.end;
    is_odd = !is_odd;
  }
  put("{}\n", for_terminal(text.substr(pos), true));
}

void print_counts(std::string_view text, const Encoding& encoding, bool is_json) {
  const size_t n_tokens = encoding.ids.size();
  const double rate = tokens_per_character(n_tokens, text);
  if (is_json) {
    put("{{\"tokens\":{},\"characters\":{},\"bytes\":{},\"tokens_per_character\":{}}}\n", n_tokens, n_characters(text),
        text.size(), rate);
  } else {
    put("{} tokens, {} characters, {} bytes, {:.3f} tokens a character\n", n_tokens, n_characters(text), text.size(),
        rate);
  }
}

}  // namespace vitro
