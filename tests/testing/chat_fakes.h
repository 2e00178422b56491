// For tests of conversations: a tokenizer with one id a byte, a few longer pieces and special tokens; a template in the
// manner of ChatML; a sequence that gives scripted ids and counts what it is fed.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/chat_session.h"

namespace vitro::testing {

/// Ids 0 to 255 are bytes, then pieces (the longest match wins), then special tokens.
class PieceTokenizer : public Tokenizer {
 public:
  static constexpr TokenId kHello = 256, kLl = 257, kBegin = 258, kEnd = 259, kBos = 260, kSize = 261;

  Result<Encoding> encode(std::string_view text, const EncodeOptions& options = {}) const override {
    Encoding out;
    const auto is_plain = [&](size_t pos) {
      return std::any_of(options.plain.begin(), options.plain.end(),
                         [&](const ByteRange& range) { return pos >= range.begin && pos < range.end; });
    };
    for (size_t pos = 0; pos < text.size();) {
      TokenId id = static_cast<unsigned char>(text[pos]);
      const TokenId n_known = options.parse_special && !is_plain(pos) ? kSize : kBegin;
      for (TokenId known = 256; known < n_known; ++known) {
        if (text.substr(pos).starts_with(piece(known)) && piece(known).size() > piece(id).size()) id = known;
      }
      const size_t n = id < 256 ? 1 : piece(id).size();
      out.ids.push_back(id);
      out.ranges.push_back({pos, pos + n});
      pos += n;
    }
    if (options.add_special) {
      out.ids.insert(out.ids.begin(), kBos);
      out.ranges.insert(out.ranges.begin(), ByteRange{});
    }
    return out;
  }
  Result<Encoding> encode_pair(std::string_view, std::string_view, const EncodeOptions&) const override {
    return fail(ErrorCode::kUnsupported, "pairs");
  }
  std::string decode(std::span<const TokenId> ids, bool skip_special) const override {
    std::string out;
    for (const TokenId id : ids) out += skip_special && is_special(id) ? "" : token_bytes(id);
    return out;
  }
  std::string token_bytes(TokenId id) const override {
    return id >= 0 && id < 256 ? std::string(1, static_cast<char>(id)) : std::string(piece(id));
  }
  const DecodeSpec& decode_spec() const override { return decode_; }
  std::optional<DecodePiece> decode_piece(TokenId id, bool skip_special) const override {
    if (id < 0 || id >= kSize || (skip_special && is_special(id))) return std::nullopt;
    return DecodePiece{id < 256 ? std::string_view(bytes_).substr(static_cast<size_t>(id), 1) : piece(id), true};
  }
  std::string_view piece(TokenId id) const override {
    constexpr std::array<std::string_view, 5> kPieces = {"hello", "ll", "<|begin|>", "<|end|>", "<bos>"};
    return id >= 256 && id < kSize ? kPieces[static_cast<size_t>(id - 256)] : std::string_view();
  }
  TokenKind kind(TokenId id) const override { return is_special(id) ? TokenKind::kControl : TokenKind::kNormal; }
  bool is_special(TokenId id) const override { return id >= kBegin; }
  int64_t vocab_size() const override { return kSize; }
  TokenId bos_id() const override { return kBos; }
  TokenId eos_id() const override { return kEnd; }
  TokenId find(std::string_view) const override { return -1; }
  std::string_view model_name() const override { return "pieces"; }

 private:
  static std::string all_bytes() {
    std::string out;
    for (int byte = 0; byte < 256; ++byte) out += static_cast<char>(byte);
    return out;
  }
  DecodeSpec decode_ = DecodeSpec::byte_level();
  std::string bytes_ = all_bytes();
};

/// "<bos><|begin|>user\nhi<|end|>\n<|begin|>assistant\n". Of earlier replies, what stands before "</think>" is left
/// out; an empty message of the user is refused.
inline Result<RenderedChat> render_fake(const ChatRequest& request) {
  RenderedChat out;
  const auto add_content = [&out](std::string_view text) {
    out.from_request.push_back({out.text.size(), out.text.size() + text.size()});
    out.text += text;
  };
  out.text = "<bos>";
  for (const Value& message : *request.messages.as_array()) {
    std::string content = *message.find("content")->as_string();
    if (chat_role(message) == "user" && content.empty()) return fail(ErrorCode::kInvalidArgument, "say something");
    if (const size_t end = content.find("</think>"); end != std::string::npos) content.erase(0, end + 8);
    out.text += "<|begin|>" + std::string(chat_role(message)) + "\n";
    add_content(content);
    out.text += "<|end|>\n";
  }
  if (request.add_generation_prompt) out.text += "<|begin|>assistant\n";
  return out;
}

/// After each feed the logits ask for the next id of the script; the end token when it has run out.
class ScriptedSequence : public Sequence {
 public:
  explicit ScriptedSequence(int64_t n_ctx) : n_ctx_(n_ctx) {}

  std::span<const int32_t> ids() const override { return ids_; }
  int64_t n_ctx() const override { return n_ctx_; }
  void begin(int64_t) override { ids_.clear(), ++n_begun; }
  void truncate(int64_t length) override { ids_.resize(std::min(ids_.size(), static_cast<size_t>(length))); }
  Result<std::span<const float>> feed(std::span<const int32_t> ids) override {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    fed.insert(fed.end(), ids.begin(), ids.end());
    logits_.assign(PieceTokenizer::kSize, 0.0F);
    const TokenId next = n_given_ < script_.size() ? script_[n_given_++] : PieceTokenizer::kEnd;
    logits_[static_cast<size_t>(next)] = 1.0F;
    return std::span<const float>(logits_);
  }
  /// What the next reply is.
  void will_say(std::vector<TokenId> script) { script_ = std::move(script), n_given_ = 0; }
  void will_say(std::string_view bytes) {
    std::vector<TokenId> ids;
    for (const char byte : bytes) ids.push_back(static_cast<unsigned char>(byte));
    will_say(std::move(ids));
  }

  std::vector<TokenId> fed;  ///< everything, in order
  int n_begun = 0;

 private:
  int64_t n_ctx_;
  std::vector<TokenId> ids_;
  std::vector<TokenId> script_;
  size_t n_given_ = 0;
  std::vector<float> logits_;
};

}  // namespace vitro::testing
