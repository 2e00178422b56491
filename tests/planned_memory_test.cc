// The plan is the allocation: what loading, a session and the loop ask the system for, counted where they ask, is what
// the plans said, to the byte; and running asks for nothing more.
#define VITRO_DEFINE_COUNTED_MEMORY
#include <gtest/gtest.h>

#include "testing/counted_memory.h"

// The first include defines operator new; the others follow it.
#include "base/rng.h"
#include "generate/generate.h"
#include "generate/logits_source.h"
#include "plan/session_plan.h"
#include "plan/weights_plan.h"
#include "testing/engine.h"
#include "testing/goldens.h"
#include "testing/random_model.h"
#include "testing/sanitizers.h"

namespace vitro::testing {
namespace {

constexpr uint64_t kNConfigurations = 50;
// What may be beside the tables of a model: names, entries of maps, where each value of the description came from.
constexpr int64_t kNameBytes = 512, kDescriptionBytes = int64_t{128} << 10;

// Draws of one configuration.
class Draws {
 public:
  explicit Draws(uint64_t seed) : seed_(seed) {}
  int64_t between(int64_t least, int64_t most) {
    const double at = uniform_at(seed_, 1, counter_++);
    return least + static_cast<int64_t>(at * static_cast<double>(most - least + 1));
  }
  bool coin() { return between(0, 1) == 1; }

