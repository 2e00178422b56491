#include "inspect/verify.h"

#include <fmt/core.h>

#include <cstring>

#include "base/clock.h"
#include "embedded/open_model.h"
#include "inspect/verify_internal.h"
#include "model/arch/architecture.h"

namespace vitro {

Result<Session> Verification::session(int64_t n_ctx, int64_t n_batch, int64_t n_logits) const {
  SessionShape shape;
  shape.n_ctx = n_ctx;
  shape.n_batch = n_batch;
  shape.n_logits = n_logits;
  shape.page_size = options.page_size;
  shape.cache_type = options.cache_type;
  shape.n_threads = ctx.pool->n_threads();
  return Session::create(model, shape, ctx);
}

void Verification::judge(double error, double limit, std::string_view what, double& worst) const {
  if (!(error <= limit)) report.failures.push_back(fmt::format("{}: error {:.2e}, limit {:.0e}", what, error, limit));
  worst = std::max(worst, error);
}

Status compare_steps(const Verification& v, Session& session, std::span<const int32_t> ids, int64_t first,
                     int64_t prompt_len, ConstRows whole) {
  session.begin(0, {.prompt_len = prompt_len});
  if (first > 0) VITRO_TRY(session.feed(0, ids.first(static_cast<size_t>(first))));
  for (int64_t i = first; i < static_cast<int64_t>(ids.size()); ++i) {
    VITRO_TRY_ASSIGN(const auto logits, session.feed(0, ids.subspan(static_cast<size_t>(i), 1)));
    ++v.report.n_step_rows;
    if (std::memcmp(logits.data(), whole.row(i - first), logits.size_bytes()) == 0) continue;
    v.report.failures.push_back(fmt::format("token by token, position {}: logits differ from the whole pass by {:.2e}",
                                            i, absolute_error(logits.data(), whole.row(i - first), whole.width)));
    return {};
  }
  return {};
}

namespace {

/// "kind" of expected.json; folders without it are decoders.
Status check_kind(const Expectation& expected) {
  const Value* value = expected.json.find("kind");
  const std::string* kind = value ? value->as_string() : nullptr;
  if (!kind || *kind == "decoder") return {};
  return fail(ErrorCode::kUnsupported, "expected.json is of kind {}; only a decoder's numbers can be compared",
              to_string(*value, 40));
}

bool is_real_model(const Expectation& expected) { return expected.json.find("rows") != nullptr; }

std::string folder_name(const std::filesystem::path& folder) {
  return (folder.filename().empty() ? folder.parent_path() : folder).filename().string();
}

/// One run of the comparison: the checkpoint as described.
struct Attempt {
  const Expectation& expected;
  const VerifyOptions& options;
  const Checkpoint& checkpoint;
  OpContext ctx;

  Result<VerifyReport> run(ModelDescription description) const {
    VITRO_TRY_ASSIGN(std::shared_ptr<const Model> model, load_model(checkpoint, std::move(description), {}, *ctx.pool));
    VerifyReport report;
    report.name = folder_name(expected.folder);
    report.family = model->config.family;
    const Verification v{expected, options, std::move(model), checkpoint.path(), ctx, report};
    VITRO_TRY(is_real_model(expected) ? verify_real(v) : verify_checkpoint(v));
    return report;
  }
};

/// What is left to say of a golden that does not agree: whether a known mistake of the reference explains it all.
Result<VerifyReport> repeat_fault(const Attempt& attempt, ModelDescription description, VerifyReport report) {
  const ReferenceFault* fault = description.arch->fault;
  if (report.passed() || !fault || report.name != fault->golden) return report;
  fault->repeat(&description.config);
  VITRO_TRY_ASSIGN(VerifyReport repeated, attempt.run(std::move(description)));
  if (!repeated.passed()) return report;
  repeated.repeated_fault = fault->text;
  return repeated;
}

}  // namespace

Result<VerifyReport> verify_folder(const std::filesystem::path& folder, const VerifyOptions& options, OpContext ctx) {
  const double start = now_seconds();
  VITRO_TRY_ASSIGN(const Expectation expected, open_expectation(folder));
  VITRO_TRY(check_kind(expected));
  if (is_real_model(expected) && options.model.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: holds a real model's answers without its weights; name them with --model FILE", folder.string());
  }
  VITRO_TRY_ASSIGN(const Checkpoint checkpoint,
                   options.model.empty() ? Checkpoint::open(folder) : open_checkpoint(options.model));
  VITRO_TRY_ASSIGN(ModelDescription description, describe_model(checkpoint));
  const Attempt attempt{expected, options, checkpoint, ctx};
  VITRO_TRY_ASSIGN(VerifyReport report, attempt.run(description));
  VITRO_TRY_ASSIGN(report, repeat_fault(attempt, std::move(description), std::move(report)));
  report.seconds = now_seconds() - start;
  return report;
}

}  // namespace vitro
