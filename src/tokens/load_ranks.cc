// Rank files: tiktoken's (base64 of the bytes, a space, the rank) and the same as a JSON object in the byte-level
// alphabet (Llama 3's encoder.json without merges). Two neighbours join if their bytes together have a rank, the
// lowest first; written out as merges that is every way to cut a piece into two pieces.
#include <algorithm>
#include <array>
#include <charconv>

#include "formats/json.h"
#include "formats/quote_name.h"
#include "text/base64.h"
#include "text/byte_level.h"
#include "tokens/load_sources.h"
#include "tokens/rank_encodings.h"

namespace vitro {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;  // the largest published file has 3.6 MB
constexpr size_t kMaxRankBytes = 512;               // of one piece; bounds the cuts that are looked up
constexpr std::string_view kWhere = "[ranks]";

struct Rank {
  std::string piece;  ///< in the byte-level alphabet
  int64_t rank = -1;
};

Result<Rank> read_line(std::string_view line, size_t number) {
  const size_t space = line.find(' ');
  Rank out;
  if (space != std::string_view::npos) {
    const std::string_view digits = line.substr(space + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.rank);
    const std::optional<std::string> bytes = from_base64(line.substr(0, space));
    if (error == std::errc() && end == digits.data() + digits.size() && bytes && !bytes->empty()) {
      out.piece = to_byte_level(*bytes);
      return out;
    }
  }
  return fail(ErrorCode::kCorrupt, "line {} is {}, not base64, a space and a rank", number, quote_name(line));
}

Result<std::vector<Rank>> read_lines(std::string_view text) {
  std::vector<Rank> out;
  for (size_t pos = 0, number = 1; pos < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', pos), text.size());
    std::string_view line = text.substr(pos, end - pos);
    if (line.ends_with('\r')) line.remove_suffix(1);
    pos = end + 1;
    if (line.empty()) continue;
    if (out.size() >= kMaxVocabulary) return fail(ErrorCode::kUnsupported, "more than {} ranks", kMaxVocabulary);
    VITRO_TRY_ASSIGN(Rank rank, read_line(line, number));
    out.push_back(std::move(rank));
  }
  return out;
}

Status add_specials(const RankEncoding& encoding, std::vector<Rank>& ranks, TokenizerParts& parts) {
  for (auto& [content, id] : encoding.special_tokens()) {
    const bool is_second_name = !parts.added.empty() && parts.added.back().id == id;
    parts.added.push_back({.id = id, .content = content, .is_special = true});
    if (!is_second_name) ranks.push_back({content, id});
  }
  return {};
}

/// Pieces by id; ids that nobody has become holes.
Result<Vocabulary> make_vocabulary(std::vector<Rank>& ranks, size_t n_special) {
  const size_t limit = std::min(kMaxVocabulary, 2 * ranks.size() + (size_t{1} << 18));
  size_t n_bytes = 0;
  TokenId last = -1;
  for (const Rank& rank : ranks) {
    if (rank.rank < 0 || static_cast<size_t>(rank.rank) >= limit) {
      return fail(ErrorCode::kCorrupt, "{} has the rank {}, outside 0 to {}", quote_name(rank.piece), rank.rank, limit);
    }
    n_bytes += rank.piece.size();
    last = std::max(last, static_cast<TokenId>(rank.rank));
  }
  const size_t n_plain = ranks.size() - n_special;
  std::vector<const Rank*> by_id(static_cast<size_t>(last + 1));
  for (const Rank& rank : ranks) {
    const Rank*& place = by_id[static_cast<size_t>(rank.rank)];
    if (place != nullptr) {
      return fail(ErrorCode::kCorrupt, "{} and {} have the same rank {}", quote_name(place->piece),
                  quote_name(rank.piece), rank.rank);
    }
    place = &rank;
  }
  VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(by_id.size(), n_bytes));
  for (const Rank* rank : by_id) {
    if (rank == nullptr) {
      out.add_hole();
      continue;
    }
    const bool is_special = static_cast<size_t>(rank - ranks.data()) >= n_plain;
    VITRO_TRY(out.add(rank->piece, is_special ? TokenKind::kControl : TokenKind::kNormal));
  }
  return out;
}

/// All cuts of one piece into two pieces, at the characters of the byte-level alphabet (one or two bytes each).
Status add_cuts(const Vocabulary& vocabulary, TokenId id, std::vector<MergeTable::Merge>& out) {
  const std::string_view piece = vocabulary.piece(id);
  if (piece.size() > 2 * kMaxRankBytes) {
    return fail(ErrorCode::kUnsupported, "piece {} is longer than {} bytes", id, kMaxRankBytes);
  }
  for (size_t cut = 1; cut < piece.size(); ++cut) {
    if ((static_cast<uint8_t>(piece[cut]) & 0xC0U) == 0x80) continue;
    const TokenId left = vocabulary.find(piece.substr(0, cut));
    if (left < 0 || vocabulary.kind(left) != TokenKind::kNormal) continue;
    const TokenId right = vocabulary.find(piece.substr(cut));
    if (right < 0 || vocabulary.kind(right) != TokenKind::kNormal) continue;
    if (out.size() >= kMaxVocabulary) return fail(ErrorCode::kUnsupported, "pieces with this many ways to cut them");
    out.push_back({left, right, static_cast<uint32_t>(id), id});
  }
  return {};
}