 private:
  uint64_t seed_, counter_ = 0;
};

// One of the families' goldens, or every third time random sizes in a random weight type.
std::filesystem::path draw_model(Draws& draws, const std::filesystem::path& folder) {
  if (draws.between(0, 2) > 0) return golden_path(kGoldens[draws.between(0, std::ssize(kGoldens) - 1)]);
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kQ4_0, DType::kQ8_0, DType::kQ6_K};
  RandomModelShape shape;
  shape.dtype = kTypes[draws.between(0, std::ssize(kTypes) - 1)];
  shape.d_head = 32 << draws.between(0, 1);
  shape.n_kv_head = 1 << draws.between(0, 2);
  shape.d_ff = 256 * draws.between(1, 3);
  shape.n_layer = draws.between(1, 4);
  shape.vocab_size = draws.between(20, 400);
  return write_random_model(folder, shape);
}

SessionShape draw_shape(Draws& draws, const ModelConfig& config) {
  SessionShape shape;
  shape.n_ctx = std::min(draws.between(1, 200), n_reachable(config));
  shape.n_sequences = draws.between(1, 5);
  shape.n_batch = draws.between(1, 40);
  shape.n_logits = draws.between(1, shape.n_batch);
  shape.page_size = 8 * draws.between(1, 8);
  shape.cache_type = static_cast<CacheType>(draws.between(0, kNCacheTypes - 1));
  shape.keeps_only_windows = draws.coin();
  shape.n_threads = static_cast<int>(draws.between(1, 3));
  if (!plan_session(config, shape)) shape.cache_type = CacheType::kF16;  // blocks that do not divide these heads
  return shape;
}

std::string words(const SessionShape& s) {
  return fmt::format("context {}, sequences {}, batch {}, page {}, cache {}, windows {}, threads {}", s.n_ctx,
                     s.n_sequences, s.n_batch, s.page_size, cache_type_info(s.cache_type).name, s.keeps_only_windows,
                     s.n_threads);
}

struct Configuration {
  std::shared_ptr<const Model> model;
  SessionShape shape;
  std::unique_ptr<Bench> bench;
};

Configuration draw_configuration(uint64_t seed, const std::filesystem::path& folder) {
  Draws draws(seed);
  Bench loader(best_kernel_table(), 1);
  Configuration drawn{load(draw_model(draws, folder), loader), {}, nullptr};
  drawn.shape = draw_shape(draws, drawn.model->config);
  drawn.bench = std::make_unique<Bench>(best_kernel_table(), drawn.shape.n_threads);
  return drawn;
}

// Prompts in chunks, single steps and a batch of all sequences, as far as the context goes.
bool run_session(Session& session) {
  const SessionShape& shape = session.plan().shape;
  static const std::array<int32_t, 256> ids{};
  const auto n_prompt = static_cast<size_t>(std::max<int64_t>(shape.n_ctx - 2, 1));
  bool is_fine = session.feed(0, std::span(ids).first(n_prompt)).has_value();
  if (shape.n_ctx > static_cast<int64_t>(n_prompt)) is_fine &= session.feed(0, std::span(ids).first(1)).has_value();
  if (shape.n_sequences > 1) {
    const std::array both{SequenceInput{1, std::span(ids).first(1)}};
    is_fine &= session.feed_batch(both).has_value();
  }
  return is_fine;
}

TEST(PlannedMemory, ASessionTakesWhatItsPlanSays) {
  const TempFolder folder;
  for (uint64_t seed = 1; seed <= kNConfigurations; ++seed) {
    const Configuration drawn = draw_configuration(seed, folder.path());
    const SessionPlan plan = plan_session(drawn.model->config, drawn.shape).value();
    SCOPED_TRACE(fmt::format("seed {}: {}, {}", seed, drawn.model->config.family, words(drawn.shape)));
    const MemorySpan span;
    auto session = Session::create(drawn.model, drawn.shape, drawn.bench->ctx);
    const int64_t n_heap = span.heap_bytes(), n_mapped = span.mapped_bytes();
    ASSERT_TRUE(session.has_value()) << session.error().message;
    EXPECT_EQ(n_heap, plan.n_bytes() - plan.cache_bytes - plan.activation_bytes);
#if !VITRO_HAS_ASAN
    EXPECT_EQ(n_mapped, plan.cache_bytes + plan.activation_bytes);
#endif
    EXPECT_EQ(session->held(), static_cast<const SessionBytes&>(plan));
    const MemorySpan running;
    const bool is_fine = run_session(*session);
    EXPECT_EQ(running.n_allocations(), 0);
    EXPECT_TRUE(is_fine);
  }
}

// Slots point into `slots`.
struct Described {
  Checkpoint checkpoint;
  ModelDescription description;
  std::vector<TensorSlot> slots;
  std::vector<BoundTensor> bound;
};

std::unique_ptr<Described> describe(const std::filesystem::path& path) {
  auto out = std::make_unique<Described>(Described{Checkpoint::open(path).value(), {}, {}, {}});
  out->description = describe_model(out->checkpoint).value();
  out->slots = out->description.arch->tensor_slots(out->checkpoint.format(), out->description.config);
  out->bound = bind_tensors(out->checkpoint, out->slots, out->description.arch->ignorable_tensors).value();
  return out;
}

void expect_components(const WeightsPlan& plan, const Tensors& tensors) {
  std::array<int64_t, kNComponents> held{};
  int64_t table_bytes = 0;
  tensors.each([&](std::string_view name, int64_t n_bytes) {
    const auto component = component_of(name);
    (component ? held[static_cast<size_t>(*component)] : table_bytes) += n_bytes;
  });
  for (int c = 0; c < kNComponents; ++c) {
    const auto component = static_cast<Component>(c);
    EXPECT_EQ(held[static_cast<size_t>(c)], plan[component].n_bytes) << component_name(component);
  }
  EXPECT_EQ(table_bytes, plan.table_bytes);
}

void expect_loaded_as_planned(const std::filesystem::path& path) {
  SCOPED_TRACE(path.string());
  const auto described = describe(path);
  const WeightsPlan plan = plan_weights(described->description.config, described->bound, true);
  const int64_t n_weights = plan.total().n_bytes + plan.table_bytes;
  const int64_t n_tables = model_table_bytes(described->description.config);
  const auto n_bound = std::ssize(described->bound);
  Bench bench(best_kernel_table(), 2);
  ModelDescription description = described->description;
  const MemorySpan span;
  const auto model = load_model(described->checkpoint, std::move(description), {}, bench.pool);
  const int64_t n_heap = span.heap_bytes(), n_mapped = span.mapped_bytes(), most_mapped = span.most_mapped();
  ASSERT_TRUE(model.has_value()) << model.error().message;
#if !VITRO_HAS_ASAN
  EXPECT_EQ(n_mapped, n_weights);
  EXPECT_EQ(most_mapped, n_weights);  // no matrix is there twice, not for a moment
#endif
  EXPECT_EQ((*model)->tensors.n_bytes(), n_weights);
  EXPECT_EQ(held_table_bytes(**model), n_tables);
  EXPECT_LE(n_heap - n_tables, n_bound * kNameBytes + kDescriptionBytes);
  expect_components(plan, (*model)->tensors);
}

TEST(PlannedMemory, AModelTakesWhatItsPlanSays) {
  for (const Golden& golden : kGoldens) expect_loaded_as_planned(golden_path(golden));
  const TempFolder folder;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Draws draws(seed);
    expect_loaded_as_planned(draw_model(draws, folder.path()));
  }
}

