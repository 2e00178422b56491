#include "plan/work.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/checked_math.h"
#include "base/saturating.h"
#include "plan/cache_plan.h"

namespace vitro {
namespace {

constexpr auto kPartNames = std::to_array<std::string_view>(
    {"q, k, v projections", "scores and weighted sums", "output projection", "feed-forward", "head", "other"});

Part part_of(Component component) {
  switch (component) {
    case Component::kQ:
    case Component::kK:
    case Component::kV:
    case Component::kLatent:
    case Component::kCross:
      return Part::kQkv;
    case Component::kO:
      return Part::kAttnOut;
    case Component::kFfn:
    case Component::kRouter:
    case Component::kExperts:
    case Component::kShared:
      return Part::kFfn;
    case Component::kHead:
    case Component::kPooler:
      return Part::kHead;
    default:
      return Part::kOther;
  }
}

int64_t n_rows_of(RowsOf rows, const PassShape& shape) {
  switch (rows) {
    case RowsOf::kTokens:
      return sat_mul(shape.n_sequences, shape.n_rows);
    case RowsOf::kSource:
      return shape.has_new_source ? sat_mul(shape.n_sequences, shape.n_source) : 0;
    case RowsOf::kLogits:
      return sat_mul(shape.n_sequences, shape.n_logits);
    case RowsOf::kNone:
      break;
  }
  return 0;
}

// Sum of p for p in [first, last], both >= 0.
int64_t range_sum(int64_t first, int64_t last) {
  if (last < first) return 0;
  const int64_t n = last - first + 1, ends = sat_add(first, last);
  return n % 2 == 0 ? sat_mul(n / 2, ends) : ends == kSaturated ? kSaturated : sat_mul(n, ends / 2 + ends % 2);
}

// Sum of floor(p / s) for p in [0, last].
int64_t floor_sum(int64_t last, int64_t s) {
  if (last < 0) return 0;
  const int64_t q = last / s, r = last % s;
  return sat_add(sat_mul(s, range_sum(0, q - 1)), sat_mul(q, r + 1));
}

int64_t floor_sum(int64_t first, int64_t last, int64_t s) {
  if (last < first) return 0;
  const int64_t all = floor_sum(last, s);
  return all == kSaturated ? kSaturated : all - floor_sum(first - 1, s);
}

// Sum of min(p + 1, window) for p in [first, last].
int64_t window_pairs(int64_t first, int64_t last, int64_t window) {
  const int64_t n_short = std::min(last, window - 1);  // last row that sees everything before it
  const int64_t n_full = last - std::max(first, n_short + 1) + 1;
  return sat_add(range_sum(first + 1, n_short + 1), sat_mul(std::max<int64_t>(n_full, 0), window));
}

// Row p sees its window and p - j stride beyond it.
int64_t strided_pairs(const AttentionSpec& attn, int64_t first, int64_t last) {
  const int64_t j_first = ceil_div(attn.window, attn.stride);
  const int64_t begin = std::max(first, sat_mul(j_first, attn.stride));
  if (begin > last) return window_pairs(first, last, attn.window);
  const int64_t beyond = floor_sum(begin, last, attn.stride) - sat_mul(last - begin + 1, j_first - 1);
  return sat_add(window_pairs(first, last, attn.window), beyond);
}

// Row p sees its block up to itself and the last n_summary columns of each block before.
int64_t block_pairs(const AttentionSpec& attn, int64_t first, int64_t last) {
  const int64_t n_blocks = floor_sum(first, last, attn.stride);
  const int64_t inside = range_sum(first, last) - sat_mul(attn.stride, n_blocks) + (last - first + 1);
  return sat_add(inside, sat_mul(attn.n_summary, n_blocks));
}

constexpr size_t index_of(Part part) { return static_cast<size_t>(part); }

// Layers alike are one term. Of models whose layers all differ only the last few are compared.
void add_term(const FlopsTerm& term, std::vector<FlopsTerm>* terms) {
  constexpr ptrdiff_t kMostCompared = 8;
  const auto begin = terms->end() - std::min(std::ssize(*terms), kMostCompared);
  const auto at = std::find_if(begin, terms->end(), [&](const FlopsTerm& other) {
    return other.name == term.name && other.factors == term.factors;
  });
  if (at == terms->end()) return terms->push_back(term);
  ++at->n_layer;
}

// The scores of one layer.
struct Scores {
  std::string_view name;
  int64_t visible = 0, all = 0;  ///< pairs
  bool is_absorbed = false;      ///< products with the latent vectors
};

// Values of q and k that a score sums over, and of a weighted sum.
FlopsTerm::Factor score_width(const AttentionSpec& attn, bool is_absorbed) {
  if (attn.kv_lora_rank == 0 || !is_absorbed) return {"(d_head + d_head_v)", attn.d_head + attn.d_head_v};
  return {"(2 kv_lora_rank + d_head_rope)", 2 * attn.kv_lora_rank + attn.d_head_rope};
}

void add_scores(const Scores& scores, const AttentionSpec& attn, const PassShape& shape, PassWork* work) {
  const FlopsTerm::Factor width = score_width(attn, scores.is_absorbed);
  const int64_t one = sat_mul(2, shape.n_sequences, attn.n_head, width.value);
  PartWork& part = work->parts[index_of(Part::kScores)];
  part.flops = sat_add(part.flops, sat_mul(one, scores.visible));
  part.flops_dense = sat_add(part.flops_dense, sat_mul(one, scores.all));
  if (scores.visible == 0) return;
  add_term(
      {.name = scores.name,
       .factors =
           {{{"n_sequences", shape.n_sequences}, {"n_head", attn.n_head}, width, {"visible pairs", scores.visible}}}},
      &work->terms[index_of(Part::kScores)]);
}

int64_t layer_cache_bytes(const ModelConfig& config, const AttentionSpec& attn, const PassShape& shape,
                          const WorkTypes& types) {
  if (config.kind == ModelKind::kEncoder) return 0;
  const int64_t row = layer_cache_bytes_per_token(attn, types.cache_type, types.is_latent_expanded);
  const int64_t n_read = attn.mask == MaskKind::kWindow ? std::min(shape.n_past, attn.window) : shape.n_past;
  return sat_mul(shape.n_sequences, row, sat_add(n_read, shape.n_rows));
}

// K and V of the source, made once and read by every pass behind that.
int64_t cross_cache_bytes(const AttentionSpec& attn, const PassShape& shape, const WorkTypes& types) {
  const int64_t row = layer_cache_bytes_per_token(attn, types.cache_type, true);
  return sat_mul(shape.n_sequences, row, shape.n_source);
}

// q and weighted values of so many rows; keys and values too where no cache has them.
int64_t score_row_bytes(const AttentionSpec& attn, int64_t n_rows, bool has_cache, const WorkTypes& types) {
  const int64_t n_head = attn.n_head + (has_cache ? 0 : attn.n_kv_head);
  return sat_mul(n_rows, n_head, attn.d_head + attn.d_head_v, types.element_bytes);
}

void add_score_bytes(int64_t cache_bytes, int64_t row_bytes, PassWork* work) {
  PartWork& part = work->parts[index_of(Part::kScores)];
  part.cache_bytes = sat_add(part.cache_bytes, cache_bytes);
  part.row_bytes = sat_add(part.row_bytes, row_bytes);
}

void add_decoder_scores(const ModelConfig& config, const PassShape& shape, const WorkTypes& types, PassWork* work) {
  const int64_t n_keys = sat_add(shape.n_past, shape.n_rows), n_rows = n_rows_of(RowsOf::kTokens, shape);
  const bool has_cache = config.kind != ModelKind::kEncoder;
  for (const BlockSpec& block : config.blocks) {
    const AttentionSpec& attn = block.attn;
    add_scores({.name = attn.mask == MaskKind::kWindow ? "layers with a window" : "layers",
                .visible = visible_pairs(attn, shape.n_rows, shape.n_past),
                .all = sat_mul(shape.n_rows, n_keys),
                .is_absorbed = shape.n_past > 0 && !types.is_latent_expanded},
               attn, shape, work);
    add_score_bytes(layer_cache_bytes(config, attn, shape, types), score_row_bytes(attn, n_rows, has_cache, types),
                    work);
    if (!block.has_cross_attention) continue;
    const int64_t n_pairs = sat_mul(shape.n_rows, shape.n_source);
    add_scores({.name = "cross attention", .visible = n_pairs, .all = n_pairs}, attn, shape, work);
    add_score_bytes(cross_cache_bytes(attn, shape, types), score_row_bytes(attn, n_rows, true, types), work);
  }
}

void add_encoder_scores(const ModelConfig& config, const PassShape& shape, const WorkTypes& types, PassWork* work) {
  const int64_t n_pairs = shape.has_new_source ? sat_mul(shape.n_source, shape.n_source) : 0;
  const int64_t n_rows = n_rows_of(RowsOf::kSource, shape);
  for (const BlockSpec& block : config.encoder_blocks) {
    add_scores({.name = "encoder", .visible = n_pairs, .all = n_pairs}, block.attn, shape, work);
    add_score_bytes(0, score_row_bytes(block.attn, n_rows, false, types), work);
  }
}

// Of the bytes of all experts, those that so many rows are expected to choose.
int64_t expert_bytes(const ModelConfig& config, int64_t n_bytes, int64_t n_rows) {
  for (const BlockSpec& block : config.blocks) {
    const MoeSpec& moe = block.ffn.moe;
    if (moe.n_expert == 0) continue;
    const double share = expected_experts(moe, n_rows) / static_cast<double>(moe.n_expert);
    return n_bytes == kSaturated ? kSaturated
                                 : static_cast<int64_t>(std::llround(static_cast<double>(n_bytes) * share));
  }
  return n_bytes;
}

struct Matrices {
  const MatrixSum& sum;
  Component component;
  RowsOf rows;
};

std::string_view rows_name(RowsOf rows) {
  if (rows == RowsOf::kSource) return "rows of the source";
  return rows == RowsOf::kLogits ? "rows of logits" : "rows";
}

void add_matrices(const ModelConfig& config, const Matrices& matrices, const PassShape& shape, const WorkTypes& types,
                  Part part, PassWork* pass) {
  const int64_t n_rows = n_rows_of(matrices.rows, shape);
  const MatrixSum& sum = matrices.sum;
  if (n_rows == 0 || sum.n_active == 0) return;
  PartWork& work = pass->parts[index_of(part)];
  const int64_t flops = sat_mul(2, n_rows, sum.n_active);
  work.flops = sat_add(work.flops, flops);
  work.flops_dense = sat_add(work.flops_dense, flops);
  const bool is_expert = matrices.component == Component::kExperts;
  work.weight_bytes = sat_add(work.weight_bytes, is_expert ? expert_bytes(config, sum.n_bytes, n_rows) : sum.n_bytes);
  work.row_bytes = sat_add(work.row_bytes, sat_mul(n_rows, sum.n_edges, types.element_bytes));
  add_term({.name = component_name(matrices.component),
            .factors = {{{rows_name(matrices.rows), n_rows}, {"elements that a row meets", sum.n_active}}}},
           &pass->terms[index_of(part)]);
}

// A tied head is the embedding once more.
void add_tied_head(const ModelConfig& config, const WeightsPlan& weights, const PassShape& shape,
                   const WorkTypes& types, PassWork* work) {
  if (!config.is_head_tied || config.kind == ModelKind::kEncoder) return;
  const MatrixSum& embedding = weights.matrix(Component::kEmbedding, RowsOf::kNone);
  add_matrices(config, {embedding, Component::kHead, RowsOf::kLogits}, shape, types, Part::kHead, work);
}

PlanItem term_item(const FlopsTerm& term) {
  std::vector<Factor> factors = {{"", 2}, {"layers", term.n_layer}};
  for (const FlopsTerm::Factor& factor : term.factors) factors.push_back({std::string(factor.name), factor.value});
  return product_item(std::string(term.name), factors);
}

PlanItem part_item(const PassWork& work, Part part) {
  std::vector<PlanItem> terms;
  for (const FlopsTerm& term : work.terms[index_of(part)]) terms.push_back(term_item(term));
  std::string name(part_name(part));
  if (terms.empty()) return {.name = std::move(name), .amount = work[part].flops};
  if (terms.size() > 1) return sum_item(std::move(name), std::move(terms));
  terms[0].name = std::move(name);
  return std::move(terms[0]);
}

}  // namespace

std::string_view part_name(Part part) { return kPartNames[static_cast<size_t>(part)]; }

int64_t PartWork::n_bytes() const { return sat_add(weight_bytes, sat_add(cache_bytes, row_bytes)); }

PartWork PassWork::total() const {
  PartWork sum;
  for (const PartWork& part : parts) {
    sum.flops = sat_add(sum.flops, part.flops);
    sum.flops_dense = sat_add(sum.flops_dense, part.flops_dense);
    sum.weight_bytes = sat_add(sum.weight_bytes, part.weight_bytes);
    sum.cache_bytes = sat_add(sum.cache_bytes, part.cache_bytes);
    sum.row_bytes = sat_add(sum.row_bytes, part.row_bytes);
  }
  return sum;
}

int64_t visible_pairs(const AttentionSpec& attn, int64_t n_rows, int64_t n_past) {
  const int64_t first = n_past, last = sat_add(n_past, n_rows) - 1;  // positions of the rows
  switch (attn.mask) {
    case MaskKind::kFull:
      return sat_mul(n_rows, last + 1);
    case MaskKind::kWindow:
      return window_pairs(first, last, attn.window);
    case MaskKind::kStrided:
      return strided_pairs(attn, first, last);
    case MaskKind::kFixedBlocks:
      return block_pairs(attn, first, last);
    case MaskKind::kCausal:
      break;
  }
  return range_sum(first + 1, last + 1);
}

double expected_experts(const MoeSpec& moe, int64_t n_rows) {
  const auto n = static_cast<double>(moe.n_expert), k = static_cast<double>(moe.n_expert_used);
  return n * (1.0 - std::pow(1.0 - k / n, static_cast<double>(n_rows)));
}

std::optional<ExpertTraffic> expert_traffic(const ModelConfig& config) {
  const auto has_experts = [](const BlockSpec& block) { return block.ffn.moe.n_expert > 0; };
  const auto block = std::find_if(config.blocks.begin(), config.blocks.end(), has_experts);
  if (block == config.blocks.end()) return std::nullopt;
  const MoeSpec& moe = block->ffn.moe;
  return ExpertTraffic{moe.n_expert, moe.n_expert_used, expected_experts(moe, 8), expected_experts(moe, 64)};
}

PassWork pass_work(const ModelConfig& config, const WeightsPlan& weights, const PassShape& shape,
                   const WorkTypes& types) {
  PassWork work{.is_latent_expanded = types.is_latent_expanded};
  for (int c = 0; c < kNComponents; ++c) {
    for (int r = 0; r < kNRowsOf; ++r) {
      const auto component = static_cast<Component>(c);
      const auto rows = static_cast<RowsOf>(r);
      const bool is_head = component == Component::kEmbedding && rows == RowsOf::kLogits;
      add_matrices(config, {weights.matrix(component, rows), component, rows}, shape, types,
                   is_head ? Part::kHead : part_of(component), &work);
    }
  }
  add_tied_head(config, weights, shape, types, &work);
  add_decoder_scores(config, shape, types, &work);
  add_encoder_scores(config, shape, types, &work);
  return work;
}

PlanItem work_item(const PassWork& work, std::string name) {
  std::vector<PlanItem> parts;
  for (int p = 0; p < kNParts; ++p) parts.push_back(part_item(work, static_cast<Part>(p)));
  return sum_item(std::move(name), std::move(parts));
}

}  // namespace vitro
