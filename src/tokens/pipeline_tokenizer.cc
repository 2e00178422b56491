// Encoding and decoding with the compiled parts.
#include "tokens/pipeline_tokenizer.h"

#include <array>
#include <utility>

namespace vitro {
namespace {

Status check_length(size_t n_bytes) {
  if (n_bytes <= kMaxTextBytes) return {};
  return fail(ErrorCode::kInvalidArgument,
              "[tokenizer] the text has {} bytes, at most {} (64 MiB) are supported; cut it into parts", n_bytes,
              kMaxTextBytes);
}

/// Neighbours joined and empty ones left out.
Result<std::vector<ByteRange>> joined_ranges(std::span<const ByteRange> ranges, size_t n_bytes) {
  std::vector<ByteRange> out;
  size_t pos = 0;
  for (const ByteRange& range : ranges) {
    if (range.begin < pos || range.end < range.begin || range.end > n_bytes) {
      return fail(ErrorCode::kInvalidArgument,
                  "[tokenizer] plain range {} to {} must lie after byte {}, in order, within {} bytes", range.begin,
                  range.end, pos, n_bytes);
    }
    pos = range.end;
    if (range.empty()) continue;
    if (!out.empty() && out.back().end == range.begin) {
      out.back().end = range.end;
    } else {
      out.push_back(range);
    }
  }
  return out;
}

void append(Encoding& out, TokenId id, ByteRange range) {
  out.ids.push_back(id);
  out.ranges.push_back(range);
}

void append_match(Encoding& out, TokenId id, ByteRange range) {
  out.is_cut_out.resize(out.ids.size());
  out.is_cut_out.push_back(true);
  append(out, id, range);
}

/// BPE maps bytes itself, by a table: the last step, which would write them out as characters, is then not taken.
void fold_byte_level(TokenizerParts& parts) {
  auto* spec = std::get_if<BpeSpec>(&parts.model);
  if (spec == nullptr || parts.pre_tokenizers.empty()) return;
  if (spec->options.has_byte_fallback) return;  // stands for bytes of the alphabet's characters, not of the text
  if (!std::holds_alternative<ByteLevelStep>(parts.pre_tokenizers.back())) return;
  parts.pre_tokenizers.pop_back();
  spec->options.alphabet = BpeAlphabet::kBytes;
}

Result<std::unique_ptr<TokenModel>> make_model(const Vocabulary& vocabulary, BpeSpec spec) {
  return Bpe::make(vocabulary, std::move(spec));
}
Result<std::unique_ptr<TokenModel>> make_model(const Vocabulary& vocabulary, UnigramSpec spec) {
  return Unigram::make(vocabulary, std::move(spec));
}
Result<std::unique_ptr<TokenModel>> make_model(const Vocabulary& vocabulary, WordPieceSpec spec) {
  return WordPiece::make(vocabulary, std::move(spec));
}
Result<std::unique_ptr<TokenModel>> make_model(const Vocabulary& vocabulary, WordLevelSpec spec) {
  return WordLevel::make(vocabulary, std::move(spec));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> PipelineTokenizer::make(TokenizerParts parts) {
  std::unique_ptr<PipelineTokenizer> out(new PipelineTokenizer(std::move(parts)));
  fold_byte_level(out->parts_);
  VITRO_TRY_ASSIGN(
      out->model_,
      std::visit([&](auto& spec) { return make_model(out->parts_.vocabulary, std::move(spec)); }, out->parts_.model));
  VITRO_TRY(out->sort_added_tokens());
  return std::unique_ptr<Tokenizer>(std::move(out));
}

Status PipelineTokenizer::sort_added_tokens() {
  std::vector<AddedToken> raw;
  std::vector<AddedToken> normalized;
  size_t n_bytes = 0;
  for (const AddedToken& token : parts_.added) n_bytes += token.content.size();
  TextBudget budget(n_bytes);  // for all contents together
  for (const AddedToken& token : parts_.added) {
    if (token.is_special) special_contents_.insert(token.content);
  }
  for (AddedToken& token : parts_.added) {
    if (!token.is_normalized || token.is_verbatim || parts_.normalizers.empty()) {
      (token.is_normalized ? normalized : raw).push_back(std::move(token));
      continue;
    }
    PieceList content = PieceList::whole(AlignedText::from(token.content));
    VITRO_TRY(apply_steps(parts_.normalizers, content, budget));
    const std::string original = std::exchange(token.content, std::string(content.text.text()));
    if (token.content != original) normalized_pieces_[token.id] = token.content;
    normalized.push_back(std::move(token));
  }
  parts_.added.clear();
  raw_added_ = AddedTokens(std::move(raw));
  normalized_added_ = AddedTokens(std::move(normalized));
  return {};
}

Result<Encoding> PipelineTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return encode_texts({&text, 1}, options);
}

Result<Encoding> PipelineTokenizer::encode_pair(std::string_view first, std::string_view second,
                                                const EncodeOptions& options) const {
  if (!options.plain.empty()) {
    return fail(ErrorCode::kInvalidArgument, "[tokenizer] plain ranges are for one text, not for a pair");
  }
  const std::array texts = {first, second};
  return encode_texts(texts, options);
}

Result<Encoding> PipelineTokenizer::encode_texts(std::span<const std::string_view> texts,
                                                 const EncodeOptions& options) const {
  std::vector<Encoding> parts;
  for (const std::string_view text : texts) {
    const TokenSource source = parts.empty() ? TokenSource::kFirst : TokenSource::kSecond;
    VITRO_TRY_ASSIGN(Encoding part, encode_text(text, source, options));
    parts.push_back(std::move(part));
  }
  if (options.truncation) {
    const size_t n_added = options.add_special ? count_added(parts_.post_steps, texts.size() > 1) : 0;
    VITRO_TRY(truncate(parts, *options.truncation, n_added));
  }
  const PostInput input{.tokenizer = this, .texts = texts, .add_special = options.add_special};
  VITRO_TRY_ASSIGN(Encoding out, apply_post_steps(parts_.post_steps, input, std::move(parts)));
  if (options.padding) VITRO_TRY(pad({&out, 1}, *options.padding));
  return out;
}

Result<Encoding> PipelineTokenizer::encode_text(std::string_view text, TokenSource source,
                                                const EncodeOptions& options) const {
  VITRO_TRY(check_length(text.size()));
  VITRO_TRY_ASSIGN(const std::vector<ByteRange> plain, joined_ranges(options.plain, text.size()));
  Job job{.filter = {options.parse_special, plain}, .budget = TextBudget(text.size()), .out = {}};
  Encoding& out = job.out;
  const AlignedText whole = AlignedText::from(text);
  VITRO_TRY(check_length(whole.text().size()));  // broken bytes become three each
  size_t pos = 0;
  for (const AddedTokens::Match& match : raw_added_.find_all(whole, job.filter)) {
    if (match.range.begin > pos) {
      VITRO_TRY(encode_segment(whole.slice({pos, match.range.begin}), job));
    }
    append_match(out, match.id, whole.origin(match.range));
    pos = match.range.end;
  }
  if (pos < whole.text().size()) {
    VITRO_TRY(encode_segment(whole.slice({pos, whole.text().size()}), job));
  }
  out.type_ids.assign(out.size(), source == TokenSource::kFirst ? 0 : 1);
  out.sources.assign(out.size(), source);
  out.is_cut_out.resize(out.size());
  return std::move(job.out);
}

Status PipelineTokenizer::encode_segment(AlignedText text, Job& job) const {
  PieceList list = PieceList::whole(std::move(text));
  VITRO_TRY(apply_steps(parts_.normalizers, list, job.budget));
  const std::vector<AddedTokens::Match> matches = normalized_added_.find_all(list.text, job.filter);
  if (matches.empty()) return encode_words(std::move(list), job);
  const size_t n_bytes = list.text.text().size();
  size_t pos = 0;
  for (const AddedTokens::Match& match : matches) {
    if (match.range.begin > pos) {
      VITRO_TRY(encode_words(PieceList::whole(list.text.slice({pos, match.range.begin})), job));
    }
    append_match(job.out, match.id, list.text.origin(match.range));
    pos = match.range.end;
  }
  if (pos < n_bytes) VITRO_TRY(encode_words(PieceList::whole(list.text.slice({pos, n_bytes})), job));
  return {};
}

Status PipelineTokenizer::encode_words(PieceList words, Job& job) const {
  VITRO_TRY(apply_steps(parts_.pre_tokenizers, words, job.budget));
  std::vector<TextToken> tokens;
  model_->encode(words.text.text(), words.pieces, tokens);
  for (const TextToken& token : tokens) {
    const ByteRange origin = words.text.origin(token.range);
    if (token.id < 0) {
      return fail(ErrorCode::kInvalidArgument,
                  "[tokenizer] bytes {} to {} of the text have no piece in the vocabulary, and it has no unknown token",
                  origin.begin, origin.end);
    }
    append(job.out, token.id, origin);
  }
  return {};
}

std::string PipelineTokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  DecodeStream stream(parts_.decode, {});
  std::string out;
  for (const TokenId id : ids) {
    if (const auto piece = decode_piece(id, skip_special)) stream.push(*piece, out);
  }
  stream.finish(out);
  return out;
}

std::optional<DecodePiece> PipelineTokenizer::decode_piece(TokenId id, bool skip_special) const {
  if (!parts_.vocabulary.has(id) || (skip_special && is_special(id))) return std::nullopt;
  const TokenKind kind = parts_.vocabulary.kind(id);
  const std::string_view piece = decoded_form(id);
  if (kind == TokenKind::kUnused && piece.empty()) return std::nullopt;  // a hole in the ids
  const bool is_added = kind == TokenKind::kControl || kind == TokenKind::kUserDefined || kind == TokenKind::kUnknown;
  const auto& unknown_text = parts_.decode.unknown_text;
  if (kind == TokenKind::kUnknown && unknown_text) return DecodePiece{*unknown_text, true};
  return DecodePiece{piece, is_added && parts_.decode.keeps_added_pieces};
}

/// The piece that decoding starts from.
std::string_view PipelineTokenizer::decoded_form(TokenId id) const {
  if (!normalized_pieces_.empty()) {
    if (const auto found = normalized_pieces_.find(id); found != normalized_pieces_.end()) return found->second;
  }
  return parts_.vocabulary.piece(id);
}

std::string PipelineTokenizer::token_bytes(TokenId id) const {
  std::string out;
  const auto piece = decode_piece(id, false);
  if (!piece) return out;
  DecodeStream stream(parts_.decode, {.is_first = false, .keeps_bytes = true});
  stream.push(*piece, out);
  stream.finish(out);
  return out;
}

bool PipelineTokenizer::is_special(TokenId id) const {
  if (id < 0 || static_cast<size_t>(id) >= parts_.is_special.size()) return false;
  if (!parts_.is_special[static_cast<size_t>(id)]) return false;
  // The reference compares what decoding starts from with the special tokens as they are written.
  return normalized_pieces_.count(id) == 0 || special_contents_.count(std::string(decoded_form(id))) > 0;
}

}  // namespace vitro
