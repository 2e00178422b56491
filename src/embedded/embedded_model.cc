#include "embedded/embedded_model.h"

// assets/embedded (cmake/embed.cmake): only their addresses mean anything.
extern "C" {
extern const char vitro_embedded_config[], vitro_embedded_config_end[];
extern const char vitro_embedded_tokenizer[], vitro_embedded_tokenizer_end[];
extern const char vitro_embedded_weights[], vitro_embedded_weights_end[];
}

namespace vitro {

std::string_view embedded_config() { return {vitro_embedded_config, vitro_embedded_config_end}; }

std::string_view embedded_tokenizer() { return {vitro_embedded_tokenizer, vitro_embedded_tokenizer_end}; }

std::span<const std::byte> embedded_weights() {
  return std::as_bytes(std::span(vitro_embedded_weights, vitro_embedded_weights_end));
}

Result<Checkpoint> open_embedded_checkpoint() {
  return Checkpoint::open(
      MemoryFolder{.name = kEmbeddedModel, .config = embedded_config(), .weights = embedded_weights()});
}

Result<std::unique_ptr<Tokenizer>> load_embedded_tokenizer() {
  return parse_tokenizer(embedded_tokenizer(), "embedded/tokenizer.json");
}

}  // namespace vitro
