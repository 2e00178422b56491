#include "tokens/whole_decode.h"

#include <algorithm>

#include "text/byte_level.h"
#include "text/utf8.h"
#include "tokens/decode_stages.h"

namespace vitro {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

template <class Step>
const Step* step_at(const DecodeSpec& spec, size_t idx) {
  return idx < spec.steps.size() ? std::get_if<Step>(&spec.steps[idx]) : nullptr;
}

}  // namespace

std::optional<WholeDecode> WholeDecode::make(const DecodeSpec& spec) {
  WholeDecode out;
  if (spec.steps.size() == 1 && step_at<ByteLevelDecode>(spec, 0) != nullptr) {
    out.is_byte_level_ = true;
    for (size_t c = 0; c < out.bytes_.size(); ++c) {
      out.bytes_[c] = static_cast<int16_t>(byte_level_value(static_cast<char32_t>(c)));
    }
    return out;
  }
  const auto* mark = step_at<ReplaceDecode>(spec, 0);
  const auto* fallback = step_at<ByteFallbackDecode>(spec, 1);
  const auto* strip = step_at<StripDecode>(spec, 3);
  const bool is_usual = mark != nullptr && fallback != nullptr && fallback->takes_whole_runs &&
                        step_at<FuseDecode>(spec, 2) != nullptr && !spec.keeps_added_pieces;
  if (!is_usual || spec.steps.size() != (strip == nullptr ? 3U : 4U)) return std::nullopt;
  if (strip != nullptr && (strip->n_end != 0 || strip->content.empty())) return std::nullopt;
  out.mark_ = *mark;
  if (strip != nullptr) out.strip_ = *strip;
  return out;
}

/// A piece with a character that is not in the alphabet is taken as it stands.
void WholeDecode::Text::push_byte_level(const DecodePiece& piece) {
  const std::string_view text = piece.text;
  const size_t start = out_.size();
  size_t pos = 0;
  while (pos < text.size() && !piece.is_verbatim) {
    const auto first = static_cast<uint8_t>(text[pos]);
    const bool is_pair = first >= 0xC2 && first < 0xC8 && pos + 1 < text.size();
    const size_t code = is_pair ? (first & 0x1FU) << 6 | (static_cast<uint8_t>(text[pos + 1]) & 0x3FU) : first;
    if ((first >= 0x80 && !is_pair) || rules_.bytes_[code] < 0) break;
    out_.push_back(static_cast<char>(rules_.bytes_[code]));
    pos += is_pair ? 2 : 1;
  }
  if (pos == text.size()) return;
  out_.resize(start);
  out_.append(text);
}

void WholeDecode::Text::push_marked(const DecodePiece& piece) {
  std::string_view text = piece.text;
  if (text.find(rules_.mark_.pattern) != std::string_view::npos) text = replace_marks(text);
  if (const int byte = decoded_byte(text); byte >= 0) {
    run_.push_back(static_cast<char>(byte));
    return;
  }
  if (!run_.empty()) end_run();
  out_.append(text);
}

std::string_view WholeDecode::Text::replace_marks(std::string_view text) {
  const ReplaceDecode& mark = rules_.mark_;
  replaced_.clear();
  for (size_t pos = 0; pos < text.size();) {
    const size_t found = std::min(text.find(mark.pattern, pos), text.size());
    replaced_.append(text.substr(pos, found - pos));
    if (found == text.size()) break;
    replaced_.append(mark.content);
    pos = found + mark.pattern.size();
  }
  return replaced_;
}

void WholeDecode::Text::end_run() {
  if (is_valid_utf8(run_)) {
    out_.append(run_);
  } else {
    for (size_t i = 0; i < run_.size(); ++i) out_.append(kReplacement);
  }
  run_.clear();
}

std::string WholeDecode::Text::take() {
  if (!run_.empty()) end_run();
  const StripDecode& strip = rules_.strip_;
  size_t n_cut = 0;
  for (size_t i = 0; i < strip.n_start && std::string_view(out_).substr(n_cut).starts_with(strip.content); ++i) {
    n_cut += strip.content.size();
  }
  out_.erase(0, n_cut);
  return is_valid_utf8(out_) ? std::move(out_) : replace_invalid_utf8(out_);
}

}  // namespace vitro
