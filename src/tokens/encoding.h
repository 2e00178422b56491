// Encoding: the ids of a text or of a pair of texts, with where each comes from; and what may be done to the length of
// it: cutting off, filling up. The rules are those of the reference tokenizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/byte_range.h"

namespace vitro {

using TokenId = int32_t;

/// Which text a token stands in.
enum class TokenSource : uint8_t {
  kFirst,
  kSecond,
  kAdded,    ///< put there by the tokenizer (BOS, EOS)
  kPadding,  ///< fills up; the model is not to look at it
};

/// Vectors have one element an id.
struct Encoding {
  std::vector<TokenId> ids;
  /// Bytes of the given text (of `sources`); empty for tokens that the tokenizer added.
  std::vector<ByteRange> ranges;
  std::vector<int32_t> type_ids;  ///< "token_type_ids": 0 for the first text, 1 for the second, or as the file says
  std::vector<TokenSource> sources;
  std::vector<bool> is_cut_out;    ///< an added token that was found in the text, not made by the model
  std::vector<Encoding> overflow;  ///< what a truncation cut off, in parts

  size_t size() const { return ids.size(); }
};

enum class Side : uint8_t { kLeft, kRight };

/// How long a result may be, added tokens included, and what is cut off.
struct Truncation {
  enum class Strategy : uint8_t { kLongestFirst, kOnlyFirst, kOnlySecond };
  size_t max_length = 512;
  Strategy strategy = Strategy::kLongestFirst;
  Side side = Side::kRight;  ///< where tokens are cut off
  size_t stride = 0;         ///< tokens that a part of the overflow shares with its neighbour
};

/// How results are filled up to one length.
struct Padding {
  std::optional<size_t> fixed_length;  ///< none: the longest of the batch
  size_t multiple_of = 0;              ///< the length is raised to a multiple; 0: any length
  Side side = Side::kRight;
  TokenId id = 0;
  int32_t type_id = 0;
  std::string piece = "[PAD]";  ///< how `id` is written, as the file says
};

/// Appends `next`. Overflow parts are combined with each other, as the reference does: those of `out` with `next` and
/// with its parts, then `out` with the parts of `next`. Unsupported if that is more than 2^26 tokens.
Status append_encoding(Encoding& out, const Encoding& next);

/// Cuts one or two encodings so that together they have at most options.max_length - n_added tokens; the rest goes to
/// their overflow. InvalidArgument: a strategy for a second text that is not there, a text too short to cut, a stride
/// that leaves nothing, no room for n_added. Unsupported: an overflow beyond 2^26 tokens.
Status truncate(std::span<Encoding> texts, const Truncation& options, size_t n_added);

/// Fills all encodings and their overflow up to one length. Unsupported: a length beyond 2^26.
Status pad(std::span<Encoding> batch, const Padding& options);

}  // namespace vitro
