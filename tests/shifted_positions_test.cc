// Rotary positions far out, without long prompts: a text that begins at position 4,096, 14,000 or 100,000.
//   q and k as the dot product uses them: W_q x turned by the cosines and sines that the reference made for that
//   position; logits: rotary attention sees differences of positions only, so a shifted text gives what the reference
//   gives for the text at 0 (kinds whose frequencies depend on the length: with the frequencies of the unshifted text).
#include <gtest/gtest.h>

#include <cmath>

#include "inspect/expectation.h"
#include "inspect/record.h"
#include "testing/engine.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

constexpr int64_t kPositions[] = {4096, 14000, 100000};
/// As VerifyTolerance: the goldens' own noise is a fifth of it.
constexpr double kRowError = 1e-5;

class Shifted : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = repo_path(std::string("tests/golden/") + GetParam());
    model_ = load(folder_, bench_);
    ASSERT_TRUE(model_);
    auto expectation = open_expectation(folder_);
    ASSERT_TRUE(expectation.has_value());
    expectation_ = std::move(*expectation);
    ids_ = id_list(&(*expectation_.json.find("inputs")->as_array())[0]).value();
  }

  /// Cosine or sine of each pair, as the reference has it for one layer.
  std::vector<double> table(int64_t layer, const char* name, int64_t pos) const {
    const bool is_window = model_->config.blocks[static_cast<size_t>(layer)].attn.mask == MaskKind::kWindow;
    const std::string plain = std::string(name) + "." + std::to_string(pos);
    auto stored = expectation_.rope->find(plain);
    if (!stored) stored = expectation_.rope->find((is_window ? "sliding_attention." : "full_attention.") + plain);
    const int64_t n = model_->config.blocks[static_cast<size_t>(layer)].attn.rope.d_rot / 2;
    // Once, or twice one after the other, or each beside itself.
    const bool is_in_place =
        stored->width == 2 * n && n > 1 && stored->data[0] == stored->data[1] && stored->data[2] == stored->data[3];
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(stored->data[is_in_place ? 2 * i : i]));
    return values;
  }

  /// Largest difference between a turned row and the same row turned by hand, over all heads.
  double turning_error(int64_t layer, int64_t pos, const Recorded& plain, const Recorded& turned) const {
    const AttentionSpec& attn = model_->config.blocks[static_cast<size_t>(layer)].attn;
    const std::vector<double> cos = table(layer, "cos", pos), sin = table(layer, "sin", pos);
    const auto n = static_cast<int64_t>(cos.size());
    double worst = 0;
    for (int64_t head = 0; head < plain.width; head += attn.d_head) {
      const float* x = plain.row(0) + head;
      const float* y = turned.row(0) + head;
      for (int64_t i = 0; i < attn.d_head; ++i) {
        double expected = static_cast<double>(x[i]);
        if (i < 2 * n) {
          const bool is_adjacent = attn.rope.pairing == RopePairing::kAdjacent;
          const int64_t pair = is_adjacent ? i / 2 : i % n;
          const bool is_second = is_adjacent ? i % 2 == 1 : i >= n;
          const auto a = static_cast<double>(x[is_adjacent ? 2 * pair : pair]);
          const auto b = static_cast<double>(x[is_adjacent ? 2 * pair + 1 : pair + n]);
          const double c = cos[static_cast<size_t>(pair)], s = sin[static_cast<size_t>(pair)];
          expected = is_second ? b * c + a * s : a * c - b * s;
        }
        worst = std::max(worst, std::abs(expected - static_cast<double>(y[i])));
      }
    }
    return worst;
  }

  Bench bench_{best_kernel_table(), 1};
  std::filesystem::path folder_;
  std::shared_ptr<const Model> model_;
  Expectation expectation_;
  std::vector<int32_t> ids_;
};

double largest(const Recorded& rows) {
  double worst = 0;
  for (const float x : rows.values) worst = std::max(worst, static_cast<double>(std::abs(x)));
  return worst;
}

// The reference forms an angle as float32 frequency x float32 position: off by at most 2^-23 of it, in radians.
TEST_P(Shifted, QueriesAndKeysTurnAsTheReferenceTurnsThem) {
  for (const int64_t pos : kPositions) {
    Session session = make_session(model_, 1, {}, bench_);
    Recorder recorder({HookPoint::kQ, HookPoint::kK, HookPoint::kRotQ, HookPoint::kRotK});
    session.set_hooks(&recorder);
    session.begin(0, {.prompt_len = 1, .first_pos = pos});
    ASSERT_TRUE(session.feed(0, std::span(ids_).first(1)).has_value());
    for (int64_t layer = 0; layer < model_->config.n_layer(); ++layer) {
      const AttentionSpec& attn = model_->config.blocks[static_cast<size_t>(layer)].attn;
      if (attn.position != PositionKind::kRope || attn.qk_norm != QkNorm::kNone) continue;
      const double allowed = static_cast<double>(pos) * std::ldexp(1.0, -22) + 1e-6;
      for (const auto& [plain, turned] :
           {std::pair{HookPoint::kQ, HookPoint::kRotQ}, {HookPoint::kK, HookPoint::kRotK}}) {
        const Recorded* before = recorder.find(plain, layer);
        const Recorded* after = recorder.find(turned, layer);
        ASSERT_TRUE(before && after);
        EXPECT_LE(turning_error(layer, pos, *before, *after), allowed * largest(*before))
            << "layer " << layer << " at " << pos;
      }
    }
  }
}

TEST_P(Shifted, LogitsAreThoseOfTheTextAtZero) {
  const auto n_ids = static_cast<int64_t>(ids_.size());
  const ConstRows stored = expectation_.tensors->find("logits.0").value();
  for (const int64_t pos : kPositions) {
    for (const BlockSpec& block : model_->config.blocks) {
      const RopeScaling scaling = block.attn.rope.scaling;
      if (scaling == RopeScaling::kDynamic || scaling == RopeScaling::kLongRope) return;
    }
    Session session = make_session(model_, n_ids, {}, bench_);
    session.begin(0, {.prompt_len = n_ids, .first_pos = pos});
    double worst = 0;
    const Status status = session.feed_all(0, ids_, [&](int64_t first, const Rows& rows) {
      for (int64_t t = 0; t < rows.n_rows; ++t) {
        worst = std::max(worst, row_error(rows.row(t), stored.row(first + t), stored.width));
      }
    });
    ASSERT_TRUE(status.has_value());
    EXPECT_LE(worst, kRowError) << "at " << pos;
  }
}

std::string test_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// One for each way to turn: halves, part of a head, adjacent pairs, every scaling, bases by layer, layers without.
INSTANTIATE_TEST_SUITE_P(Goldens, Shifted,
                         ::testing::Values("llama-gqa", "gpt-neox", "glm", "cohere", "llama-rope-linear",
                                           "llama-rope-dynamic", "llama-rope-yarn", "llama-rope-llama3",
                                           "phi3-longrope", "gemma3", "smollm3", "falcon-mqa"),
                         test_name);

}  // namespace
}  // namespace vitro::testing
