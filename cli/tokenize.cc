// vitro tokenize: text to token ids and back, as a coloured table, as JSON, or as a stream of JSON lines.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
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
constexpr size_t kMaxLineBytes = size_t{64} << 20;
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
  bool skip_special = false;
  bool no_parse_special = false;
  bool as_json = false;
  bool as_jsonl = false;

  EncodeOptions encode() const { return {.add_special = !no_special, .parse_special = !no_parse_special}; }
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("MODEL", options.model,
                 "folder with tokenizer.json, that file, a .gguf, or llama2.c's tokenizer (--vocab-size)")
      ->required();
  auto* text = app.add_option("TEXT", options.text, "the text; '-' or nothing reads it from the standard input");
  auto* ids = app.add_option("--ids", options.ids, "decode these ids, separated by commas, instead of encoding a text");
  app.add_flag("--no-special", options.no_special, "add no BOS or EOS");
  app.add_flag("--skip-special", options.skip_special, "with --ids: leave special tokens out of the text")->needs(ids);
  app.add_flag("--no-parse-special", options.no_parse_special,
               "special tokens written in the text are text like any other; without it they are tokens");
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
  if (line.size() > kMaxLineBytes) return fail(ErrorCode::kInvalidArgument, "a line longer than 64 MiB");
  VITRO_TRY_ASSIGN(const Value value, parse_json(line, "line"));
  const std::string* text = value.as_string();
  if (text == nullptr)
    return fail(ErrorCode::kInvalidArgument, "a JSON string is needed, this is {}", value.kind_name());
  VITRO_TRY_ASSIGN(const Encoding encoding, tokenizer.encode(*text, options));
  return encoding_json(tokenizer, *text, encoding);
}

/// The next line without its end; of one that is too long, kMaxLineBytes + 1 bytes, and the rest is skipped. False at
/// the end of the file.
bool next_line(std::FILE* in, std::string& line) {
  line.clear();
  int c = 0;
  bool is_any = false;
  for (; (c = ::getc_unlocked(in)) != EOF && c != '\n'; is_any = true) {
    if (line.size() <= kMaxLineBytes) line += static_cast<char>(c);
  }
  return is_any || c == '\n';
}

int run_jsonl(const Tokenizer& tokenizer, const Options& options) {
  const std::string name = options.file.empty() ? "the standard input" : options.file;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
  if (!options.file.empty()) {
    file.reset(std::fopen(options.file.c_str(), "rb"));
    if (!file) return report_error(kName, {ErrorCode::kIoError, name + ": cannot be opened; is the path right?"});
  }
  std::FILE* in = file ? file.get() : stdin;
  int exit_code = 0;
  bool is_read = true;
  for (std::string line; is_read && next_line(in, line);) {
    const Result<std::string> answer = jsonl_answer(tokenizer, line, options.encode());
    if (!answer) exit_code = 1;
    is_read = put("{}\n", answer ? *answer : fmt::format(R"({{"error":{}}})", json_quote(answer.error().message)));
  }
  if (std::ferror(in) == 0) return exit_code;
  return report_error(kName, {ErrorCode::kIoError, name + ": cannot be read; a folder?"});
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
  const std::string text = tokenizer.decode(*ids, options.skip_special);
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
  if (!flush_output()) return 1;
  talk("{} {}, {} bytes; {}, {} pieces\n", encoding->ids.size(), encoding->ids.size() == 1 ? "token" : "tokens",
       text.size(), tokenizer.model_name(), tokenizer.vocab_size());
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
  if (options.as_jsonl) return run_jsonl(**tokenizer, options);
  if (options.ids) return run_ids(**tokenizer, options);
  return run_text(**tokenizer, options);
}

}  // namespace vitro
