// What a session promises about sequences that are cut, begun anew, shared, and that outgrow LongRoPE's short factors:
// the bits are those of a fresh run, on every cache type.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "generate/logits_source.h"
#include "inspect/expectation.h"
#include "inspect/record.h"
#include "testing/engine.h"
#include "testing/random_model.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

constexpr int64_t kWindow = 21;
constexpr int64_t kOriginal = 32;
constexpr int64_t kContext = 128;

void add_window(ModelConfig& config) {
  config.blocks[0].attn.mask = MaskKind::kWindow;
  config.blocks[0].attn.window = kWindow;
}

void add_longrope(ModelConfig& config) {
  for (BlockSpec& block : config.blocks) {
    RopeSpec& rope = block.attn.rope;
    rope.scaling = RopeScaling::kLongRope;
    rope.n_ctx_original = kOriginal;
    rope.factor = 4;
    for (int64_t i = 0; i < rope.d_rot / 2; ++i) {
      rope.short_factors.push_back(1 + 0.05 * static_cast<double>(i));
      rope.long_factors.push_back(1 + 0.2 * static_cast<double>(i));
    }
  }
}

class SessionTest : public ::testing::TestWithParam<CacheType> {
 protected:
  SessionTest()
      : bench_(best_kernel_table()),
        path_(write_random_model(folder_.path(), {.d_model = 64, .d_ff = 64, .d_head = 32, .n_kv_head = 1})) {}

  Session session(const std::shared_ptr<const Model>& model, RunShape shape) {
    shape.cache_type = GetParam();
    return make_session(model, kContext, shape, bench_);
  }
  // The last logits of a run of its own.
  std::vector<float> fresh(const std::shared_ptr<const Model>& model, std::span<const int32_t> ids,
                           const BeginOptions& options) {
    Session alone = session(model, {});
    alone.begin(0, options);
    return fed(alone, 0, ids);
  }
  static std::vector<float> fed(Session& session, SequenceId sequence, std::span<const int32_t> ids) {
    const auto logits = session.feed(sequence, ids);
    EXPECT_TRUE(logits.has_value()) << logits.error().message;
    return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
  }

  TempFolder folder_;
  Bench bench_;
  std::filesystem::path path_;
};

