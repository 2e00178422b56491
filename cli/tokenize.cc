// vitro tokenize: text to token ids and back, as a coloured table, a page, JSON, or a stream of JSON lines; counts, and
// two tokenizers beside each other.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/json_lines.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/tokenize_diff.h"
#include "cli/tokenize_html.h"
#include "cli/tokenize_view.h"
#include "embedded/open_model.h"
#include "formats/json.h"
#include "tokens/tokenizer.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "tokenize";
constexpr const char* kExample =
    "Example:\n"
    "  vitro tokenize tests/data/tokens/llama3-like.tokenizer.json 'The glass is clear.'\n"
    "  vitro tokenize tests/data/tokens/llama3-like.tokenizer.json --ids 320,51,256,300,274,82,82\n"
    "  vitro tokenize MODEL --file README.md --count\n"
    "  vitro tokenize MODEL --file README.md --diff OTHER_MODEL\n"
    "  vitro tokenize MODEL 'The glass is clear.' --html tokens.html\n"
    "  echo '\"clear\"' | vitro tokenize tests/data/tokens/llama3-like.tokenizer.json --jsonl\n"
    "Ranges are bytes of the text; --jsonl gives offsets in code points too.";

struct Options {
  std::string model;
  ModelSearch search{.needs_weights = false};
  std::optional<std::string> text;
  std::optional<std::string> ids;
  std::string file;
  std::string encoding;
  int64_t vocab_size = 0;
  bool no_special = false;
  bool skip_special = false;
  bool no_parse_special = false;
  bool as_json = false;
  bool as_jsonl = false;
  bool has_decoded = false;
  bool is_count = false;
  std::optional<std::string> pair;
  std::optional<std::string> diff;
  std::optional<std::string> html;
  bool may_replace = false;

  EncodeOptions encode() const { return {.add_special = !no_special, .parse_special = !no_parse_special}; }
};

void add_options(CLI::App& app, Options& options) {
  add_model_option(
      app, options.model, options.search,
      "folder with tokenizer files, one of them (tokenizer.json, .model, .tiktoken, ...), a .gguf, or llama2.c's "
      "tokenizer (--vocab-size)")
      ->required();
  auto* text = app.add_option("TEXT", options.text, "the text; '-' or nothing reads it from the standard input");
  auto* ids = app.add_option("--ids", options.ids, "decode these ids, separated by commas, instead of encoding a text");
  app.add_flag("--no-special", options.no_special, "add no BOS or EOS")->excludes(ids);
  app.add_flag("--skip-special", options.skip_special, "with --ids: leave special tokens out of the text")->needs(ids);
  app.add_flag("--no-parse-special", options.no_parse_special,
               "special tokens written in the text are text like any other; without it they are tokens")
      ->excludes(ids);
  auto* encoding = app.add_option(
      "--encoding", options.encoding,
      "MODEL is a file of ranks (tiktoken) of this encoding; without it the file's name and size decide");
  app.add_option("--vocab-size", options.vocab_size, "MODEL is a llama2.c tokenizer with this many pieces")
      ->check(at_least(1))
      ->excludes(encoding);
  auto* json = app.add_flag("--json", options.as_json, "one JSON object instead of the table");
  auto* jsonl = app.add_flag("--jsonl", options.as_jsonl, "read one JSON string a line, write one JSON object a line");
  auto* file = app.add_option("--file", options.file, "read the text, or the lines of --jsonl, from this file");
  auto* decoded = app.add_flag("--decoded", options.has_decoded, "show the text that each token is, beside its piece");
  auto* count = app.add_flag("--count", options.is_count, "only count: tokens, characters, bytes, tokens a character");
  auto* pair =
      app.add_option("--pair", options.pair, "a second text, put together with the first as the tokenizer says");
  auto* diff =
      app.add_option("--diff", options.diff,
                     "another MODEL: where tokens of the text, added ones (BOS, EOS) or ids differ, and totals; "
                     "exit code 1 if anything does, 0 if nothing");
  auto* html =
      app.add_option("--html", options.html, "write the tokens as a coloured page to this file; - is the output");
  app.add_flag("--force", options.may_replace, "with --html: replace a file that exists")->needs(html);
  ids->excludes(text)->excludes(jsonl)->excludes(file);
  file->excludes(text);
  jsonl->excludes(json)->excludes(text);
  count->excludes(ids)->excludes(jsonl);
  diff->excludes(ids)->excludes(jsonl)->excludes(count);
  html->excludes(ids)->excludes(jsonl)->excludes(count)->excludes(diff)->excludes(json);
  pair->excludes(ids)->excludes(jsonl)->excludes(count)->excludes(diff)->excludes(html);
  decoded->excludes(ids)->excludes(count)->excludes(diff)->excludes(html)->excludes(pair);
  app.footer(kExample);
}

