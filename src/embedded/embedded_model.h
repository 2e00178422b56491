// The model in the program: a small Llama of our own, so that the main job works with no file and no network
// (docs/embedded-model.md). Its files lie in assets/embedded; the assembler puts them into the binary as they are.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// What stands for it where a path is expected; a file or folder of that name is ./embedded.
inline constexpr std::string_view kEmbeddedModel = "embedded";

/// The files, byte for byte; they last as long as the program.
std::string_view embedded_config();
std::string_view embedded_tokenizer();
std::span<const std::byte> embedded_weights();

/// The checkpoint over those bytes; nothing is copied.
Result<Checkpoint> open_embedded_checkpoint();
Result<std::unique_ptr<Tokenizer>> load_embedded_tokenizer();

}  // namespace vitro
