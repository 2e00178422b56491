#include "embedded/open_model.h"

#include "tokens/rank_encodings.h"

namespace vitro {

Result<Checkpoint> open_checkpoint(const std::filesystem::path& model, const OpenOptions& options) {
  return model == kEmbeddedModel ? open_embedded_checkpoint() : Checkpoint::open(model, options);
}

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const std::filesystem::path& model, std::string_view encoding) {
  if (model != kEmbeddedModel) return load_tokenizer(model, encoding);
  if (encoding.empty()) return load_embedded_tokenizer();
  return fail(ErrorCode::kInvalidArgument, "{}: an encoding is for a file of ranks (tiktoken); leave it out",
              kEmbeddedModel);
}

Result<bool> model_takes_encoding(const std::filesystem::path& model) {
  return model == kEmbeddedModel ? false : takes_encoding(model);
}

Result<ChatFiles> open_chat_files(const std::filesystem::path& model) {
  return model == kEmbeddedModel ? ChatFiles() : load_chat_files(model);
}

}  // namespace vitro
