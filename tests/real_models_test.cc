// Real models against stored answers of a reference: ids, most likely tokens, greedy text, loss. Needs the files that
// scripts/fetch_models.py brings, and skips without them.
#include <gtest/gtest.h>

#include "generate/generate.h"
#include "inspect/verify.h"
#include "testing/engine.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {

void verify_real_model(const std::filesystem::path& folder, const std::string& file) {
  const auto model = cached_model(file);
  if (!model) GTEST_SKIP() << file << " is not there; scripts/fetch_models.py brings it";
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
