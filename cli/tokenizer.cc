// vitro tokenizer train: text files in, a tokenizer.json out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/human.h"
#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "formats/json.h"
#include "tokens/train/train_tokenizer.h"

namespace vitro {
namespace {

constexpr std::string_view kName = "tokenizer train";
constexpr const char* kUsage =
    "usage: vitro tokenizer train FILE... [OPTIONS]\n\n"
    "  train   learn a vocabulary from text files and write it as tokenizer.json\n\n"
    "'vitro tokenizer train --help' shows the options and an example.\n";
constexpr const char* kExample =
    "Example:\n"
    "  vitro tokenizer train tests/data/real/text.txt --vocab-size 400 --special '<|end|>' --output "
    "build/tokenizer.json --force\n"
    "Lines are looked at one by one. Special tokens written in the text are text. Other libraries load the file, too.";

struct Options {
  std::vector<std::string> files;
  std::string model = "bpe";
  TokenizerTraining training;
  std::string output;
  bool may_replace = false;
  bool as_json = false;
};

void add_vocabulary_options(CLI::App& app, Options& options) {
  TokenizerTraining& training = options.training;
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->group("Vocabulary");
  };
  add("--model", options.model, "bpe (over bytes), wordpiece or unigram")
      ->capture_default_str()
      ->check(CLI::IsMember({"bpe", "wordpiece", "unigram"}));
  add("--vocab-size", training.vocab_size, "pieces, special tokens included")
      ->capture_default_str()
      ->check(at_least(1));
  add("--special", training.special_tokens,
      "a special token, repeatable; they get the first ids (default: none; wordpiece: [PAD] [UNK] [CLS] [SEP] [MASK])")
      ->allow_extra_args(false);
  add("--min-frequency", training.min_frequency, "bpe, wordpiece: join no pair that is seen less often (default: 2)")
      ->check(at_least(0));
  add("--limit-alphabet", training.limit_alphabet,
      "wordpiece: keep this many different characters, the most frequent ones (default: 1000)")
      ->check(at_least(1));
  add("--max-token-length", training.max_token_length,
      "characters (bpe: bytes) a piece may have, pairs apart (default: bpe any, unigram 16)")
      ->check(at_least(1));
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.files, "text files")->required();
  add_vocabulary_options(app, options);
  app.add_option(
         "--pattern", options.training.pattern,
         "bpe: how text is cut into words, as a regular expression or by the name that GGUF files give the way of "
         "a family (tokenizer.ggml.pre); default: as ByteLevel does it by itself")
      ->group("Text");
  app.add_option(
         "--normalizer", options.training.normalizer,
         fmt::format("{} (default: bpe none, wordpiece bert, unigram nfkc)", fmt::join(normalizer_names(), ", ")))
      ->group("Text");
  app.add_option("--output", options.output, "where to write tokenizer.json")->required()->group("Output");
  app.add_flag("--force", options.may_replace, "replace the output if it exists")->group("Output");
  app.add_flag("--json", options.as_json, "one JSON object instead of a sentence")->group("Output");
  app.footer(kExample);
}

/// Before the work, not after it.
Status check_output(const Options& options) {
  const std::filesystem::path path = options.output;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fail(ErrorCode::kNotFound, "--output {}: there is no folder {}", options.output, folder.string());
  }
  if (!options.may_replace && std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::kInvalidArgument, "--output {}: exists already; --force replaces it", options.output);
  }
  return {};
}

/// One bar for each stage.
class StageProgress {
 public:
  void update(std::string_view stage, int64_t n_done, int64_t n_total) {
    if (stage != stage_) {
      stage_ = stage;
      bar_ = std::make_unique<Progress>(stage_);
    }
    bar_->update(n_done, n_total);
  }

 private:
  std::string stage_;
  std::unique_ptr<Progress> bar_;
};

Result<TrainedTokenizer> train(const Options& options) {
  VITRO_TRY(check_output(options));
  StageProgress progress;
  const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
  VITRO_TRY_ASSIGN(TrainedTokenizer trained,
                   train_tokenizer(files, options.training, [&](std::string_view stage, int64_t done, int64_t total) {
                     progress.update(stage, done, total);
                   }));
  VITRO_TRY(write_file(options.output, trained.json, options.may_replace));
  return trained;
}

void print_json(const Options& options, const TrainedTokenizer& trained, double seconds) {
  const auto integer = [](auto n) { return Value(static_cast<int64_t>(n)); };
  Value::Object out = {{"output", Value(options.output)},
                       {"model", Value(options.model)},
                       {"pieces", integer(trained.n_pieces)},
                       {"merges", integer(trained.n_merges)},
                       {"words", integer(trained.n_words)},
                       {"distinct_words", integer(trained.n_distinct)},
                       {"seconds", Value(seconds)}};
  if (trained.loss) out.emplace_back("nats_per_word", Value(*trained.loss));
  put_json(Value(std::move(out)));
}

void print_sentence(const Options& options, const TrainedTokenizer& trained, double seconds) {
  put("{}: {} pieces from {} words, {} of them different, in {:.2f} s\n", options.output, trained.n_pieces,
      trained.n_words, trained.n_distinct, seconds);
  if (trained.loss) put("a word costs {:.4f} nats\n", *trained.loss);
  if (trained.n_pieces != options.training.vocab_size) {
    talk("{} were asked for: {}\n", options.training.vocab_size,
         trained.n_pieces > options.training.vocab_size ? "the special tokens and the alphabet alone are more"
                                                        : "the text has no more to join");
  }
}

int train_command(std::span<const std::string> args) {
  CLI::App app("Learn a tokenizer's vocabulary from text files.");
  Options options;
  add_options(app, options);
  if (const std::optional<int> exit_code = parse_args(app, kName, args)) return *exit_code;
  options.training.model = trained_model_from_name(options.model).value_or(TrainedModel::kBpe);
  if (const auto recipe = make_recipe(options.training); !recipe) {
    report_error(kName, recipe.error());
    return 2;
  }
  const double start = now_seconds();
  const Result<TrainedTokenizer> trained = train(options);
  if (!trained) return report_error(kName, trained.error());
  const double seconds = now_seconds() - start;
  if (options.as_json) {
    print_json(options, *trained, seconds);
  } else {
    print_sentence(options, *trained, seconds);
  }
  return 0;
}

}  // namespace

int tokenizer_command(std::span<const std::string> args) {
  if (!args.empty() && args[0] == "train") return train_command(args.subspan(1));
  if (!args.empty() && (args[0] == "--help" || args[0] == "-h")) {
    put_text(kUsage);
    return 0;
  }
  if (args.empty()) {
    talk("{}", kUsage);
  } else {
    talk("vitro tokenizer: unknown command '{}'; did you mean 'train'?\n", args[0]);
  }
  return 2;
}

}  // namespace vitro