/// Paths of the MODELs that are names.
Status locate(Options& options) {
  VITRO_TRY(locate_model(options.model, options.search));
  return options.diff ? locate_model(*options.diff, options.search) : Status();
}

Result<std::unique_ptr<Tokenizer>> load(const Options& options) {
  if (options.vocab_size != 0) return load_llama2c_tokenizer(options.model, options.vocab_size);
  return open_tokenizer(options.model, options.encoding);
}

/// An --encoding where only leaving it out can help.
bool is_misused_encoding(const Options& options) {
  if (options.encoding.empty()) return false;
  const Result<bool> takes = model_takes_encoding(options.model);
  return takes && !*takes;
}

Result<std::string> jsonl_answer(const Tokenizer& tokenizer, std::string_view line, const Options& options) {
  if (line.size() > kMaxLineBytes) return fail(ErrorCode::kInvalidArgument, "a line longer than 64 MiB");
  VITRO_TRY_ASSIGN(const Value value, parse_json(line, "line"));
  const std::string* text = value.as_string();
  if (text == nullptr)
    return fail(ErrorCode::kInvalidArgument, "a JSON string is needed, this is {}", value.kind_name());
  VITRO_TRY_ASSIGN(const Encoding encoding, tokenizer.encode(*text, options.encode()));
  return encoding_json(tokenizer, *text, encoding, options.has_decoded);
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
    const Result<std::string> answer = jsonl_answer(tokenizer, line, options);
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
        json_quote(text), json_pieces(tokenizer, *ids));
  } else {
    put("{}\n", text);
  }
  return 0;
}

Result<std::string> input_text(const Options& options) {
  if (!options.file.empty()) return read_text(options.file);
  if (options.text && *options.text != "-") return *options.text;
  return read_text("-");
}

Result<int> run_diff(const Tokenizer& tokenizer, std::string_view text, const Options& options) {
  VITRO_TRY_ASSIGN(const std::unique_ptr<Tokenizer> other, open_tokenizer(*options.diff));
  Tokenised a{options.model, &tokenizer, {}}, b{*options.diff, other.get(), {}};
  VITRO_TRY_ASSIGN(a.encoding, tokenizer.encode(text, options.encode()));
  VITRO_TRY_ASSIGN(b.encoding, other->encode(text, options.encode()));
  return print_diff(text, a, b, options.as_json) ? 1 : 0;
}

Status write_page(const std::string& page, const std::string& path, bool may_replace) {
  if (path != "-") return write_file(path, page, may_replace);
  put_text(page);
  return {};
}

Status show_text(const Tokenizer& tokenizer, std::string_view text, const Options& options) {
  if (options.pair) {
    VITRO_TRY_ASSIGN(const Encoding both, tokenizer.encode_pair(text, *options.pair, options.encode()));
    print_pair(tokenizer, text, *options.pair, both, options.as_json);
    return {};
  }
  VITRO_TRY_ASSIGN(const Encoding encoding, tokenizer.encode(text, options.encode()));
  if (options.html)
    return write_page(tokens_page(tokenizer, options.model, text, encoding), *options.html, options.may_replace);
  if (options.is_count) {
    print_counts(text, encoding, options.as_json);
    return {};
  }
  if (options.as_json) {
    put("{}\n", encoding_json(tokenizer, text, encoding, options.has_decoded));
    return {};
  }
  print_table(tokenizer, encoding, options.has_decoded);
  if (is_terminal(STDOUT_FILENO)) print_colours(text, encoding);
  if (!flush_output()) return {};
  talk("{} {}, {} bytes; {}, {} pieces\n", encoding.ids.size(), encoding.ids.size() == 1 ? "token" : "tokens",
       text.size(), tokenizer.model_name(), tokenizer.vocab_size());
  return {};
}

/// The exit code.
Result<int> run_text(const Tokenizer& tokenizer, const Options& options) {
  VITRO_TRY_ASSIGN(const std::string text, input_text(options));
  if (options.diff) return run_diff(tokenizer, text, options);
  VITRO_TRY(show_text(tokenizer, text, options));
  return 0;
}

}  // namespace

int tokenize_command(std::span<const std::string> args) {
  CLI::App app("Text to token ids and back.");
  Options options;
  add_options(app, options);
  if (const std::optional<int> exit_code = parse_args(app, kName, args)) return *exit_code;
  if (const Status status = locate(options); !status) return report_error(kName, status.error());
  const Result<std::unique_ptr<Tokenizer>> tokenizer = load(options);
  if (!tokenizer) {
    report_error(kName, tokenizer.error());
    return is_misused_encoding(options) ? 2 : 1;
  }
  if (options.as_jsonl) return run_jsonl(**tokenizer, options);
  if (options.ids) return run_ids(**tokenizer, options);
  const Result<int> exit_code = run_text(**tokenizer, options);
  return exit_code ? *exit_code : report_error(kName, exit_code.error());
}

}  // namespace vitro
