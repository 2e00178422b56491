// The goldens of tests/golden by name, one list for all tests.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "model/arch/architecture.h"
#include "testing/shared_data.h"

namespace vitro::testing {

/// What the GGUF twin of a golden says of its model.
enum class TwinKind : uint8_t {
  kNone,      ///< no converter writes one
  kSameBits,  ///< everything
  kRounded,   ///< everything, but rotary factors rounded to float32: the last bits differ
  kSaysLess,  ///< a fact has no place in GGUF: it loads and runs as its metadata says, which is another model
};

struct Golden {
  const char* name;
  TwinKind twin = TwinKind::kSameBits;
  friend std::ostream& operator<<(std::ostream& out, const Golden& golden) { return out << golden.name; }
};

inline constexpr Golden kGoldens[] = {
    {"bloom"},
    {"cohere"},
    {"falcon-alibi", TwinKind::kNone},
    {"falcon-gqa"},
    {"falcon-mqa", TwinKind::kNone},
    {"gemma"},
    {"gemma2", TwinKind::kSaysLess},  // the divisor of the scores
    {"gemma3", TwinKind::kNone},
    {"glm", TwinKind::kNone},
    {"glm4"},
    {"gpt-neo-alternating", TwinKind::kNone},
    {"gpt-neox"},
    {"gpt-neox-serial"},
    {"gpt1", TwinKind::kNone},
    {"gpt2"},
    {"gpt2-scaled", TwinKind::kSaysLess},  // activation, scores scaled by layer
    {"gptj", TwinKind::kNone},
    {"granite"},
    {"llama-gqa"},
    {"llama-mha"},
    {"llama-mqa"},
    {"llama-rope-dynamic", TwinKind::kSaysLess},  // dynamic scaling
    {"llama-rope-linear"},
    {"llama-rope-llama3", TwinKind::kRounded},
    {"llama-rope-yarn"},
    {"mistral-sliding", TwinKind::kSaysLess},  // the window
    {"mpt", TwinKind::kNone},
    {"olmo2"},
    {"opt", TwinKind::kNone},
    {"opt-postnorm", TwinKind::kNone},
    {"phi2", TwinKind::kNone},
    {"phi3"},
    {"phi3-longrope", TwinKind::kRounded},
    {"qwen2"},
    {"qwen2-sliding", TwinKind::kSaysLess},  // the window
    {"qwen3"},
    {"smollm3"},
    {"stablelm"},
    {"starcoder2"},
};

inline std::filesystem::path golden_path(const Golden& golden) {
  return repo_path(std::string("tests/golden/") + golden.name);
}

/// The name as GoogleTest wants it.
inline std::string test_name(const Golden& golden) {
  std::string name = golden.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

}  // namespace vitro::testing
