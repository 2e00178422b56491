// Verification of small checkpoints: everything the reference stored, for each of its inputs.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "inspect/record.h"
#include "inspect/verify_internal.h"
#include "sample/sampler.h"

namespace vitro {
namespace {

// One input of the folder.
struct InputCase {
  size_t idx;
  std::vector<int32_t> ids;
};

// What cannot be compared is not verified.
void miss(const Verification& v, const std::string& name) {
  v.report.failures.push_back(fmt::format("{}: not in the folder in a form that can be compared", name));
}

void compare_rows(const Verification& v, const Recorded* ours, const std::string& name, double& worst) {
  const auto stored = v.expected.tensors->find(name);
  if (!stored || !ours) return miss(v, name);
  ++v.report.n_compared;
  if (ours->n_rows() != stored->n_rows || ours->width != stored->width) {
    v.report.failures.push_back(fmt::format("{}: [{}, {}], the reference has [{}, {}]", name, ours->n_rows(),
                                            ours->width, stored->n_rows, stored->width));
    return;
  }
  double error = 0;
  for (int64_t t = 0; t < stored->n_rows; ++t) {
    error = std::max(error, row_error(ours->row(t), stored->row(t), stored->width));
  }
  v.judge(error, v.options.tolerance.row_error, name, worst);
}

// The reference stores [n_head, T, T], masked entries 0; our rows hold only the keys they see.
void compare_attention(const Verification& v, const Recorder::Pattern* pattern, const std::string& name) {
  const auto stored = v.expected.tensors->find(name);
  if (!stored || !pattern || pattern->empty()) return miss(v, name);
  ++v.report.n_compared;
  const auto n_rows = static_cast<int64_t>(pattern->front().size());
  if (stored->width != n_rows || stored->n_rows != n_rows * static_cast<int64_t>(pattern->size())) {
    v.report.failures.push_back(fmt::format("{}: {} heads of {} rows, the reference has {} rows of {}", name,
                                            pattern->size(), n_rows, stored->n_rows, stored->width));
    return;
  }
  double error = 0;
  std::vector<float> dense(static_cast<size_t>(n_rows));
  for (size_t h = 0; h < pattern->size(); ++h) {
    for (int64_t t = 0; t < n_rows; ++t) {
      const Recorder::PatternRow& row = (*pattern)[h][static_cast<size_t>(t)];
      std::fill(dense.begin(), dense.end(), 0.0F);
      std::copy(row.probs.begin(), row.probs.end(), dense.begin() + row.first_key);
      error = std::max(error, absolute_error(dense.data(), stored->row(static_cast<int64_t>(h) * n_rows + t), n_rows));
    }
  }
  v.judge(error, v.options.tolerance.attention_error, name, v.report.attention_error);
}

void compare_recorded(const Verification& v, const Recorder& recorder, size_t idx) {
  const int64_t n_layer = v.model->config.n_layer();
  compare_rows(v, recorder.find(HookPoint::kLogits, -1), fmt::format("logits.{}", idx), v.report.logits_error);
  for (int64_t layer = 0; layer < n_layer; ++layer) {
    compare_rows(v, recorder.find(HookPoint::kResidPre, layer), fmt::format("hidden.{}.{}", idx, layer),
                 v.report.hidden_error);
    // Maps are large: folders may leave out those between the first and the last layer.
    const std::string map = fmt::format("attn.{}.{}", idx, layer);
    const bool is_outer = layer == 0 || layer + 1 == n_layer;
    if (is_outer || v.expected.tensors->find(map)) compare_attention(v, recorder.pattern(layer), map);
  }
  compare_rows(v, recorder.find(HookPoint::kFinalNormOut, -1), fmt::format("hidden.{}.{}", idx, n_layer),
               v.report.hidden_error);
}

// Whole pass with everything recorded, then token by token.
Status verify_input(const Verification& v, const InputCase& input) {
  const auto n_ids = static_cast<int64_t>(input.ids.size());
  VITRO_TRY_ASSIGN(Session session, v.session(n_ids, n_ids, n_ids));
  Recorder recorder({HookPoint::kResidPre, HookPoint::kFinalNormOut, HookPoint::kLogits, HookPoint::kPattern});
  session.set_hooks(&recorder);
  session.begin(0, {.prompt_len = n_ids});
  VITRO_TRY(session.feed_all(0, input.ids, [](int64_t, const Rows&) {}));
  session.set_hooks(nullptr);
  compare_recorded(v, recorder, input.idx);
  const Recorded* logits = recorder.find(HookPoint::kLogits, -1);
  return compare_steps(v, session, input.ids, 0, n_ids, {logits->values.data(), logits->n_rows(), logits->width});
}

Status verify_greedy(const Verification& v, const InputCase& input, std::span<const int32_t> expected_ids) {
  const auto n_prompt = static_cast<int64_t>(input.ids.size());
  VITRO_TRY_ASSIGN(Session session, v.session(n_prompt + static_cast<int64_t>(expected_ids.size()), n_prompt, 1));
  session.begin(0, {.prompt_len = n_prompt});
  VITRO_TRY_ASSIGN(std::span<const float> logits, session.feed(0, input.ids));
  for (size_t step = 0; step < expected_ids.size(); ++step) {
    const std::array next{static_cast<int32_t>(argmax(logits))};
    ++v.report.n_greedy;
    if (next[0] != expected_ids[step]) {
      const double gap = logits[static_cast<size_t>(next[0])] - logits[static_cast<size_t>(expected_ids[step])];
      v.report.failures.push_back(
          fmt::format("greedy text of input {} parts at step {}: {} instead of {}, our gap {:.2e}", input.idx, step,
                      next[0], expected_ids[step], gap));
      return {};
    }
    ++v.report.n_greedy_equal;
    if (step + 1 == expected_ids.size()) break;
    VITRO_TRY_ASSIGN(logits, session.feed(0, next));
  }
  return {};
}

// Which rotary kind a stored table is of: families with two name them by the layers that use them.
int rope_kind(const Model& model, std::string_view prefix) {
  for (int64_t layer = 0; layer < model.config.n_layer(); ++layer) {
    const int kind = model.rope_kind_of[static_cast<size_t>(layer)];
    const bool is_window = model.config.blocks[static_cast<size_t>(layer)].attn.mask == MaskKind::kWindow;
    if (kind >= 0 && (prefix.empty() || is_window == (prefix == "sliding_attention."))) return kind;
  }
  return -1;
}

// Reference tables repeat every angle, as two halves or in place; families with adjacent pairs have either.
bool is_repeated_in_place(std::span<const float> stored, size_t n_pairs) {
  if (stored.size() != 2 * n_pairs) return false;
  for (size_t i = 0; i < n_pairs; ++i) {
    if (stored[2 * i] != stored[2 * i + 1]) return false;
  }
  return true;
}

// The reference forms an angle as float32 frequency x float32 position, so its own error grows with both.
double rope_table_error(const Rotary& rotary, int64_t pos, bool is_cos, std::span<const float> stored) {
  const size_t n_pairs = rotary.frequencies.size();
  const bool is_in_place = is_repeated_in_place(stored, n_pairs);
  double worst = 0;
  for (size_t at = 0; at < stored.size(); ++at) {
    const size_t i = is_in_place ? at / 2 : at % n_pairs;
    const double angle = static_cast<double>(pos) * rotary.frequencies[i];
    const double ours = rotary.attention_factor * (is_cos ? std::cos(angle) : std::sin(angle));
    const double allowed = 1e-6 + std::ldexp(angle, -22);
    worst = std::max(worst, std::abs(ours - static_cast<double>(stored[at])) / allowed);
  }
  return worst;
}

void verify_rope_entry(const Verification& v, const std::string& name) {
  const size_t last_dot = name.rfind('.');
  if (last_dot == std::string::npos || last_dot < 3) return miss(v, name);
  const size_t kind_at = last_dot - 3;  // <prefix>cos.<pos> or <prefix>sin.<pos>
  const bool is_cos = name.compare(kind_at, 3, "cos") == 0;
  int64_t pos = -1;
  std::from_chars(name.data() + last_dot + 1, name.data() + name.size(), pos);
  const int kind = rope_kind(*v.model, std::string_view(name).substr(0, kind_at));
  const auto stored = v.expected.rope->find(name);
  if (pos < 0 || kind < 0 || !stored) return miss(v, name);
  ++v.report.n_compared;
  const Rotary rotary = rotary_for(*v.model, pos + 1)[static_cast<size_t>(kind)];
  const std::span table(stored->data, static_cast<size_t>(stored->width));
  const size_t n = rotary.frequencies.size();
  if (table.size() != n && table.size() != 2 * n) {
    v.report.failures.push_back(
        fmt::format("rotary table {}: {} values, expected {} or {}", name, table.size(), n, 2 * n));
    return;
  }
  v.judge(rope_table_error(rotary, pos, is_cos, table), 1.0, "rotary table " + name, v.report.rope_error);
}

}  // namespace

Status verify_checkpoint(const Verification& v) {
  const Value* inputs = v.expected.json.find("inputs");
  if (!inputs || !inputs->as_array() || !v.expected.tensors) {
    return fail(ErrorCode::kCorrupt, "{}: expected.json needs \"inputs\", and expected.safetensors must be there",
                v.expected.folder.string());
  }
  const Value* greedy = v.expected.json.find("greedy");
  for (size_t i = 0; i < inputs->as_array()->size(); ++i) {
    const auto ids = id_list(&(*inputs->as_array())[i]);
    if (!ids) return fail(ErrorCode::kCorrupt, "{}: inputs[{}] is no list of ids", v.expected.folder.string(), i);
    const InputCase input{i, *ids};
    VITRO_TRY(verify_input(v, input));
    const bool has_greedy = greedy && greedy->as_array() && i < greedy->as_array()->size();
    const auto expected_ids = has_greedy ? id_list(&(*greedy->as_array())[i]) : std::nullopt;
    if (has_greedy && !expected_ids && !(*greedy->as_array())[i].is_null()) miss(v, fmt::format("greedy[{}]", i));
    if (expected_ids) VITRO_TRY(verify_greedy(v, input, *expected_ids));
  }
  // The reference has a rotary module, and tables, even where its layers do not use them.
  if (v.expected.rope && !v.model->rope_kinds.empty()) {
    for (const WeightEntry& entry : v.expected.rope->index()) verify_rope_entry(v, entry.name);
  }
  return {};
}

}  // namespace vitro
