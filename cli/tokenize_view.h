// How tokens of a text are shown: tables, JSON, counts, cells of a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokens/tokenizer.h"

namespace vitro {

/// True for a token that the tokenizer put there (BOS, EOS).
bool is_added(const Encoding& encoding, size_t idx);

/// Neighbouring tokens that share characters, with the bytes that they are; a token that the tokenizer added is a cell
/// without bytes.
struct TokenCell {
  size_t first = 0;  ///< of the encoding
  size_t n = 0;
  ByteRange range;
};
std::vector<TokenCell> token_cells(const Encoding& encoding);

/// Code points of a text; broken parts count one each, as they are encoded.
size_t n_characters(std::string_view text);
/// "1.25 tokens a character"'s number.
double tokens_per_character(size_t n_tokens, std::string_view text);

/// Text without line breaks and other control characters.
std::string printable(std::string_view text);
/// The text of a token alone; bytes that are no whole character as \xHH.
std::string decoded(const Tokenizer& tokenizer, TokenId id);

/// {"ids":[],"tokens":[],"offsets":[],"byte_offsets":[]}, with "decoded" if asked for.
std::string encoding_json(const Tokenizer& tokenizer, std::string_view text, const Encoding& encoding,
                          bool has_decoded);
/// ["piece",...]
std::string json_pieces(const Tokenizer& tokenizer, const std::vector<TokenId>& ids);

/// id, bytes, piece and, if asked for, text of each token.
void print_table(const Tokenizer& tokenizer, const Encoding& encoding, bool has_decoded);
/// Two texts as one input: which text each token is of, its bytes there, its type id.
void print_pair(const Tokenizer& tokenizer, std::string_view first, std::string_view second, const Encoding& encoding,
                bool is_json);
/// The text again, each cell on the other one of two backgrounds.
void print_colours(std::string_view text, const Encoding& encoding);
/// Tokens, characters, bytes, tokens a character.
void print_counts(std::string_view text, const Encoding& encoding, bool is_json);

}  // namespace vitro
