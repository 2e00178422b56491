// A small random model of the llama family as a GGUF file, its matrices in any weight type: for tests of bits, where
// values do not matter.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/rng.h"
#include "testing/gguf_writer.h"
#include "testing/random_blocks.h"

namespace vitro::testing {

struct RandomModelShape {
  DType dtype = DType::kF32;
  int64_t d_model = 256;
  int64_t d_ff = 512;
  int64_t d_head = 32;
  int64_t n_kv_head = 2;
  int64_t n_layer = 2;
  int64_t vocab_size = 272;
};

/// Counter-based, so that a model is a function of its shape.
class RandomBytes {
 public:
  double uniform() { return uniform_at(1, 0, counter_++); }
  char byte() { return static_cast<char>(static_cast<uint8_t>(uniform() * 256)); }

 private:
  uint64_t counter_ = 0;
};

inline std::string float_data(DType dtype, int64_t n, RandomBytes& random) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>((random.uniform() - 0.5) * 0.25);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    if (dtype == DType::kF32) out.append(reinterpret_cast<const char*>(&bits), 4);
    const auto bf16 = static_cast<uint16_t>(bits >> 16);
    if (dtype == DType::kBF16) out.append(reinterpret_cast<const char*>(&bf16), 2);
    // Any half from 2^-8 to 2^-3 with a random sign and fraction.
    const auto half = static_cast<uint16_t>((7 + static_cast<int>(random.uniform() * 5)) << 10 |
                                            static_cast<int>(random.uniform() * 1024) | (bits >> 16 & 0x8000));
    if (dtype == DType::kF16) out.append(reinterpret_cast<const char*>(&half), 2);
  }
  return out;
}

/// A power of two that keeps weights of the type below 1/2: K types multiply it with scales of six or eight bits.
inline uint16_t small_half(DType dtype) {
  if (dtype_info(dtype).block_elements == 256) return 0x0400;                 // 2^-14
  return dtype == DType::kQ8_0 || dtype == DType::kIQ4_NL ? 0x1000 : 0x2000;  // 2^-11, 2^-7
}

/// Random quants with small scales.
inline std::string block_data(DType dtype, int64_t n, RandomBytes& random) {
  const auto block_bytes = static_cast<size_t>(dtype_info(dtype).block_bytes);
  std::string out(static_cast<size_t>(n / dtype_info(dtype).block_elements) * block_bytes, '\0');
  for (size_t at = 0; at < out.size(); at += block_bytes) {
    fill_block(
        dtype, reinterpret_cast<std::byte*>(out.data() + at), [&] { return random.byte(); },
        [&] { return small_half(dtype); }, [] { return 120; });  // 2^-8
  }
  return out;
}

inline std::string tensor_data(DType dtype, int64_t n, RandomBytes& random) {
  return dtype_info(dtype).block_elements == 1 ? float_data(dtype, n, random) : block_data(dtype, n, random);
}

/// `n` ids from 0 to n_distinct - 1.
inline std::vector<int32_t> random_ids(int64_t n, uint64_t seed, int64_t n_distinct = 272) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < n; ++i) {
    const double at = uniform_at(seed, 0, static_cast<uint64_t>(i));
    ids.push_back(static_cast<int32_t>(at * static_cast<double>(n_distinct)));
  }
  return ids;
}

/// Writes the file and returns its path.
inline std::filesystem::path write_random_model(const std::filesystem::path& folder, const RandomModelShape& shape) {
  const int64_t n_head = shape.d_model / shape.d_head;
  GgufWriter gguf;
  gguf.add("general.architecture", "llama")
      .add("llama.block_count", static_cast<uint32_t>(shape.n_layer))
      .add("llama.context_length", uint32_t{4096})
      .add("llama.embedding_length", static_cast<uint32_t>(shape.d_model))
      .add("llama.feed_forward_length", static_cast<uint32_t>(shape.d_ff))
      .add("llama.attention.head_count", static_cast<uint32_t>(n_head))
      .add("llama.attention.head_count_kv", static_cast<uint32_t>(shape.n_kv_head))
      .add("llama.rope.freq_base", 10000.0F)
      .add("llama.rope.dimension_count", static_cast<uint32_t>(shape.d_head))
      .add("llama.attention.layer_norm_rms_epsilon", 1e-5F)
      .add("llama.vocab_size", static_cast<uint32_t>(shape.vocab_size))
      .add("tokenizer.ggml.model", "no_vocab");
  RandomBytes random;
  const auto matrix = [&](const std::string& name, int64_t rows, int64_t cols) {
    gguf.add_tensor(name, shape.dtype, {rows, cols}, tensor_data(shape.dtype, rows * cols, random));
  };
  const auto gain = [&](const std::string& name) {
    gguf.add_tensor(name, DType::kF32, {shape.d_model},
                    bytes_of(std::vector<float>(static_cast<size_t>(shape.d_model), 1.0F)));
  };
  matrix("token_embd.weight", shape.vocab_size, shape.d_model);
  for (int64_t layer = 0; layer < shape.n_layer; ++layer) {
    const std::string p = "blk." + std::to_string(layer) + ".";
    gain(p + "attn_norm.weight");
    matrix(p + "attn_q.weight", n_head * shape.d_head, shape.d_model);
    matrix(p + "attn_k.weight", shape.n_kv_head * shape.d_head, shape.d_model);
    matrix(p + "attn_v.weight", shape.n_kv_head * shape.d_head, shape.d_model);
    matrix(p + "attn_output.weight", shape.d_model, n_head * shape.d_head);
    gain(p + "ffn_norm.weight");
    matrix(p + "ffn_gate.weight", shape.d_ff, shape.d_model);
    matrix(p + "ffn_up.weight", shape.d_ff, shape.d_model);
    matrix(p + "ffn_down.weight", shape.d_model, shape.d_ff);
  }
  gain("output_norm.weight");
  const auto path = folder / "random.gguf";
  write_file(path, gguf.bytes());
  return path;
}

}  // namespace vitro::testing
