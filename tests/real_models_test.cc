// Real models against stored answers of a reference: ids, most likely tokens, greedy text, loss. Needs the files that
// `vitro pull` brings, and skips without them.
#include <gtest/gtest.h>

#include "generate/generate.h"
#include "generate/logits_source.h"
#include "inspect/record.h"
#include "inspect/verify.h"
#include "testing/engine.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

void verify_real_model(const std::filesystem::path& folder, const std::string& file) {
  const auto model = cached_model(file);
  if (!model) GTEST_SKIP() << file << " is not there; 'vitro pull' brings it";
  Bench bench(best_kernel_table(), 2);
  const auto report = verify_folder(folder, {.model = *model}, bench.ctx);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const std::string& failure : report->failures) ADD_FAILURE() << failure;
  EXPECT_GE(report->top_error, 0);
}

TEST(RealModel, SmolLm2) {
  verify_real_model(repo_path("tests/golden/real/smollm2-135m-instruct-q4_1"), "smollm2-135m-instruct-q4_1.gguf");
}
TEST(RealModel, Gemma3) {
  verify_real_model(repo_path("tests/golden/real/gemma3-270m-q4_k_m"), "gemma3-270m-q4_k_m.gguf");
}
TEST(RealModel, SmolLm2LongText) {
  verify_real_model(repo_path("tests/data/real/smollm2-135m-instruct-q4_1"), "smollm2-135m-instruct-q4_1.gguf");
}
TEST(RealModel, Gemma3LongText) {
  verify_real_model(repo_path("tests/data/real/gemma3-270m-q4_k_m"), "gemma3-270m-q4_k_m.gguf");
}

// The same bits whatever the threads, chunks, pages, cache, company and onlookers, on the real files' mix of weight
// types.
void expect_invariant(const std::string& file) {
  const auto path = cached_model(file);
  if (!path) GTEST_SKIP() << file << " is not there; 'vitro pull' brings it";
  Bench one(best_kernel_table(), 1), two(best_kernel_table(), 2);
  const auto model = load(*path, two);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 70; ++i) ids.push_back((i * 7919 + 11) % 40000);
  const auto last_logits = [&](const RunShape& run, Bench& bench, HookSink* hooks) {
    Session session = make_session(model, 70, {run.n_batch, run.page_size, run.n_sequences}, bench);
    session.set_hooks(hooks);
    const auto logits = session.feed(0, ids);
    EXPECT_TRUE(logits.has_value());
    return std::vector<float>(logits->begin(), logits->end());
  };
  const std::vector<float> whole = last_logits({}, one, nullptr);
  EXPECT_EQ(last_logits({}, two, nullptr), whole) << "two threads";
  for (const int64_t chunk : {1, 2, 7, 64})
    EXPECT_EQ(last_logits({.n_batch = chunk}, two, nullptr), whole) << "chunks of " << chunk;
  for (const int64_t page : {8, 64})
    EXPECT_EQ(last_logits({.page_size = page}, two, nullptr), whole) << "pages of " << page;
  Recorder recorder({HookPoint::kResidPost, HookPoint::kQ, HookPoint::kPattern});
  EXPECT_EQ(last_logits({}, two, &recorder), whole) << "hooks";

  Session session = make_session(model, 70, {}, two);
  UncachedLogits uncached(session, 0);
  const std::span<const int32_t> all(ids);
  ASSERT_TRUE(uncached.feed(all.first(69)).has_value());
  const auto anew = uncached.feed(all.last(1));
  ASSERT_TRUE(anew.has_value());
  EXPECT_EQ(std::vector<float>(anew->begin(), anew->end()), whole) << "no cache";

  Session shared = make_session(model, 70, {.n_batch = 100, .n_sequences = 6}, two);
  const std::vector<int32_t> other{5, 6, 7, 8, 9};
  std::vector<SequenceInput> inputs;
  for (SequenceId s = 0; s < 6; ++s)
    inputs.push_back({s, s == 3 ? std::span<const int32_t>(ids) : std::span<const int32_t>(other)});
  const auto logits = shared.feed_batch(inputs);
  ASSERT_TRUE(logits.has_value()) << logits.error().message;
  EXPECT_EQ(std::vector<float>(logits->row(3), logits->row(3) + logits->width), whole) << "among five others";
}

TEST(RealModel, SmolLm2Invariances) { expect_invariant("smollm2-135m-instruct-q4_1.gguf"); }
TEST(RealModel, Gemma3Invariances) { expect_invariant("gemma3-270m-q4_k_m.gguf"); }

// llama2.c's own greedy sample: BOS, then 256 steps.
TEST(RealModel, Stories260K) {
  const auto folder = shared_path("data/weights/stories260K");
  if (!folder) GTEST_SKIP() << "the shared data is not there";
  for (const KernelTable* table : all_tables()) {
    Bench bench(*table);
    const auto model = load(*folder / "stories260K.bin", bench);
    ASSERT_NE(model, nullptr);
    const auto tokenizer = load_llama2c_tokenizer(*folder / "tok512.bin", model->config.vocab_size);
    ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
    Session session = make_session(model, 256, {.n_batch = 16}, bench);
    const std::vector<int32_t> prompt{(*tokenizer)->bos_id()};
    CachedLogits source(session, 0, 1);
    const auto out = generate(source, tokenizer->get(), prompt, {.max_tokens = 256}, {});
    ASSERT_TRUE(out.has_value()) << out.error().message;
    const auto file = MappedFile::open(*folder / "expected-greedy.txt");
    ASSERT_TRUE(file.has_value());
    std::string expected(file->text());
    if (expected.ends_with('\n')) expected.pop_back();  // the file's own line end
    const size_t first = out->text.find_first_not_of(' ');
    EXPECT_EQ(out->text.substr(first == std::string::npos ? 0 : first), expected) << table->name;
  }
}

}  // namespace
}  // namespace vitro::testing
