// A description from a family's name and a few sizes: what a model would be that nobody has published yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/arch/architecture.h"

namespace vitro {

/// In our names; each has the option of its name ("--d-model"). What is missing is as the family's reference class has
/// it, the width of the feed-forward by the family's rule, the heads by its usual width of a head.
struct ModelSizes {
  std::optional<int64_t> d_model = {}, n_layer = {};  ///< must be there
  std::optional<int64_t> n_head = {}, n_kv_head = {}, d_head = {}, d_ff = {}, vocab_size = {}, n_ctx = {};
  std::optional<int64_t> n_expert = {}, n_expert_used = {}, d_ff_expert = {};
  std::optional<bool> is_tied = {};
};

/// `family`: our name or the reference's model type. An encoder-decoder has n_layer layers in each stack. Unsupported:
/// unknown family, the known ones listed; InvalidArgument: names the options that are missing, wrong, or that the
/// family does not have.
Result<ModelDescription> describe_sizes(std::string_view family, const ModelSizes& sizes);
/// Names that describe_sizes knows, with commas.
std::string sized_families();

}  // namespace vitro