std::vector<int32_t> joined(std::span<const int32_t> a, std::span<const int32_t> b) {
  std::vector<int32_t> out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

// A sequence takes over a beginning that ends just before, at, and just after the border of a page; then both go on.
TEST_P(SessionTest, AReusedPrefixGivesTheSameBits) {
  const auto model = load_turned(path_, bench_, add_window);
  const std::vector<int32_t> first = random_ids(50, 1, 100), second = random_ids(50, 2, 100), more = random_ids(9, 3);
  for (const bool keeps_only_windows : {false, true}) {
    for (const int64_t page : {8, 16}) {
      for (const int64_t split : {int64_t{1}, page - 1, page, page + 1, 2 * page - 1, 2 * page, 2 * page + 1}) {
        const auto n = static_cast<size_t>(split);
        std::vector<int32_t> a = first, b = joined(std::span(first).first(n), second);
        b[n] = a[n] + 100;  // here they part
        Session both = session(model, {.page_size = page, .n_sequences = 2, .keeps_only_windows = keeps_only_windows});
        EXPECT_TRUE(same_bits(fed(both, 0, a), fresh(model, a, {})));
        both.begin(1, {.prompt_len = std::ssize(b)});
        EXPECT_EQ(both.reuse_prefix(1, b), split);
        EXPECT_TRUE(same_bits(fed(both, 1, std::span(b).subspan(n)), fresh(model, b, {}))) << split;
        a = joined(a, more), b = joined(b, more);
        EXPECT_TRUE(same_bits(fed(both, 0, more), fresh(model, a, {}))) << split;
        EXPECT_TRUE(same_bits(fed(both, 1, more), fresh(model, b, {}))) << split;
        EXPECT_EQ(both.n_recomputed(), 0);
      }
    }
  }
}

// Sharing needs no memory: a prefix of full pages is held once.
TEST_P(SessionTest, AReusedPrefixTakesNoPages) {
  Session session = this->session(load(path_, bench_), {.page_size = 8, .n_sequences = 2});
  const std::vector<int32_t> ids = random_ids(60, 4);
  fed(session, 0, ids);
  const int64_t n_free = session.cache().n_free_pages();
  session.begin(1, {.prompt_len = 60});
  EXPECT_EQ(session.reuse_prefix(1, ids), 59);  // something must be left to feed
  EXPECT_EQ(session.cache().n_free_pages(), n_free);
  EXPECT_EQ(session.reuse_prefix(1, ids), 0);  // it holds tokens already
  EXPECT_TRUE(same_bits(fed(session, 1, std::span(ids).last(1)), fresh(load(path_, bench_), ids, {})));
}

TEST_P(SessionTest, OtherPositionsAndFrequenciesAreNotShared) {
  const auto model = load_turned(path_, bench_, add_longrope);
  Session session = this->session(model, {.n_sequences = 2});
  const std::vector<int32_t> ids = random_ids(20, 5);
  fed(session, 0, ids);
  session.begin(1, {.prompt_len = 20, .first_pos = 5});
  EXPECT_EQ(session.reuse_prefix(1, ids), 0);
  session.begin(1, {.prompt_len = kOriginal + 1});
  EXPECT_EQ(session.reuse_prefix(1, ids), 0);
  session.begin(1, {.prompt_len = 2});
  EXPECT_EQ(session.reuse_prefix(1, ids), 19);
}

// The frequencies are those of the prompt's length or the present one, whichever is longer; the switch computes the
// earlier tokens anew, once.
TEST_P(SessionTest, LongRopeSwitchesOnce) {
  const auto model = load_turned(path_, bench_, add_longrope);
  const std::vector<int32_t> ids = random_ids(60, 6);
  Session grown = session(model, {.n_batch = 7, .n_sequences = 2});
  std::vector<Recomputation> heard;
  grown.set_recompute_callback([&](const Recomputation& what) { heard.push_back(what); });
  Recorder recorder({HookPoint::kEmbed});
  CachedLogits cached(grown, 0, 10);
  UncachedLogits uncached(grown, 1);
  const std::span<const int32_t> all(ids);
  for (size_t n = 10; n <= all.size(); ++n) {
    const auto next = n == 10 ? all.first(10) : all.subspan(n - 1, 1);
    grown.set_hooks(&recorder);
    const auto logits = cached.feed(next);
    grown.set_hooks(nullptr);
    ASSERT_TRUE(logits.has_value());
    const std::vector<float> with(logits->begin(), logits->end());
    EXPECT_TRUE(same_bits(with, fresh(model, all.first(n), {.prompt_len = 10}))) << n;
    EXPECT_EQ(recorder.find(HookPoint::kEmbed, -1)->n_rows(), static_cast<int64_t>(n)) << "hooks see each token once";
    const auto without = uncached.feed(next);
    ASSERT_TRUE(without.has_value());
    EXPECT_TRUE(same_bits(with, *without)) << n;
    EXPECT_EQ(grown.n_recomputed(), static_cast<int64_t>(n) > kOriginal ? kOriginal : 0);
  }
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].sequence, 0);
  EXPECT_EQ(heard[0].n_tokens, kOriginal);
  EXPECT_EQ(heard[0].n_ctx_original, kOriginal);
  // Back below the switch the short factors hold again, as they would for a fresh run.
  grown.truncate(0, 20);
  EXPECT_TRUE(same_bits(fed(grown, 0, all.subspan(20, 2)), fresh(model, all.first(22), {.prompt_len = 10})));
  EXPECT_EQ(heard.size(), 2u);
}

TEST_P(SessionTest, ALongPromptNeverSwitches) {
  const auto model = load_turned(path_, bench_, add_longrope);
  const std::vector<int32_t> ids = random_ids(60, 7);
  Session session = this->session(model, {.n_batch = 16});
  session.begin(0, {.prompt_len = 60});
  fed(session, 0, std::span(ids).first(5));
  EXPECT_TRUE(same_bits(fed(session, 0, std::span(ids).subspan(5)), fresh(model, ids, {})));
  EXPECT_EQ(session.n_recomputed(), 0);
}

// Where the window is gone, a cut sequence is computed anew.
TEST_P(SessionTest, ACutBeyondTheWindowIsComputedAnew) {
  const auto model = load_turned(path_, bench_, add_window);
  const std::vector<int32_t> ids = random_ids(90, 8);
  for (const bool keeps_only_windows : {false, true}) {
    Session session = this->session(model, {.n_batch = 16, .keeps_only_windows = keeps_only_windows});
    fed(session, 0, ids);
    for (const int64_t length : {89, 80, 40, 10}) {
      session.truncate(0, length);
      EXPECT_EQ(session.length(0), length);
      const auto kept = std::span(ids).first(static_cast<size_t>(length));
      const std::vector<int32_t> next = random_ids(3, static_cast<uint64_t>(length));
      EXPECT_TRUE(same_bits(fed(session, 0, next), fresh(model, joined(kept, next), {}))) << length;
      session.truncate(0, length);
    }
    EXPECT_EQ(session.n_recomputed() > 0, keeps_only_windows);
  }
}

