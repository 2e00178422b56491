// Text <-> token ids. One immutable object, made from tokenizer.json, a GGUF vocabulary or llama2.c's tok512.bin; safe
// to share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/gguf.h"
#include "text/byte_range.h"
#include "tokens/decoder.h"
#include "tokens/encoding.h"

namespace vitro {

struct EncodeOptions {
  bool add_special = true;    ///< BOS / EOS as the tokenizer says
  bool parse_special = true;  ///< special tokens written out in the text become their ids; false: they are text
  /// Bytes of the text in which nothing is parsed: a special token that has any of them in it is text (what a user
  /// wrote into a chat template). Ascending, not overlapping; they change nothing else.
  std::span<const ByteRange> plain = {};
  /// Done only if asked for, even where the file has rules of its own (Tokenizer::file_truncation).
  std::optional<Truncation> truncation = std::nullopt;
  std::optional<Padding> padding = std::nullopt;
};

/// How a vocabulary entry is used.
enum class TokenKind : uint8_t { kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// InvalidArgument for plain ranges that are not ascending ranges of the text, for bytes that the vocabulary has no
  /// piece for (where it has no unknown token), and for text over 64 MiB (counted with three bytes for each broken
  /// one), Unsupported if the tokenizer's own steps make it longer than that or many times as long. Text that is not
  /// UTF-8 is encoded with U+FFFD in place of broken parts; ranges still point into the bytes given. n log n in the
  /// text's length.
  virtual Result<Encoding> encode(std::string_view text, const EncodeOptions& options = {}) const = 0;

  /// Two texts as one input, put together as the post-processor says ([CLS] A [SEP] B [SEP]). Errors as encode;
  /// InvalidArgument for plain ranges, which are of one text.
  virtual Result<Encoding> encode_pair(std::string_view first, std::string_view second,
                                       const EncodeOptions& options = {}) const = 0;
  /// The file's own rules for lengths, which encode does not apply by itself: libraries over the reference override
  /// them too.
  virtual std::optional<Truncation> file_truncation() const { return std::nullopt; }
  virtual std::optional<Padding> file_padding() const { return std::nullopt; }

  /// Text of the ids; with skip_special, control tokens give nothing. Ids out of range give nothing. Broken bytes
  /// become U+FFFD as in the reference (tokens/decoder.h). Equals what StreamDecoder gives out for the same ids.
  virtual std::string decode(std::span<const TokenId> ids, bool skip_special) const = 0;

  /// The bytes that token `id` adds to a text when it is not the first token (byte tokens give their byte, byte-level
  /// pieces are mapped back, the SentencePiece space mark is a space). Empty for ids out of range. May be part of a
  /// character.
  virtual std::string token_bytes(TokenId id) const = 0;
  /// How pieces become text, and what goes in there for a token: nothing for ids out of range and, with skip_special,
  /// for special tokens.
  virtual const DecodeSpec& decode_spec() const = 0;
  virtual std::optional<DecodePiece> decode_piece(TokenId id, bool skip_special) const = 0;

  /// The entry as the vocabulary writes it ("Ġthe", "▁the", "<0x0A>"); empty for ids out of range.
  virtual std::string_view piece(TokenId id) const = 0;
  virtual TokenKind kind(TokenId id) const = 0;
  /// True for tokens that decode leaves out with skip_special.
  virtual bool is_special(TokenId id) const = 0;
  virtual int64_t vocab_size() const = 0;

  /// Special ids; -1 where there is none.
  virtual TokenId bos_id() const = 0;
  virtual TokenId eos_id() const = 0;
  /// Id of an entry written exactly so, or -1.
  virtual TokenId find(std::string_view piece) const = 0;
  /// "byte-level BPE", "SentencePiece BPE", for people.
  virtual std::string_view model_name() const = 0;
};

/// Tokenizer files of a model: a folder, in which the first of these counts: tokenizer.json, a SentencePiece *.model, a
/// *.tiktoken, vocab.json with merges.txt, encoder.json with vocab.bpe or alone, vocab.txt; one such file; or a .gguf.
/// `encoding` says how a rank file (*.tiktoken) cuts texts where its name and size do not. NotFound names what was
/// looked for; Unsupported names the component that is not implemented (unknown pre-tokenizers are refused, never
/// guessed).
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::filesystem::path& path, std::string_view encoding = {});
/// The text of a tokenizer.json; `where` names it in errors.
Result<std::unique_ptr<Tokenizer>> parse_tokenizer(std::string_view text, std::string_view where);
/// From a GGUF that is already open; its bytes must outlive the tokenizer. NotFound for tokenizer.ggml.model ==
/// "no_vocab" or none.
Result<std::unique_ptr<Tokenizer>> load_gguf_tokenizer(const GgufFile& file);
/// llama2.c's tokenizer file (max length, then score, length and bytes of each piece); vocab_size from the checkpoint.
Result<std::unique_ptr<Tokenizer>> load_llama2c_tokenizer(const std::filesystem::path& path, int64_t vocab_size);

}  // namespace vitro
