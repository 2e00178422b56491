// Steps -> stages. After Fuse and ByteLevel there is only one piece; the steps behind them are then simpler.
#include "tokens/decoder.h"

#include <array>
#include <utility>

#include "tokens/decode_stages.h"

namespace vitro {
namespace {

/// The reference's clean-up, in its order.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCleanUp = {{
    {" .", "."},
    {" ?", "?"},
    {" !", "!"},
    {" ,", ","},
    {" ' ", "'"},
    {" n't", "n't"},
    {" 'm", "'m"},
    {" do not", " don't"},
    {" 's", "'s"},
    {" 've", "'ve"},
    {" 're", "'re"},
}};

class ChainBuilder {
 public:
  ChainBuilder(const DecodeStream::Options& options, std::vector<std::unique_ptr<DecodeStage>>& out)
      : options_(options), out_(out) {}

  void add(const ByteLevelDecode&) {
    add_stage<ByteLevelStage>();
    is_single_ = true;
    if (options_.keeps_bytes) return;
    add_stage<Utf8Stage>();
    ends_in_utf8_ = true;
  }
  void add(const ByteFallbackDecode& step) {
    add_stage<ByteFallbackStage>(step.takes_whole_runs, options_.keeps_bytes);
  }
  void add(const FuseDecode&) {
    if (!is_single_) add_stage<FuseStage>();
    is_single_ = true;
  }
  void add(const StripDecode& step) {
    add_stage<StripStage>(step.content, step.n_start, step.n_end, options_.is_first || !is_single_);
  }
  void add(const ReplaceDecode& step) { add_replace(step.pattern, step.content); }
  void add(const RegexReplaceDecode& step) { add_stage<RegexReplaceStage>(step.pattern, step.content); }
  void add(const MetaspaceDecode& step) {
    if (is_single_) return add_replace(step.mark, step.drops_first ? "" : " ");
    add_stage<MetaspaceStage>(step.mark, step.drops_first, options_.is_first);
  }
  void add(const WordPieceDecode& step) {
    if (!is_single_) add_stage<SpacesStage>(step.prefix, options_.is_first);
    if (step.cleans_up) add_clean_up();
  }
  void add(const SentencePieceDecode& step) {
    add_stage<SentencePieceStage>(step.mark, step.leading, options_.is_first);
  }
  void add(const SpacesDecode&) {
    if (!is_single_) add_stage<SpacesStage>(std::nullopt, options_.is_first);
  }
  void add(const BpeDecode& step) {
    if (is_single_) return add_replace(step.suffix, "");
    add_stage<SuffixStage>(step.suffix, options_.keeps_bytes);
  }
  void add(const CtcDecode& step) {
    if (!is_single_) add_stage<DedupStage>();
    if (!step.pad.empty()) add_replace(step.pad, "");
    if (step.cleans_up) {
      add_clean_up();
      add_replace(step.delimiter, " ");
    }
    add_stage<DropEmptyStage>();
  }

  void end(std::string** out) {
    if (!ends_in_utf8_ && !options_.keeps_bytes) add_stage<Utf8Stage>();
    add_stage<OutputStage>(out);
    for (size_t i = 0; i + 1 < out_.size(); ++i) out_[i]->set_next(out_[i + 1].get());
  }

 private:
  template <class Stage, class... Args>
  void add_stage(Args&&... args) {
    out_.push_back(std::make_unique<Stage>(std::forward<Args>(args)...));
    ends_in_utf8_ = false;
  }
  void add_replace(std::string_view pattern, std::string_view content) {
    add_stage<ReplaceStage>(std::string(pattern), std::string(content));
  }
  void add_clean_up() {
    for (const auto& [from, to] : kCleanUp) add_replace(from, to);
  }

  const DecodeStream::Options& options_;
  std::vector<std::unique_ptr<DecodeStage>>& out_;
  bool is_single_ = false;  ///< there is one piece from here on
  bool ends_in_utf8_ = false;
};

}  // namespace

DecodeSpec DecodeSpec::byte_level() { return {.steps = {ByteLevelDecode{}}}; }

DecodeSpec DecodeSpec::sentencepiece(std::string mark, SentencePieceDecode::Leading leading) {
  return {.steps = {ByteFallbackDecode{.takes_whole_runs = false}, SentencePieceDecode{std::move(mark), leading}}};
}

DecodeStream::DecodeStream(const DecodeSpec& spec, const Options& options)
    : out_(std::make_unique<std::string*>(nullptr)) {
  ChainBuilder builder(options, stages_);
  for (const DecodeStep& step : spec.steps) std::visit([&](const auto& s) { builder.add(s); }, step);
  builder.end(out_.get());
}

DecodeStream::~DecodeStream() = default;
DecodeStream::DecodeStream(DecodeStream&&) noexcept = default;
DecodeStream& DecodeStream::operator=(DecodeStream&&) noexcept = default;

void DecodeStream::push(const DecodePiece& piece, std::string& out) {
  *out_ = &out;
  stages_.front()->feed({piece.text, true, piece.is_verbatim});
}

void DecodeStream::finish(std::string& out) {
  *out_ = &out;
  stages_.front()->finish();
}

}  // namespace vitro
