// vitro tokenize: text to token ids and back, as a coloured table, as JSON, or as a stream of JSON lines.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "formats/json.h"
#include "text/utf8.h"
#include "tokens/tokenizer.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "tokenize";
constexpr const char* kExample =
    "Example:\n"
    "  vitro tokenize tests/data/tokens/llama3-like.tokenizer.json 'The glass is clear.'\n"
    "  vitro tokenize tests/data/tokens/llama3-like.tokenizer.json --ids 320,51,256,300,274,82,82\n"
    "  echo '\"clear\"' | vitro tokenize tests/data/tokens/llama3-like.tokenizer.json --jsonl\n"
    "Ranges are bytes of the text; --jsonl gives offsets in code points too.";

struct Options {
  std::string model;
  std::optional<std::string> text;
  std::optional<std::string> ids;
  std::string file;
  int64_t vocab_size = 0;
  bool no_special = false;
  bool no_parse_special = false;
  bool as_json = false;
  bool as_jsonl = false;

  EncodeOptions encode() const { return {.add_special = !no_special, .parse_special = !no_parse_special}; }
};

/// Results go to stdout unchecked, so that a closed pipe is no exception; finish() looks once, at the end.
template <class... Args>
void put(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int finish(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  return report_error(kName, {ErrorCode::kIoError, "the standard output cannot be written"});
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("MODEL", options.model,
                 "folder with tokenizer.json, that file, a .gguf, or llama2.c's tokenizer (--vocab-size)")
      ->required();
  auto* text = app.add_option("TEXT", options.text, "the text; '-' or nothing reads it from the standard input");
  auto* ids = app.add_option("--ids", options.ids, "decode these ids, separated by commas, instead of encoding a text");
  app.add_flag("--no-special", options.no_special,
               "add no BOS or EOS; with --ids: leave special tokens out of the text");
  app.add_flag("--no-parse-special", options.no_parse_special, "special tokens written in the text are text");
  app.add_option("--vocab-size", options.vocab_size, "MODEL is a llama2.c tokenizer with this many pieces");
  auto* json = app.add_flag("--json", options.as_json, "one JSON object instead of the table");
  auto* jsonl = app.add_flag("--jsonl", options.as_jsonl, "read one JSON string a line, write one JSON object a line");
  auto* file = app.add_option("--file", options.file, "read --jsonl lines from here instead of the standard input");
  ids->excludes(text)->excludes(jsonl);
  jsonl->excludes(json)->excludes(text);
  file->needs(jsonl);
  app.footer(kExample);
}

Result<std::unique_ptr<Tokenizer>> load(const Options& options) {
  if (options.vocab_size != 0) return load_llama2c_tokenizer(options.model, options.vocab_size);
  return load_tokenizer(options.model);
}

/// Code points before each byte of a text, for offsets. Broken parts count one each, as they are encoded.
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

template <class Items, class Write>
std::string json_list(const Items& items, Write&& write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + "]";
}

std::string json_ranges(const std::vector<ByteRange>& ranges) {
  return json_list(ranges, [](const ByteRange& r) { return fmt::format("[{},{}]", r.begin, r.end); });
}

std::string encoding_json(const Tokenizer& tokenizer, std::string_view text, const Encoding& encoding) {
  return fmt::format(R"({{"ids":{},"tokens":{},"offsets":{},"byte_offsets":{}}})",
                     json_list(encoding.ids, [](TokenId id) { return std::to_string(id); }),
                     json_list(encoding.ids, [&](TokenId id) { return json_quote(tokenizer.piece(id)); }),
                     json_ranges(code_point_offsets(text, encoding.ranges)), json_ranges(encoding.ranges));
}

Result<std::string> jsonl_answer(const Tokenizer& tokenizer, std::string_view line, const EncodeOptions& options) {
  VITRO_TRY_ASSIGN(const Value value, parse_json(line, "line"));
  const std::string* text = value.as_string();
  if (text == nullptr)
    return fail(ErrorCode::kInvalidArgument, "a JSON string is needed, this is {}", value.kind_name());
  VITRO_TRY_ASSIGN(const Encoding encoding, tokenizer.encode(*text, options));
  return encoding_json(tokenizer, *text, encoding);
}

int run_jsonl(const Tokenizer& tokenizer, const Options& options) {
  std::ifstream file;
  if (!options.file.empty()) {
    file.open(options.file);
    if (!file) return report_error(kName, {ErrorCode::kIoError, "cannot read " + options.file});
  }
  std::istream& in = options.file.empty() ? std::cin : file;
  int exit_code = 0;
  for (std::string line; std::ferror(stdout) == 0 && std::getline(in, line);) {
    const Result<std::string> answer = jsonl_answer(tokenizer, line, options.encode());
    if (!answer) exit_code = 1;
    put("{}\n", answer ? *answer : fmt::format(R"({{"error":{}}})", json_quote(answer.error().message)));
  }
  return exit_code;
}

/// Ids of the vocabulary.
Result<std::vector<TokenId>> known_ids(std::string_view list, const Tokenizer& tokenizer) {
  VITRO_TRY_ASSIGN(std::vector<TokenId> ids, parse_ids(list));
  for (const TokenId id : ids) {
    if (id < 0 || id >= tokenizer.vocab_size()) {
      return fail(ErrorCode::kInvalidArgument, "--ids: {} is not an id from 0 to {}", id, tokenizer.vocab_size() - 1);
    }
  }
  return ids;
}

int run_ids(const Tokenizer& tokenizer, const Options& options) {
  const Result<std::vector<TokenId>> ids = known_ids(*options.ids, tokenizer);
  if (!ids) {
    report_error(kName, ids.error());
    return 2;
  }
  const std::string text = tokenizer.decode(*ids, options.no_special);
  if (options.as_json) {
    put(R"({{"text":{},"tokens":{}}})"
        "\n",
        json_quote(text), json_list(*ids, [&](TokenId id) { return json_quote(tokenizer.piece(id)); }));
  } else {
    put("{}\n", text);
  }
  return 0;
}

/// A piece without line breaks and other control characters.
std::string printable(std::string_view piece) {
  const std::string quoted = json_quote(piece);
  return quoted.substr(1, quoted.size() - 2);
}

void print_table(const Tokenizer& tokenizer, const Encoding& encoding) {
  put("{:>8}  {:>13}  {}\n", "id", "bytes", "piece");
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const ByteRange range = encoding.ranges[i];
    const std::string bytes = range.empty() ? "added" : fmt::format("{}-{}", range.begin, range.end);
    put("{:>8}  {:>13}  {}\n", encoding.ids[i], bytes, printable(tokenizer.piece(encoding.ids[i])));
  }
}

