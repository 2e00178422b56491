// PipelineTokenizer: the one tokenizer class. Every source (tokenizer.json, GGUF, llama2.c) is compiled into the parts
// below, which run in the order in which they stand: added tokens are cut out, the rest is normalised, cut into words,
// encoded, post-processed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "formats/mapped_file.h"
#include "text/text_steps.h"
#include "tokens/added_tokens.h"
#include "tokens/bpe.h"
#include "tokens/decoder.h"
#include "tokens/post_processor.h"
#include "tokens/token_model.h"
#include "tokens/tokenizer.h"
#include "tokens/unigram.h"
#include "tokens/vocabulary.h"
#include "tokens/whole_decode.h"
#include "tokens/word_level.h"
#include "tokens/wordpiece.h"

namespace vitro {

/// What a file says of the model, one alternative a kind.
using ModelSpec = std::variant<BpeSpec, UnigramSpec, WordPieceSpec, WordLevelSpec>;

/// Everything a tokenizer is, as data.
struct TokenizerParts {
  std::string model_name;
  Vocabulary vocabulary;
  ModelSpec model;
  std::vector<AddedToken> added;
  std::vector<TextStep> normalizers;
  std::vector<TextStep> pre_tokenizers;
  std::vector<PostStep> post_steps;
  DecodeSpec decode;
  std::vector<bool> is_special;  ///< by id; ids beyond the end are not
  TokenId bos_id = -1;
  TokenId eos_id = -1;
  std::optional<Truncation> truncation;  ///< the file's own rules
  std::optional<Padding> padding;
  std::optional<MappedFile> file;  ///< keeps the bytes that pieces point into
};

/// The parts of a GGUF vocabulary; pieces point into the file's bytes. Errors as load_gguf_tokenizer.
Result<TokenizerParts> read_gguf_vocabulary(const GgufFile& file);

class PipelineTokenizer final : public Tokenizer {
 public:
  /// Errors as the model's make() and apply_steps. Added tokens that are to be found in normalised text are normalised
  /// here.
  static Result<std::unique_ptr<Tokenizer>> make(TokenizerParts parts);

  Result<Encoding> encode(std::string_view text, const EncodeOptions& options) const override;
  Result<Encoding> encode_pair(std::string_view first, std::string_view second,
                               const EncodeOptions& options) const override;
  std::optional<Truncation> file_truncation() const override { return parts_.truncation; }
  std::optional<Padding> file_padding() const override { return parts_.padding; }
  std::string decode(std::span<const TokenId> ids, bool skip_special) const override;
  std::string token_bytes(TokenId id) const override;
  const DecodeSpec& decode_spec() const override { return parts_.decode; }
  std::optional<DecodePiece> decode_piece(TokenId id, bool skip_special) const override;
  std::string_view piece(TokenId id) const override { return parts_.vocabulary.piece(id); }
  TokenKind kind(TokenId id) const override { return parts_.vocabulary.kind(id); }
  bool is_special(TokenId id) const override;
  int64_t vocab_size() const override { return static_cast<int64_t>(parts_.vocabulary.size()); }
  TokenId bos_id() const override { return parts_.bos_id; }
  TokenId eos_id() const override { return parts_.eos_id; }
  TokenId find(std::string_view piece) const override { return parts_.vocabulary.find(piece); }
  std::string_view model_name() const override { return parts_.model_name; }

 private:
  explicit PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}
  Status sort_added_tokens();
  std::string_view decoded_form(TokenId id) const;
  /// One call of encode.
  struct Job {
    AddedTokens::Filter filter;
    TextBudget budget;
    Encoding out;
  };
  Result<Encoding> encode_texts(std::span<const std::string_view> texts, const EncodeOptions& options) const;
  Result<Encoding> encode_text(std::string_view text, TokenSource source, const EncodeOptions& options) const;
  Status encode_segment(AlignedText text, Job& job) const;
  Status encode_words(PieceList words, Job& job) const;

  // All constant after make().
  TokenizerParts parts_;
  std::unique_ptr<TokenModel> model_;  ///< refers to parts_.vocabulary
  /// Added tokens that the normalisers change: decoding starts from the changed text, and skips what is then written
  /// like a special token (the reference's rules).
  std::unordered_map<TokenId, std::string> normalized_pieces_;
  std::unordered_set<std::string> special_contents_;
  std::optional<WholeDecode> whole_decode_;  ///< for the steps that it knows
  AddedTokens raw_added_;                    ///< looked for in the text as given
  AddedTokens normalized_added_;             ///< looked for in the normalised text
};

}  // namespace vitro