// Everything at once, at random, with everything that can go wrong: each answer is that of a fresh run.
class RandomSession {
 public:
  static constexpr SequenceId kSequences = 3;
  struct Plain {
    std::vector<int32_t> ids;
    BeginOptions begun;
  };

  explicit RandomSession(uint64_t seed) : seed_(seed) {}
  int64_t draw(int64_t n) { return static_cast<int64_t>(uniform_at(seed_, 0, at_++) * static_cast<double>(n)); }
  // Three ids: beginnings are often shared.
  std::vector<int32_t> draw_ids(int64_t n) {
    std::vector<int32_t> ids(static_cast<size_t>(n));
    for (int32_t& id : ids) id = static_cast<int32_t>(draw(3));
    return ids;
  }
  Plain& plain(SequenceId s) { return plain_[static_cast<size_t>(s)]; }

  void begin(Session& session, SequenceId s) {
    plain(s) = {{}, {.prompt_len = 1 + draw(2) * (draw(60)), .first_pos = draw(3) == 0 ? 1000 : 0}};
    session.begin(s, plain(s).begun);
    const auto& other = plain(static_cast<SequenceId>(draw(kSequences))).ids;
    std::vector<int32_t> ids(other.begin(), other.begin() + draw(std::ssize(other) + 1));
    ids = joined(ids, draw_ids(1 + draw(4)));
    const int64_t n = session.reuse_prefix(s, ids);
    ASSERT_LT(n, std::ssize(ids));
    plain(s).ids.assign(ids.begin(), ids.begin() + n);
    n_reused_ += n;
  }
  void truncate(Session& session, SequenceId s) {
    const int64_t n = draw(std::ssize(plain(s).ids) + 1);
    plain(s).ids.resize(static_cast<size_t>(n));
    session.truncate(s, n);
  }
  std::vector<int32_t> next(SequenceId s) {
    const std::vector<int32_t> ids =
        draw_ids(std::min(1 + draw(draw(3) == 0 ? 30 : 4), kContext - std::ssize(plain(s).ids)));
    plain(s).ids = joined(plain(s).ids, ids);
    return ids;
  }
  int64_t n_reused() const { return n_reused_; }

 private:
  uint64_t seed_, at_ = 0;
  int64_t n_reused_ = 0;
  std::array<Plain, kSequences> plain_;
};

TEST_P(SessionTest, RandomOperationsGiveTheBitsOfFreshRuns) {
  const auto turn = [](ModelConfig& config) { add_window(config), add_longrope(config); };
  const auto model = load_turned(path_, bench_, turn);
  int64_t n_reused = 0, n_recomputed = 0;
  for (const bool keeps_only_windows : {false, true}) {
    RandomSession random(9);
    Session session = this->session(model, {.n_batch = 100,
                                            .page_size = 8,
                                            .n_sequences = RandomSession::kSequences,
                                            .keeps_only_windows = keeps_only_windows});
    for (int step = 0; step < 60; ++step) {
      const auto s = static_cast<SequenceId>(random.draw(RandomSession::kSequences));
      const int64_t choice = random.draw(8);
      if (choice < 2) random.begin(session, s);
      if (choice == 2) random.truncate(session, s);
      if (std::ssize(random.plain(s).ids) == kContext) continue;
      if (choice < 6) {
        const std::vector<int32_t> next = random.next(s);
        EXPECT_TRUE(same_bits(fed(session, s, next), fresh(model, random.plain(s).ids, random.plain(s).begun)))
            << "step " << step;
        continue;
      }
      std::vector<std::vector<int32_t>> nexts;
      std::vector<SequenceInput> inputs;
      for (SequenceId other = 0; other < RandomSession::kSequences; ++other) {
        if (std::ssize(random.plain(other).ids) == kContext) random.truncate(session, other);
        if (std::ssize(random.plain(other).ids) < kContext) nexts.push_back(random.next(other));
      }
      if (nexts.size() < RandomSession::kSequences) continue;
      for (SequenceId other = 0; other < RandomSession::kSequences; ++other)
        inputs.push_back({other, nexts[static_cast<size_t>(other)]});
      const auto logits = session.feed_batch(inputs);
      ASSERT_TRUE(logits.has_value()) << logits.error().message;
      for (SequenceId other = 0; other < RandomSession::kSequences; ++other) {
        EXPECT_TRUE(same_bits({logits->row(other), static_cast<size_t>(logits->width)},
                              fresh(model, random.plain(other).ids, random.plain(other).begun)))
            << "step " << step << ", sequence " << other;
      }
    }
    n_reused += random.n_reused(), n_recomputed += session.n_recomputed();
  }
  EXPECT_GT(n_reused, 50);
  EXPECT_GT(n_recomputed, 50);
}

