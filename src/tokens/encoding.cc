// The arithmetic of lengths.
#include "tokens/encoding.h"

#include <algorithm>

namespace vitro {
namespace {

constexpr size_t kMaxTokens = size_t{1} << 26;  // that overflow or padding may make of one text

Status check_size(size_t n_parts, size_t n_tokens) {
  if (n_parts == 0 || n_tokens <= kMaxTokens / n_parts) return {};
  return fail(ErrorCode::kUnsupported, "[tokenizer] {} parts of {} tokens are more than {} in all", n_parts, n_tokens,
              kMaxTokens);
}

template <class T>
void append(std::vector<T>& out, const std::vector<T>& next) {
  out.insert(out.end(), next.begin(), next.end());
}

/// Without overflow.
void append_tokens(Encoding& out, const Encoding& next) {
  append(out.ids, next.ids);
  append(out.ranges, next.ranges);
  append(out.type_ids, next.type_ids);
  append(out.sources, next.sources);
  append(out.is_cut_out, next.is_cut_out);
}

Encoding joined(const Encoding& first, const Encoding& second) {
  Encoding out{first.ids, first.ranges, first.type_ids, first.sources, first.is_cut_out, {}};
  append_tokens(out, second);
  return out;
}

template <class T>
std::vector<T> part_of(const std::vector<T>& all, ByteRange range) {
  return {all.begin() + static_cast<ptrdiff_t>(range.begin), all.begin() + static_cast<ptrdiff_t>(range.end)};
}

Encoding part_of(const Encoding& all, ByteRange range) {
  return {part_of(all.ids, range),     part_of(all.ranges, range),     part_of(all.type_ids, range),
          part_of(all.sources, range), part_of(all.is_cut_out, range), {}};
}

/// Ranges of tokens: the part that stays, then the overflow.
std::vector<ByteRange> cut_into_parts(size_t n, size_t max_length, const Truncation& options) {
  const size_t step = max_length - options.stride;
  std::vector<ByteRange> out;
  for (size_t begin = 0; begin < n; begin += step) {
    const size_t end = std::min(begin + max_length, n);
    out.push_back(options.side == Side::kRight ? ByteRange{begin, end} : ByteRange{n - end, n - begin});
    if (end == n) break;
  }
  return out;
}

Status cut(Encoding& text, size_t max_length, const Truncation& options) {
  const size_t n = text.size();
  if (max_length >= n) return {};
  if (max_length == 0) {
    Encoding all = std::move(text);
    text = Encoding{};
    text.overflow.push_back(std::move(all));
    return {};
  }
  if (options.stride >= max_length) {
    return fail(ErrorCode::kInvalidArgument,
                "[tokenizer] a stride of {} must be smaller than the {} tokens that truncation leaves of a text",
                options.stride, max_length);
  }
  VITRO_TRY(check_size(n / (max_length - options.stride) + 1, max_length));
  const std::vector<ByteRange> parts = cut_into_parts(n, max_length, options);
  Encoding out = part_of(text, parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) out.overflow.push_back(part_of(text, parts[i]));
  text = std::move(out);
  return {};
}

/// The shorter text keeps its tokens if it can; else both get half, the second one the odd token.
Status cut_longest(Encoding& first, Encoding& second, size_t max_length, const Truncation& options) {
  const bool is_first_longer = first.size() > second.size();
  size_t n_short = std::min(first.size(), second.size());
  size_t n_long = n_short > max_length ? n_short : std::max(n_short, max_length - n_short);
  if (n_short + n_long > max_length) {
    n_short = max_length / 2;
    n_long = n_short + max_length % 2;
  }
  VITRO_TRY(cut(first, is_first_longer ? n_long : n_short, options));
  return cut(second, is_first_longer ? n_short : n_long, options);
}

Status cut_only(Encoding& text, size_t n_too_many, const Truncation& options) {
  if (text.size() <= n_too_many) {
    return fail(ErrorCode::kInvalidArgument,
                "[tokenizer] truncation must take {} tokens from a text that has {}; allow more, or another strategy",
                n_too_many, text.size());
  }
  return cut(text, text.size() - n_too_many, options);
}

template <class T>
void fill(std::vector<T>& out, size_t n, const T& value, Side side) {
  out.insert(side == Side::kLeft ? out.begin() : out.end(), n, value);
}

void pad_to(Encoding& text, size_t length, const Padding& options) {
  for (Encoding& part : text.overflow) pad_to(part, length, options);
  if (text.size() >= length) return;
  const size_t n = length - text.size();
  fill(text.ids, n, options.id, options.side);
  fill(text.ranges, n, ByteRange{}, options.side);
  fill(text.type_ids, n, options.type_id, options.side);
  fill(text.sources, n, TokenSource::kPadding, options.side);
  fill(text.is_cut_out, n, false, options.side);
}

}  // namespace

Status append_encoding(Encoding& out, const Encoding& next) {
  const size_t n_parts = out.overflow.size() * (1 + next.overflow.size()) + next.overflow.size();
  VITRO_TRY(check_size(n_parts, out.size() + next.size()));
  std::vector<Encoding> overflow;
  for (const Encoding& part : out.overflow) {
    overflow.push_back(joined(part, next));
    for (const Encoding& other : next.overflow) overflow.push_back(joined(part, other));
  }
  for (const Encoding& other : next.overflow) overflow.push_back(joined(out, other));
  append_tokens(out, next);
  out.overflow = std::move(overflow);
  return {};
}

Status truncate(std::span<Encoding> texts, const Truncation& options, size_t n_added) {
  if (options.max_length < n_added) {
    return fail(ErrorCode::kInvalidArgument,
                "[tokenizer] a truncation to {} tokens has no room for the {} that the tokenizer adds",
                options.max_length, n_added);
  }
  const size_t max_length = options.max_length - n_added;
  size_t n_tokens = 0;
  for (const Encoding& text : texts) n_tokens += text.size();
  if (max_length == 0) {
    for (Encoding& text : texts) VITRO_TRY(cut(text, 0, options));
    return {};
  }
  if (n_tokens <= max_length) return {};
  const size_t n_too_many = n_tokens - max_length;
  switch (options.strategy) {
    case Truncation::Strategy::kLongestFirst:
      return texts.size() > 1 ? cut_longest(texts[0], texts[1], max_length, options)
                              : cut(texts[0], max_length, options);
    case Truncation::Strategy::kOnlyFirst:
      return cut_only(texts[0], n_too_many, options);
    case Truncation::Strategy::kOnlySecond:
      if (texts.size() > 1) return cut_only(texts[1], n_too_many, options);
      return fail(ErrorCode::kInvalidArgument, "[tokenizer] the second text is to be truncated, but there is only one");
  }
  return {};
}

Status pad(std::span<Encoding> batch, const Padding& options) {
  size_t length = 0;
  for (const Encoding& text : batch) length = std::max(length, text.size());
  length = options.fixed_length.value_or(length);
  VITRO_TRY(check_size(1, length));
  if (options.multiple_of > 0 && length % options.multiple_of > 0) {
    VITRO_TRY(check_size(1, options.multiple_of));
    length += options.multiple_of - length % options.multiple_of;
  }
  for (Encoding& text : batch) VITRO_TRY(check_size(1 + text.overflow.size(), length));
  for (Encoding& text : batch) pad_to(text, length, options);
  return {};
}

}  // namespace vitro
