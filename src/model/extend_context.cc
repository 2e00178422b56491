#include "model/extend_context.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace vitro {
namespace {

struct KindName {
  std::string_view name;
  RopeScaling kind;
};
constexpr KindName kKinds[] = {{"linear", RopeScaling::kLinear},
                               {"ntk", RopeScaling::kNtk},
                               {"dynamic", RopeScaling::kDynamic},
                               {"yarn", RopeScaling::kYarn}};

bool is_rotary(const BlockSpec& block) { return block.attn.position == PositionKind::kRope; }

bool sees_all(const AttentionSpec& attn, int64_t n_ctx) {
  return attn.mask != MaskKind::kWindow || attn.window >= n_ctx;
}

Status check_positions(const ModelConfig& config) {
  if (std::none_of(config.blocks.begin(), config.blocks.end(), is_rotary)) {
    return fail(ErrorCode::kInvalidArgument, "this model has no rotary positions that could be stretched");
  }
  const bool is_stretched = std::any_of(config.blocks.begin(), config.blocks.end(), [](const BlockSpec& block) {
    return is_rotary(block) && block.attn.rope.scaling != RopeScaling::kNone;
  });
  if (!is_stretched) return {};
  return fail(ErrorCode::kInvalidArgument,
              "this model's rotary positions are stretched already, to a context of {} tokens", config.n_ctx);
}

Status check_extension(const ModelConfig& config, RopeScaling kind, double factor) {
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return k.kind == kind; });
  if (known == std::end(kKinds)) {
    return fail(ErrorCode::kInvalidArgument, "a context is extended by linear, ntk, dynamic or yarn");
  }
  if (!(std::isfinite(factor) && factor > 1.0)) {
    return fail(ErrorCode::kInvalidArgument, "factor {} must be a number above 1", factor);
  }
  if (factor * static_cast<double>(config.n_ctx) > static_cast<double>(kMaxContext)) {
    return fail(ErrorCode::kInvalidArgument, "{} times the {} tokens of this model is more than {}", factor,
                config.n_ctx, kMaxContext);
  }
  return {};
}

}  // namespace

Result<ContextExtension> parse_context_extension(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return k.name == name; });
  const std::string_view number = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  double factor = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
  if (known == std::end(kKinds) || error != std::errc() || end != number.data() + number.size()) {
    return fail(ErrorCode::kInvalidArgument,
                "'{}': expected KIND:FACTOR, such as yarn:4; kinds are linear, ntk, dynamic, yarn", text);
  }
  return ContextExtension{known->kind, factor};
}

Status extend_context(ModelConfig* config, RopeScaling kind, double factor) {
  VITRO_TRY(check_extension(*config, kind, factor));
  VITRO_TRY(check_positions(*config));
  ModelConfig out = *config;
  const bool has_full_layers = std::any_of(out.blocks.begin(), out.blocks.end(), [&](const BlockSpec& block) {
    return is_rotary(block) && sees_all(block.attn, config->n_ctx);
  });
  for (BlockSpec& block : out.blocks) {
    if (!is_rotary(block) || (has_full_layers && !sees_all(block.attn, config->n_ctx))) continue;
    RopeSpec& rope = block.attn.rope;
    rope.scaling = kind;
    rope.factor = factor;
    rope.n_ctx_original = config->n_ctx;
  }
  out.n_ctx = static_cast<int64_t>(factor * static_cast<double>(config->n_ctx));
  VITRO_TRY(check_config(out));
  *config = std::move(out);
  return {};
}

}  // namespace vitro
