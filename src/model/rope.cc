#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vitro {
namespace {

std::vector<double> base_frequencies(double theta, int64_t d_rot) {
  std::vector<double> frequencies(static_cast<size_t>(d_rot / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(d_rot));
  }
  return frequencies;
}

/// How many times the trained length the base is stretched for; 1 for kinds that leave it alone.
double ntk_stretch(const RopeSpec& spec, int64_t seq_len) {
  if (spec.scaling == RopeScaling::kNtk) return spec.factor;
  if (spec.scaling != RopeScaling::kDynamic) return 1.0;
  const double trained = static_cast<double>(spec.n_ctx_original);
  const double length = std::max(static_cast<double>(seq_len), trained);
  return spec.factor * length / trained - (spec.factor - 1.0);
}

double stretched_theta(const RopeSpec& spec, int64_t seq_len) {
  const double stretch = ntk_stretch(spec, seq_len);
  const double r = static_cast<double>(spec.d_rot);
  return stretch == 1.0 ? spec.theta : spec.theta * std::pow(stretch, r / (r - 2.0));
}

/// The (real) pair index whose frequency makes `n_turns` turns within the trained length.
double yarn_pair(const RopeSpec& spec, double n_turns) {
  const double trained = static_cast<double>(spec.n_ctx_original);
  return static_cast<double>(spec.d_rot) * std::log(trained / (n_turns * 2.0 * std::numbers::pi)) /
         (2.0 * std::log(spec.theta));
}

void stretch_yarn(const RopeSpec& spec, std::vector<double>& frequencies) {
  double low = yarn_pair(spec, spec.beta_fast);
  double high = yarn_pair(spec, spec.beta_slow);
  if (spec.is_truncated) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(spec.d_rot - 1));
  // Equal ends would divide by zero; the paper's code widens the ramp by this much.
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] = frequencies[i] / spec.factor * ramp + frequencies[i] * (1.0 - ramp);
  }
}

void stretch_llama3(const RopeSpec& spec, std::vector<double>& frequencies) {
  const double trained = static_cast<double>(spec.n_ctx_original);
  for (double& f : frequencies) {
    const double wavelength = 2.0 * std::numbers::pi / f;
    if (wavelength < trained / spec.high_freq_factor) continue;
    if (wavelength > trained / spec.low_freq_factor) {
      f /= spec.factor;
      continue;
    }
    const double smooth =
        (trained / wavelength - spec.low_freq_factor) / (spec.high_freq_factor - spec.low_freq_factor);
    f = (1.0 - smooth) * f / spec.factor + smooth * f;
  }
}

template <class T>
void divide(std::vector<double>& frequencies, std::span<const T> divisors) {
  const size_t n = std::min(frequencies.size(), divisors.size());
  for (size_t i = 0; i < n; ++i) frequencies[i] /= static_cast<double>(divisors[i]);
}

double yarn_mscale(double factor, double scale) { return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0; }

double longrope_attention_factor(const RopeSpec& spec) {
  if (spec.factor <= 1.0) return 1.0;
  return std::sqrt(1.0 + std::log(spec.factor) / std::log(static_cast<double>(spec.n_ctx_original)));
}

}  // namespace

std::vector<double> rope_frequencies(const RopeSpec& spec, int64_t seq_len, const RopeFactors& factors) {
  std::vector<double> frequencies = base_frequencies(stretched_theta(spec, seq_len), spec.d_rot);
  switch (spec.scaling) {
    case RopeScaling::kNone:
    case RopeScaling::kNtk:
    case RopeScaling::kDynamic:
      break;
    case RopeScaling::kLinear:
      for (double& f : frequencies) f /= spec.factor;
      break;
    case RopeScaling::kYarn:
      stretch_yarn(spec, frequencies);
      break;
    case RopeScaling::kLongRope: {
      const bool is_long = seq_len > spec.n_ctx_original;
      const std::vector<double>& list = is_long ? spec.long_factors : spec.short_factors;
      divide(frequencies, std::span<const double>(list));
      if (list.empty()) divide(frequencies, is_long ? factors.long_context : factors.short_context);
      break;
    }
    case RopeScaling::kLlama3:
      stretch_llama3(spec, frequencies);
      break;
    case RopeScaling::kFactors:
      divide(frequencies, factors.all);
      break;
  }
  return frequencies;
}

double rope_attention_factor(const RopeSpec& spec) {
  if (spec.attention_factor > 0.0) return spec.attention_factor;
  switch (spec.scaling) {
    case RopeScaling::kYarn:
      if (spec.mscale != 0.0 && spec.mscale_all_dim != 0.0) {
        return yarn_mscale(spec.factor, spec.mscale) / yarn_mscale(spec.factor, spec.mscale_all_dim);
      }
      return yarn_mscale(spec.factor, 1.0);
    case RopeScaling::kLongRope:
      return longrope_attention_factor(spec);
    default:
      return 1.0;
  }
}

}  // namespace vitro
