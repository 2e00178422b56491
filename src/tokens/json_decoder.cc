// "decoder" of tokenizer.json. What is not written here is refused by name.
#include <algorithm>
#include <array>
#include <utility>

#include "formats/json.h"
#include "tokens/json_components.h"
#include "tokens/json_shared.h"

namespace vitro {
namespace {

constexpr size_t kMaxPieceGrowth = 16;  // of a piece by all replacements of the decoder

Status read_strip(JsonReader& reader, DecodeRules& out) {
  VITRO_TRY_ASSIGN(const std::string content, reader.string("content"));
  VITRO_TRY_ASSIGN(const int64_t start, reader.integer("start"));
  VITRO_TRY_ASSIGN(const int64_t stop, reader.integer("stop"));
  if (content != " " || start > 1 || start < 0 || stop != 0)
    return reader.unsupported("stripping anything but one leading space");
  out.strips_first_space = start == 1;
  return reader.finish();
}

/// The order in which decoders may follow each other: what comes after Fuse sees the whole text, what comes before it
/// one piece.
int decoder_stage(std::string_view type) {
  constexpr std::array<std::string_view, 5> kOrder = {"ByteLevel", "Replace", "ByteFallback", "Fuse", "Strip"};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), type) - kOrder.begin());
}

/// How many times as long a piece can become, at most; stops counting beyond kMaxPieceGrowth.
size_t growth_of(const std::vector<std::pair<std::string, std::string>>& replacements) {
  size_t growth = 1;
  for (const auto& [from, to] : replacements) {
    growth *= std::max<size_t>(1, (to.size() + from.size() - 1) / from.size());
    if (growth > kMaxPieceGrowth) break;
  }
  return growth;
}

Status read_decoder_at(const Value& value, const std::string& where, int& stage, DecodeRules& out) {
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(value, where));
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  const int previous = std::exchange(stage, decoder_stage(type));
  const bool is_in_order = previous < stage || (previous == stage && type == "Replace");
  if (!is_in_order || (type == "Strip" && previous != decoder_stage("Fuse"))) {
    return reader.unsupported("decoder " + json_quote(type) + " at this place");
  }
  if (type == "ByteLevel") {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) reader.skip(key);
    out.is_byte_level = true;
  } else if (type == "ByteFallback") {
    out.has_byte_fallback = true;
  } else if (type == "Replace") {
    VITRO_TRY_ASSIGN(ReplaceStep step, read_replace(reader));
    out.replacements.emplace_back(std::move(step.pattern), std::move(step.content));
    if (growth_of(out.replacements) > kMaxPieceGrowth)
      return reader.unsupported("a replacement that grows pieces so far");
  } else if (type == "Strip") {
    return read_strip(reader, out);
  } else if (type != "Fuse") {
    return reader.unsupported("decoder " + json_quote(type));
  }
  return reader.finish();
}

}  // namespace

Status read_decoder(const Value* value, DecodeRules& out) {
  if (value == nullptr || value->is_null())
    return fail(ErrorCode::kUnsupported, "decoder: a tokenizer without one is not supported");
  VITRO_TRY_ASSIGN(JsonReader reader, JsonReader::open(*value, "decoder"));
  VITRO_TRY_ASSIGN(const std::string type, reader.string("type"));
  int stage = -1;
  if (type != "Sequence") return read_decoder_at(*value, "decoder", stage, out);
  return each_of(reader, "decoders",
                 [&](const Value& v, std::string at) { return read_decoder_at(v, at, stage, out); });
}

}  // namespace vitro
