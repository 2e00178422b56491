#include "model/arch/hf_config.h"

namespace vitro {
namespace {

// Balance of the experts while training, and what a pass may give out besides logits.
constexpr std::string_view kTrainingKeys[] = {
    "output_router_logits", "router_aux_loss_coef", "aux_loss_alpha",    "seq_aux", "ep_size",
    "expert_dropout",       "input_jitter_noise",   "router_z_loss_coef"};

}  // namespace

MoeSpec read_hf_experts(ConfigReader& reader, const ExpertDefaults& defaults) {
  MoeSpec moe;
  moe.n_expert = reader.get_size("moe.n_expert", {"num_local_experts", "num_experts", "n_routed_experts"},
                                 defaults.n_expert, kMaxExperts);
  moe.n_expert_used =
      reader.get_size("moe.n_expert_used", {"num_experts_per_tok"}, defaults.n_expert_used, kMaxExperts);
  moe.d_ff_expert = defaults.d_ff_expert;
  if (defaults.has_d_ff_expert) {
    moe.d_ff_expert = reader.get_size("moe.d_ff_expert", {"moe_intermediate_size"}, defaults.d_ff_expert);
  }
  moe.is_renormalised = defaults.is_renormalised;
  if (defaults.has_renormalised) {
    moe.is_renormalised = reader.get_bool("moe.is_renormalised", {"norm_topk_prob"}, defaults.is_renormalised);
  }
  reader.ignore(kTrainingKeys);
  return moe;
}

FeedForwardSpec with_experts(const FeedForwardSpec& dense, const MoeSpec& moe) {
  FeedForwardSpec ffn = dense;
  ffn.d_ff = 0;
  ffn.moe = moe;
  return ffn;
}

}  // namespace vitro
