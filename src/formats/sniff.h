// What kind of file this is, by its first bytes, never by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace vitro {

enum class FileKind { kGguf, kSafetensors, kJson, kLlama2c, kPickle, kOldGgml, kUnknown };

/// A guess good enough to choose the reader, which then checks everything. llama2.c has no magic: a header whose seven
/// numbers are those of a model.
FileKind sniff(std::span<const std::byte> bytes);

/// Corrupt, with what to do, if something else was saved in a file's place: nothing, a web page, a Git LFS pointer.
Status check_is_no_stand_in(std::span<const std::byte> bytes, std::string_view where);

}  // namespace vitro
