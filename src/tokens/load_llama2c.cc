// llama2.c's tokenizer file (https://github.com/karpathy/llama2.c, tokenizer.py): int32 length of the longest piece,
// then for each piece a float32 score, an int32 length and the bytes. Spaces stand as spaces; ids 0, 1, 2 are unknown,
// BOS, EOS; bytes follow.
#include <cmath>
#include <cstring>
#include <span>

#include "base/read_file.h"
#include "tokens/pipeline_tokenizer.h"

namespace vitro {
namespace {

/// Little-endian values from the front of a buffer; nothing past its end.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t n_left() const { return bytes_.size(); }

  template <class T>
  bool read(T& out) {
    if (bytes_.size() < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return true;
  }
  bool read(std::string_view& out, size_t n_bytes) {
    if (bytes_.size() < n_bytes) return false;
    out = {reinterpret_cast<const char*>(bytes_.data()), n_bytes};
    bytes_ = bytes_.subspan(n_bytes);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
};

TokenKind kind_of(TokenId id, std::string_view piece) {
  if (id == 0) return TokenKind::kUnknown;
  if (id == 1 || id == 2) return TokenKind::kControl;
  return id < 3 + 256 && byte_token_value(piece) == id - 3 ? TokenKind::kByte : TokenKind::kNormal;
}

Status read_piece(Cursor& cursor, int32_t max_bytes, Vocabulary& out) {
  float score = 0;
  int32_t n_bytes = 0;
  std::string_view piece;
  const size_t id = out.size();
  if (!cursor.read(score) || !cursor.read(n_bytes)) return fail(ErrorCode::kCorrupt, "ends before piece {}", id);
  if (n_bytes < 0 || n_bytes > max_bytes) {
    return fail(ErrorCode::kCorrupt, "piece {} has {} bytes, the file says at most {}", id, n_bytes, max_bytes);
  }
  if (!cursor.read(piece, static_cast<size_t>(n_bytes))) return fail(ErrorCode::kCorrupt, "ends inside piece {}", id);
  if (std::isnan(score)) return fail(ErrorCode::kCorrupt, "the score of piece {} is not a number", id);
  return out.add(piece, kind_of(static_cast<TokenId>(id), piece), score);
}

Result<Vocabulary> read_vocabulary(std::span<const std::byte> bytes, int64_t vocab_size) {
  constexpr int64_t kMinVocabulary = 3 + 256;
  if (vocab_size < kMinVocabulary) {
    return fail(ErrorCode::kInvalidArgument,
                "a vocabulary of {} entries has no room for the bytes, at least {} are needed", vocab_size,
                kMinVocabulary);
  }
  Cursor cursor(bytes);
  int32_t max_bytes = 0;
  if (!cursor.read(max_bytes) || static_cast<uint64_t>(vocab_size) > cursor.n_left() / 8) {
    return fail(ErrorCode::kCorrupt, "{} bytes are too few for {} pieces", bytes.size(), vocab_size);
  }
  VITRO_TRY_ASSIGN(Vocabulary out, Vocabulary::with_room(static_cast<size_t>(vocab_size), bytes.size()));
  for (int64_t i = 0; i < vocab_size; ++i) VITRO_TRY(read_piece(cursor, max_bytes, out));
  if (cursor.n_left() > 0) {
    return fail(ErrorCode::kCorrupt, "{} bytes are left after {} pieces; is the vocabulary larger?", cursor.n_left(),
                vocab_size);
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_llama2c_tokenizer(const std::filesystem::path& path, int64_t vocab_size) {
  constexpr size_t kMaxFileBytes = size_t{64} << 20;  // 128,000 pieces are about 2 MB
  VITRO_TRY_ASSIGN(const std::string file, read_small_file(path, kMaxFileBytes));
  Result<Vocabulary> vocabulary = read_vocabulary(std::as_bytes(std::span(file)), vocab_size);
  if (!vocabulary) return fail(vocabulary.error().in(path.string()));
  TokenizerParts parts;
  parts.model_name = "SentencePiece BPE";
  parts.vocabulary = std::move(*vocabulary);
  parts.model = BpeSpec{.merges = MergeTable(),
                        .options = {.alphabet = BpeAlphabet::kCharacters,
                                    .order = BpeOrder::kScores,
                                    .has_byte_fallback = true,
                                    .unknown_id = 0}};
  parts.normalizers.emplace_back(PrependStep{.prefix = " "});
  parts.bos_id = 1;
  parts.eos_id = 2;
  parts.post_steps.emplace_back(AddSpecial{.before = {1}, .after = {}});
  parts.is_special = {true, true, true};
  parts.decode = DecodeSpec::sentencepiece(" ", SentencePieceDecode::Leading::kDropOne);
  parts.decode.keeps_added_pieces = true;
  return PipelineTokenizer::make(std::move(parts));
}

}  // namespace vitro
