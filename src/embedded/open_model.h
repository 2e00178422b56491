// What a located MODEL stands for, opened: a path, or the model in the program (kEmbeddedModel). Whoever opens what a
// user named goes through here, so that the reserved name works everywhere.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "embedded/embedded_model.h"
#include "formats/checkpoint.h"
#include "tokens/load_chat_files.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// As Checkpoint::open.
Result<Checkpoint> open_checkpoint(const std::filesystem::path& model, const OpenOptions& options = {});
/// As load_tokenizer.
Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::filesystem::path& model, std::string_view encoding = {});
/// As takes_encoding of its path.
Result<bool> model_takes_encoding(const std::filesystem::path& model);
/// As load_chat_files; the model in the program has no template.
Result<ChatFiles> open_chat_files(const std::filesystem::path& model);

}  // namespace vitro
