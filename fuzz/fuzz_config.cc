// Any text as a config.json, and as GGUF or llama2.c settings of the same keys: through the registry to a whole
// description of a model, or an error that says why not. Nothing may crash, hang or grow without bound on the way.
#include "base/check.h"
#include "formats/json.h"
#include "model/arch/architecture.h"
#include "model/config.h"
#include "tensor/shape.h"

namespace {

void describe(vitro::SourceFormat format, const vitro::Value& config) {
  const auto family = vitro::find_architecture(format, config);
  if (!family) return;
  const auto model = (*family)->read_config(format, config);
  if (!model || !vitro::check_config(*model)) return;
  const auto slots = (*family)->tensor_slots(format, *model);
  VITRO_CHECK(!slots.empty());
  // What check_config accepts has sizes whose products fit, with room for four bytes an element (model/config.h).
  int64_t n_elements = 0;
  for (const vitro::TensorSlot& slot : slots) {
    VITRO_CHECK(!slot.sources.empty());
    const auto n = vitro::checked_elements(slot.shape);
    VITRO_CHECK(n && *n >= 0 && *n < (int64_t{1} << 61));
    n_elements += *n;
    VITRO_CHECK(n_elements < (int64_t{1} << 61));
  }
  // Both answers are fine; the refusal must say something.
  const vitro::Status runnable = vitro::check_runnable(*model);
  VITRO_CHECK(runnable || !runnable.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = vitro::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!config || config->as_object() == nullptr) return 0;
  to_string(*config);
  describe(vitro::SourceFormat::kHuggingFace, *config);
  describe(vitro::SourceFormat::kGguf, *config);
  describe(vitro::SourceFormat::kLlama2c, *config);
  return 0;
}
