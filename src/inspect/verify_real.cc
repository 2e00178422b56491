// Verification of real models: ids of prompts, most likely next tokens, greedy text, mean loss.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "embedded/open_model.h"
#include "generate/score.h"
#include "inspect/verify_internal.h"
#include "sample/sampler.h"
#include "tokens/tokenizer.h"

namespace vitro {
namespace {

struct RealRow {
  size_t idx = 0;
  const Value* json = nullptr;
  std::vector<int32_t> ids;
  std::vector<int32_t> greedy;
};

void check_ids(const Verification& v, const Tokenizer& tokenizer, const RealRow& row) {
  const Value* prompt = row.json->find("prompt");
  if (!prompt || !prompt->as_string()) return;
  const auto encoding = tokenizer.encode(*prompt->as_string());
  if (!encoding || encoding->ids != row.ids) {
    v.report.failures.push_back(fmt::format("row {}: token ids of the prompt differ from the reference's", row.idx));
  }
}

void check_top(const Verification& v, const RealRow& row, std::span<const float> logits) {
  const Value* top = row.json->find("top");
  if (!top || !top->as_array()) return;
  const double lse = v.ctx.kernels->log_sum_exp(logits.data(), static_cast<int64_t>(logits.size()));
  double worst = 0;
  for (const Value& entry : *top->as_array()) {
    const Value::Array* fields = entry.as_array();
    if (!fields || fields->size() != 3 || !(*fields)[0].as_int() || !(*fields)[2].as_real()) continue;
    const auto id = static_cast<size_t>(*(*fields)[0].as_int());
    if (id >= logits.size()) continue;
    worst = std::max(worst, std::abs(static_cast<double>(logits[id]) - lse - *(*fields)[2].as_real()));
  }
  v.judge(worst, v.options.tolerance.top_error, fmt::format("row {}: log-probabilities of the top tokens", row.idx),
          v.report.top_error);
}

// The reference's gap between its two best logits at one greedy step.
double stored_gap(const RealRow& row, size_t step) {
  const Value* gaps = row.json->find("gaps");
  if (!gaps || !gaps->as_array() || step >= gaps->as_array()->size()) return -1;
  const double* gap = (*gaps->as_array())[step].as_real();
  return gap ? *gap : -1;
}

void note_parting(const Verification& v, const RealRow& row, size_t step, int32_t ours) {
  const double gap = stored_gap(row, step);
  const std::string text =
      fmt::format("row {}: greedy text parts at step {}: {} instead of {}, where the reference's gap is {:.2e}",
                  row.idx, step, ours, row.greedy[step], gap);
  (gap >= 0 && gap < v.options.tolerance.greedy_gap ? v.report.notes : v.report.failures).push_back(text);
}

// Greedy text with the cache, token by token; returns the ids that were fed.
Result<std::vector<int32_t>> run_greedy(const Verification& v, Session& session, const RealRow& row,
                                        std::span<const float> logits) {
  std::vector<int32_t> fed = row.ids;
  for (size_t step = 0; step < row.greedy.size(); ++step) {
    const std::array next{static_cast<int32_t>(argmax(logits))};
    ++v.report.n_greedy;
    if (next[0] != row.greedy[step]) {
      note_parting(v, row, step, next[0]);
      break;
    }
    ++v.report.n_greedy_equal;
    if (step + 1 == row.greedy.size()) break;
    VITRO_TRY_ASSIGN(logits, session.feed(0, next));
    fed.push_back(next[0]);
  }
  return fed;
}

Status verify_row(const Verification& v, const RealRow& row) {
  constexpr int64_t kBatch = 256;
  const auto n_prompt = static_cast<int64_t>(row.ids.size());
  const int64_t n_total = n_prompt + static_cast<int64_t>(row.greedy.size());
  VITRO_TRY_ASSIGN(Session session, v.session(n_total, kBatch, 80));
  session.begin(0, {.prompt_len = n_prompt});
  VITRO_TRY_ASSIGN(const std::span<const float> logits, session.feed(0, row.ids));
  check_top(v, row, logits);
  const auto stored = v.expected.tensors ? v.expected.tensors->find(fmt::format("logits.{}", row.idx)) : std::nullopt;
  if (stored && stored->width == static_cast<int64_t>(logits.size())) {
    v.judge(row_error(logits.data(), stored->data, stored->width), v.options.tolerance.top_error,
            fmt::format("logits of row {}", row.idx), v.report.logits_error);
  }
  VITRO_TRY_ASSIGN(const std::vector<int32_t> fed, run_greedy(v, session, row, logits));
  // The same tokens in one pass, then again one by one: every row must have the same bits.
  const int64_t first = n_prompt - 1;
  session.begin(0, {.prompt_len = n_prompt});
  if (first > 0) VITRO_TRY(session.feed(0, std::span(fed).first(static_cast<size_t>(first))));
  std::vector<float> whole;
  VITRO_TRY(session.feed_all(0, std::span(fed).subspan(static_cast<size_t>(first)), [&](int64_t, const Rows& rows) {
    whole.insert(whole.end(), rows.data, rows.data + rows.n_rows * rows.width);
  }));
  const auto width = static_cast<int64_t>(v.model->config.vocab_size);
  return compare_steps(v, session, fed, first, n_prompt,
                       {whole.data(), static_cast<int64_t>(fed.size()) - first, width});
}

Status verify_nll(const Verification& v) {
  const Value* nll = v.expected.json.find("nll");
  const auto ids = nll ? id_list(nll->find("ids")) : std::nullopt;
  const Value* mean = nll ? nll->find("mean_nll") : nullptr;
  const Value* window = nll ? nll->find("window") : nullptr;
  if (!nll) return {};
  if (!ids || !mean || !mean->as_real() || !window || !window->as_int()) {
    return fail(ErrorCode::kCorrupt, "{}: \"nll\" needs \"ids\", \"window\" and \"mean_nll\"",
                v.expected.folder.string());
  }
  const ScoreOptions options{*window->as_int(), *window->as_int(), -1};
  VITRO_TRY_ASSIGN(Session session, v.session(options.window, 128, 128));
  VITRO_TRY_ASSIGN(const Score score, score_ids(session, *ids, options, {}));
  v.judge(std::abs(score.mean_nll() - *mean->as_real()), v.options.tolerance.nll_error, "mean loss",
          v.report.nll_error);
  return {};
}

}  // namespace

Status verify_real(const Verification& v) {
  const Value::Array* rows = v.expected.json.find("rows")->as_array();
  if (!rows) return fail(ErrorCode::kCorrupt, "{}: \"rows\" is no list", v.expected.folder.string());
  VITRO_TRY_ASSIGN(const std::unique_ptr<Tokenizer> tokenizer, open_tokenizer(v.model_path));
  for (size_t i = 0; i < rows->size(); ++i) {
    const auto ids = id_list((*rows)[i].find("ids"));
    const auto greedy = id_list((*rows)[i].find("greedy"));
    if (!ids || ids->empty() || !greedy) {
      return fail(ErrorCode::kCorrupt, "{}: rows[{}] needs \"ids\" and \"greedy\"", v.expected.folder.string(), i);
    }
    const RealRow row{i, &(*rows)[i], *ids, *greedy};
    check_ids(v, *tokenizer, row);
    VITRO_TRY(verify_row(v, row));
  }
  return verify_nll(v);
}

}  // namespace vitro