// What a file holds, counted from its own table: every tensor that the model uses, once.
TEST(PlannedMemory, ParametersAreThoseOfTheFile) {
  for (const Golden& golden : kGoldens) {
    SCOPED_TRACE(golden.name);
    const auto described = describe(golden_path(golden));
    std::set<const WeightEntry*> used;
    for (const BoundTensor& tensor : described->bound) {
      if (component_of(tensor.slot->name)) used.insert(tensor.entry);
    }
    int64_t n_file = 0;
    for (const WeightEntry* entry : used) n_file += entry->shape.n_elements();
    const WeightsPlan plan = plan_weights(described->description.config, described->slots, {});
    EXPECT_EQ(plan.total().n_parameters, n_file);
    EXPECT_EQ(parameter_item(plan).amount, n_file);
  }
}

SamplerConfig draw_sampler(Draws& draws) {
  SamplerConfig config;
  config.preset = static_cast<SamplerPreset>(draws.between(0, 2));
  config.temperature = 0.5 * static_cast<double>(draws.between(0, 2));
  config.top_k = draws.coin() ? draws.between(1, 40) : 0;
  config.top_p = draws.coin() ? 0.9 : 1.0;
  config.min_p = draws.coin() ? 0.01 : 0.0;
  config.typical_p = draws.coin() ? 0.95 : 1.0;
  config.repetition_penalty = draws.coin() ? 1.1 : 1.0;
  config.frequency_penalty = draws.coin() ? 0.2 : 0.0;
  config.no_repeat_ngram = draws.coin() ? 3 : 0;
  return config;
}

TEST(PlannedMemory, ASamplerTakesWhatItsPlanSays) {
  constexpr int64_t kSmall = 512;  // the set itself, the order, the options
  for (uint64_t seed = 1; seed <= kNConfigurations; ++seed) {
    SCOPED_TRACE(seed);
    Draws draws(seed);
    const SamplerConfig config = draw_sampler(draws);
    const int64_t vocab_size = draws.between(1, 5000);
    std::vector<float> logits(static_cast<size_t>(vocab_size));
    for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(uniform_at(seed, 2, i) * 8);
    std::vector<int32_t> ids(40);
    for (int32_t& id : ids) id = static_cast<int32_t>(draws.between(0, vocab_size - 1));
    const int64_t n_planned = sampler_bytes(config, vocab_size);
    const MemorySpan span;
    Sampler sampler(config, vocab_size);
    EXPECT_GE(span.heap_bytes(), n_planned);
    EXPECT_LE(span.heap_bytes(), n_planned + kSmall);
    EXPECT_EQ(sampler.n_bytes(), n_planned);
    const MemorySpan sampling;
    for (uint64_t step = 0; step < 10; ++step) sampler.sample(logits, {ids, 20}, 0, step).value();
    EXPECT_EQ(sampling.n_allocations(), 0);
    EXPECT_EQ(sampler.n_bytes(), n_planned);
  }
}

TEST(PlannedMemory, TheLoopTakesWhatItsPlanSays) {
  Bench bench(best_kernel_table(), 1);
  const auto model = load(repo_path("tests/golden/llama-gqa"), bench);
  const std::vector<int32_t> prompt(7, 3);
  for (const int64_t max_tokens : {0, 5, 1000}) {
    for (const int n_top : {0, 4}) {
      Session session = make_session(model, 30, {}, bench);
      GenerateOptions options;
      options.max_tokens = max_tokens;
      options.n_top = n_top;
      options.sampler.temperature = 0.7;
      options.sampler.top_p = 0.9;
      CachedLogits source(session, 0, std::ssize(prompt));
      const Generated out = generate(source, nullptr, prompt, options, {}).value();
      EXPECT_EQ(std::ssize(out.ids), std::min<int64_t>(max_tokens, 30 - 7 + 1));
      EXPECT_EQ(out.buffer_bytes, generation_bytes(options, model->config.vocab_size, 7, 30 - 7));
    }
  }
}

}  // namespace
}  // namespace vitro::testing
