#include "embedded/open_model.h"

namespace vitro {

Result<Checkpoint> open_checkpoint(const std::filesystem::path& model, const OpenOptions& options) {
  return model == kEmbeddedModel ? open_embedded_checkpoint() : Checkpoint::open(model, options);
}

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::filesystem::path& model, std::string_view encoding) {
  return model == kEmbeddedModel ? load_embedded_tokenizer() : load_tokenizer(model, encoding);
}

Result<ChatFiles> open_chat_files(const std::filesystem::path& model) {
  return model == kEmbeddedModel ? ChatFiles() : load_chat_files(model);
}

}  // namespace vitro
