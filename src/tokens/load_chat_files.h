// A model's chat templates and the strings they need, found in its files.
#pragma once

#include <filesystem>

#include "text/chat_template.h"

namespace vitro {

struct ChatFiles {
  struct Named {
    std::string name;  ///< "default", "tool_use"
    std::string source;
    std::string where;  ///< file and key, for messages
  };
  std::vector<Named> templates;
  Value::Object special_tokens;  ///< bos_token, eos_token, unk_token, pad_token, ...; keys that the files have

  /// The template of that name; without one "tool_use" where there are tools and it exists, else "default", else the
  /// only one. NotFound lists the names there are.
  Result<const Named*> choose(std::string_view name, bool has_tools) const;
};

/// From a folder (chat_template.jinja, additional_chat_templates/*.jinja, chat_template.json, tokenizer_config.json,
/// special_tokens_map.json), one of these files alone, or a .gguf (tokenizer.chat_template and its named ones, tokens
/// by their ids). A model without a template has none in the list. NotFound, IoError, Corrupt name the file.
Result<ChatFiles> load_chat_files(const std::filesystem::path& path);

}  // namespace vitro
