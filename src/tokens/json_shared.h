// Shared by the readers of tokenizer.json's components: lists of components, and the replacement that normalizers and
// decoders both have.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/value.h"
#include "text/text_steps.h"
#include "tokens/json_reader.h"

namespace vitro {

/// Of one kind, Sequences inside Sequences included; published files have up to five.
inline constexpr size_t kMaxComponents = 32;

/// Calls read(element, where) for each element of a Sequence's list.
Status each_of(JsonReader& reader, std::string_view key, const std::function<Status(const Value&, std::string)>& read);

/// "Replace": a pattern and what stands in its place.
Result<ReplaceStep> read_replace(JsonReader& reader);

}  // namespace vitro