/// The text again, each token on the other one of two backgrounds; tokens inside one character share its cell.
void print_colours(std::string_view text, const Encoding& encoding) {
  size_t pos = 0;
  bool is_odd = false;
  for (const ByteRange& range : encoding.ranges) {
    if (range.end <= pos) continue;
    put("\x1b[{}m{}\x1b[0m", is_odd ? "30;46" : "30;43", replace_invalid_utf8(text.substr(pos, range.end - pos)));
    pos = range.end;
    is_odd = !is_odd;
  }
  put("{}\n", replace_invalid_utf8(text.substr(pos)));
}

int run_text(const Tokenizer& tokenizer, const Options& options) {
  const bool is_given = options.text && *options.text != "-";
  const Result<std::string> input = is_given ? Result<std::string>(*options.text) : read_text("-");
  if (!input) return report_error(kName, input.error());
  const std::string& text = *input;
  const Result<Encoding> encoding = tokenizer.encode(text, options.encode());
  if (!encoding) return report_error(kName, encoding.error());
  if (options.as_json) {
    put("{}\n", encoding_json(tokenizer, text, *encoding));
    return 0;
  }
  print_table(tokenizer, *encoding);
  if (is_terminal(STDOUT_FILENO)) print_colours(text, *encoding);
  fmt::print(stderr, "{} {}, {} bytes; {}, {} pieces\n", encoding->ids.size(),
             encoding->ids.size() == 1 ? "token" : "tokens", text.size(), tokenizer.model_name(),
             tokenizer.vocab_size());
  return 0;
}

}  // namespace

int tokenize_command(std::span<const std::string> args) {
  CLI::App app("Text to token ids and back.");
  Options options;
  add_options(app, options);
  if (const std::optional<int> exit_code = parse_args(app, kName, args)) return *exit_code;
  const Result<std::unique_ptr<Tokenizer>> tokenizer = load(options);
  if (!tokenizer) return report_error(kName, tokenizer.error());
  if (options.as_jsonl) return finish(run_jsonl(**tokenizer, options));
  if (options.ids) return finish(run_ids(**tokenizer, options));
  return finish(run_text(**tokenizer, options));
}

}  // namespace vitro
