// Tensor parallel (Shoeybi et al. 2019, arXiv 1909.08053): every matrix and every head is on one of n devices, the
// residual stream on all of them. What the device with most holds, computes and sends.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "plan/item.h"
#include "plan/work.h"

namespace vitro {

/// InvalidArgument for fewer than 1 device, or more than the attention has heads: the others would have nothing to do.
Status check_tensor_parallel(const ModelConfig& config, int64_t n_devices);

/// One device's share. FLOPs, weights and rows of matrices: 1 / n; of attention, its query heads, ceil(n_head / n); of
/// the cache, its key-value heads. Parts that are not divided (Part::kOther) stay whole.
PassWork device_work(const ModelConfig& config, const PassWork& work, int64_t n_devices);

/// Key-value heads are not cut: of n_kv_head heads each device holds ceil(n_kv_head / n), so with n above n_kv_head the
/// cache is no longer divided. A latent cache (MLA) is on every device; expanded it has the query heads to divide.
int64_t device_cache_bytes(const ModelConfig& config, int64_t cache_bytes, int64_t n_devices, bool is_latent_expanded);

/// ceil(n_bytes / n).
int64_t device_weight_bytes(int64_t weight_bytes, int64_t n_devices);

/// What one device holds of the parts of an inference plan (plan/inference_plan.h): weights and cache as above,
/// everything else whole.
PlanItem device_memory(const ModelConfig& config, const PlanItem& memory, int64_t n_devices, bool is_latent_expanded);

/// Bytes that each device sends in a pass, and receives. A sum over devices of x bytes as a ring: 2 (n - 1) pieces of
/// ceil(x / n) (Patarasuk & Yuan 2009, doi 10.1016/j.jpdc.2008.09.002). x is rows x d_model x element_bytes, once for
/// attention, for cross-attention and for the feed-forward part of a block; once for all where they are parallel. The
/// logits are gathered: (n - 1) pieces of ceil(rows x vocab_size / n) x element_bytes.
int64_t exchanged_bytes(const ModelConfig& config, const PassShape& shape, int64_t n_devices, int64_t element_bytes);

}  // namespace vitro
