// Verify: a model against stored results of a reference implementation, number by number. Two kinds of folders:
//   checkpoints  config.json + model.safetensors + expected.json (inputs, greedy) + expected.safetensors (logits.<i>,
//   hidden.<i>.<L>,
//                attn.<i>.<L>) + rope.safetensors (cos.<pos>, sin.<pos>)
//   real models  expected.json (rows: prompt, ids, top, greedy, gaps; nll) + expected.safetensors (logits.<row>, last
//   position)
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/kv_cache.h"
#include "ops/context.h"

namespace vitro {

/// Largest errors that pass. Row error = max|a - b| / L2 norm of the reference's row.
struct VerifyTolerance {
  double row_error = 1e-5;        ///< logits and hidden states of float32 checkpoints
  double attention_error = 1e-4;  ///< absolute, probabilities
  double top_error = 1e-3;        ///< absolute, log-probabilities of the stored most likely tokens (real models)
  double nll_error = 1e-5;        ///< absolute, mean loss
  double greedy_gap = 1e-3;       ///< greedy text may part where the reference's first two logits are closer than this
};

/// What was compared and how far apart it was. Negative: not in this folder.
struct VerifyReport {
  std::string name;
  std::string family;
  double logits_error = -1;
  double hidden_error = -1;
  double attention_error = -1;
  double rope_error = -1;  ///< in units of what the reference's float32 angles allow; passes up to 1
  double top_error = -1;
  double nll_error = -1;
  int64_t n_compared = 0;   ///< stored tensors that were compared (checkpoints)
  int64_t n_step_rows = 0;  ///< rows computed token by token and compared bit for bit with the whole pass
  int64_t n_greedy = 0;     ///< greedy tokens compared
  int64_t n_greedy_equal = 0;
  std::string repeated_fault;         ///< a mistake of the reference that explains every difference; empty: none needed
  std::vector<std::string> notes;     ///< what was seen and is fine (a tie)
  std::vector<std::string> failures;  ///< what does not pass; empty: verified
  double seconds = 0;

  bool passed() const { return failures.empty(); }
};

struct VerifyOptions {
  std::filesystem::path model;  ///< other weights for the folder's expectations; empty: the folder itself
  VerifyTolerance tolerance;
  int64_t page_size = 16;
  CacheType cache_type = CacheType::kF32;  ///< expectations are float32
};

/// Loads, runs with float32 activations, compares. Errors: files that cannot be read; a mismatch is a failure
/// in the report.
Result<VerifyReport> verify_folder(const std::filesystem::path& folder, const VerifyOptions& options, OpContext ctx);

}  // namespace vitro