std::string type_name(const ::testing::TestParamInfo<CacheType>& type) {
  return std::string(cache_type_info(type.param).name);
}
INSTANTIATE_TEST_SUITE_P(All, SessionTest, ::testing::ValuesIn(all_cache_types()), type_name);

// ---- positions far away (rotary ones: shifted_positions_test.cc) ----

// Learned positions: row t of a sequence that begins at 30 is row 30 + t of one that begins at 0.
TEST(FarPositions, LearnedVectorsAreThoseOfThePosition) {
  Bench bench(best_kernel_table());
  const auto model = load(repo_path("tests/golden/gpt2"), bench);
  const std::vector<int32_t> same(50, 7);
  const auto entering = [&](int64_t first_pos, int64_t n) {
    Session session = make_session(model, n, {}, bench);
    Recorder recorder({HookPoint::kResidPre});
    session.set_hooks(&recorder);
    session.begin(0, {.first_pos = first_pos});
    EXPECT_TRUE(session.feed(0, std::span(same).first(static_cast<size_t>(n))).has_value());
    return recorder.find(HookPoint::kResidPre, 0)->values;
  };
  const std::vector<float> whole = entering(0, 50), far = entering(30, 20);
  EXPECT_TRUE(same_bits(far, std::span(whole).last(far.size())));
}

TEST(FarPositions, PositionsThatAreNoneAreRefused) {
  Bench bench(best_kernel_table());
  Session session = make_session(load(repo_path("tests/golden/gpt2"), bench), 20, {}, bench);  // 128 positions
  const std::vector<int32_t> ids(20, 7);
  for (const int64_t first_pos : {int64_t{-1}, int64_t{109}, int64_t{1} << 62}) {
    session.begin(0, {.first_pos = first_pos});
    EXPECT_EQ(session.feed(0, ids).error().code, ErrorCode::kInvalidArgument) << first_pos;
  }
  session.begin(0, {.first_pos = 108});
  EXPECT_TRUE(session.feed(0, ids).has_value());
}

// ---- against the reference ----

// Grown token by token from a prompt of seven, the sequence has the reference's numbers on both sides of the switch.
TEST(LongRope, AGrownSequenceHasTheReferencesNumbers) {
  const auto folder = repo_path("tests/golden/phi3-longrope");
  Bench bench(best_kernel_table());
  const auto model = load(folder, bench);
  ASSERT_NE(model, nullptr);
  const Expectation expected = std::move(open_expectation(folder)).value();
  const Value::Array& inputs = *expected.json.find("inputs")->as_array();
  std::set<size_t> lengths;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto ids = id_list(&inputs[i]);
    if (!ids) continue;
    lengths.insert(ids->size());
    const ConstRows stored = expected.tensors->find("logits." + std::to_string(i)).value();
    Session session = make_session(model, kContext, {.n_batch = 16}, bench);
    session.begin(0, {.prompt_len = 7});
    ASSERT_TRUE(ids->size() == 7 || session.feed(0, std::span(*ids).first(7)).has_value());
    Result<std::span<const float>> last = fail(ErrorCode::kInternal, "nothing fed");
    for (size_t n = ids->size() == 7 ? 0 : 7; n < ids->size(); ++n)
      last = session.feed(0, std::span(*ids).subspan(n, 1));
    ASSERT_TRUE(last.has_value()) << last.error().message;
    EXPECT_LT(row_error(last->data(), stored.row(stored.n_rows - 1), stored.width), 1e-5) << ids->size() << " tokens";
    EXPECT_EQ(session.n_recomputed(), ids->size() > 32 ? 32 : 0);
  }
  EXPECT_TRUE(lengths.contains(32) && lengths.contains(33) && lengths.contains(60));
}

}  // namespace
}  // namespace vitro::testing