Result<MergeTable> make_merges(const Vocabulary& vocabulary) {
  for (size_t byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (vocabulary.find(to_byte_level({&c, 1})) < 0)
      return fail(ErrorCode::kCorrupt, "byte 0x{:02X} has no rank", byte);
  }
  std::vector<MergeTable::Merge> merges;
  for (TokenId id = 0; vocabulary.has(id); ++id) {
    if (vocabulary.kind(id) == TokenKind::kNormal) VITRO_TRY(add_cuts(vocabulary, id, merges));
  }
  MergeTable out(merges.size());
  for (const MergeTable::Merge& merge : merges) VITRO_TRY(out.add(merge));
  return out;
}

std::string known_names() {
  std::string out;
  for (const RankEncoding& e : rank_encodings()) out += (out.empty() ? "" : ", ") + std::string(e.name);
  return out;
}

Result<const RankEncoding*> choose(std::string_view wanted, std::string_view file_name, size_t n_ranks) {
  const RankEncoding* out = wanted.empty() ? guess_rank_encoding(file_name, n_ranks) : find_rank_encoding(wanted);
  if (out != nullptr) return out;
  if (!wanted.empty()) {
    return fail(ErrorCode::kUnsupported, "encoding {} is not known; known are {}", quote_name(wanted), known_names());
  }
  return fail(
      ErrorCode::kUnsupported,
      "{} with {} ranks is none of the published files, so how it cuts texts is not known; name the encoding: {}",
      quote_name(file_name), n_ranks, known_names());
}

Result<TokenizerParts> make_parts(std::vector<Rank> ranks, std::string_view file_name, std::string_view wanted) {
  VITRO_TRY_ASSIGN(const RankEncoding* encoding, choose(wanted, file_name, ranks.size()));
  TokenizerParts parts;
  const size_t n_plain = ranks.size();
  VITRO_TRY(add_specials(*encoding, ranks, parts));
  VITRO_TRY_ASSIGN(parts.vocabulary, make_vocabulary(ranks, ranks.size() - n_plain));
  BpeSpec spec;
  VITRO_TRY_ASSIGN(spec.merges, make_merges(parts.vocabulary));
  spec.options.takes_whole_words = true;
  for (TokenId id = 0; parts.vocabulary.has(id); ++id) {
    spec.is_added_only.push_back(parts.vocabulary.kind(id) == TokenKind::kControl);
  }
  parts.model = std::move(spec);
  parts.model_name = fmt::format("byte-level BPE ({})", encoding->name);
  if (encoding->normalizes_nfc) parts.normalizers.emplace_back(NormalFormStep{});
  VITRO_TRY_ASSIGN(SplitPattern pattern, SplitPattern::compile(encoding->pattern, RegexDialect::kFancyRegex));
  parts.pre_tokenizers.emplace_back(SplitStep{std::move(pattern), SplitBehavior::kIsolated, false});
  parts.is_special.resize(parts.vocabulary.size());
  for (const AddedToken& token : parts.added) parts.is_special[static_cast<size_t>(token.id)] = true;
  parts.decode = DecodeSpec::byte_level();
  parts.decode.keeps_added_pieces = true;
  return parts;
}

Status check_size(size_t n_bytes) {
  if (n_bytes <= kMaxFileBytes) return {};
  return fail(ErrorCode::kUnsupported, "{} bytes, at most {} are supported", n_bytes, kMaxFileBytes);
}

Result<TokenizerParts> read_text(std::string_view text, std::string_view file_name, std::string_view encoding) {
  VITRO_TRY(check_size(text.size()));
  VITRO_TRY_ASSIGN(std::vector<Rank> ranks, read_lines(text));
  return make_parts(std::move(ranks), file_name, encoding);
}

Result<TokenizerParts> read_json(std::string_view text, std::string_view file_name, std::string_view encoding) {
  VITRO_TRY(check_size(text.size()));
  VITRO_TRY_ASSIGN(const Value document, parse_json(text, file_name, {.max_depth = 2, .max_values = kMaxVocabulary}));
  const Value::Object* entries = document.as_object();
  if (entries == nullptr) return fail(ErrorCode::kCorrupt, "not an object of pieces and ranks");
  std::vector<Rank> ranks;
  for (const auto& [piece, rank] : *entries) {
    if (rank.as_int() == nullptr || piece.empty()) {
      return fail(ErrorCode::kCorrupt, "the rank of {} is no integer", quote_name(piece));
    }
    ranks.push_back({piece, *rank.as_int()});
  }
  return make_parts(std::move(ranks), file_name, encoding);
}

Result<TokenizerParts> in_ranks(Result<TokenizerParts> parts) {
  if (!parts) return fail(parts.error().in(kWhere));
  return parts;
}

}  // namespace

bool looks_like_ranks(std::string_view text) {
  const size_t end = text.substr(0, 1024).find_first_of("\r\n");
  return end != std::string_view::npos && read_line(text.substr(0, end), 1).has_value();
}

Result<TokenizerParts> read_ranks(std::string_view text, std::string_view file_name, std::string_view encoding) {
  return in_ranks(read_text(text, file_name, encoding));
}

Result<TokenizerParts> read_json_ranks(std::string_view text, std::string_view file_name, std::string_view encoding) {
  return in_ranks(read_json(text, file_name, encoding));
}

}  // namespace vitro
