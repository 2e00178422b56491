// Checkpoint: what a user calls MODEL, opened: a Hugging Face folder, a .gguf file, a bare config.json, or a llama2.c
// .bin. Every size is checked; no tensor has been touched.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/gguf.h"
#include "formats/mapped_file.h"
#include "formats/value.h"
#include "formats/weight_index.h"
#include "tensor/view.h"

namespace vitro {

/// Where names and layouts come from; a family has one column of tensor names for each.
enum class SourceFormat { kHuggingFace, kGguf, kLlama2c };

struct OpenOptions {
  LoadMode mode = LoadMode::kMap;
  bool needs_weights = true;  ///< false: a bare config.json or a GGUF header is enough (has_weights() tells)
};

/// The files of a Hugging Face folder, in memory. What they point to must outlive whatever is opened from them.
struct MemoryFolder {
  std::string_view name;  ///< for messages
  std::string_view config;
  std::span<const std::byte> weights;  ///< model.safetensors
};

/// An opened model: settings, tensor table, bytes. Immutable; movable. Views live as long as it does.
class Checkpoint {
 public:
  /// `path`: a folder with config.json and model.safetensors or model.safetensors.index.json (every shard must hold
  /// exactly the tensors the index says); a config.json; a .gguf file (by magic, whatever its name); a llama2.c .bin.
  /// A folder with only pickle files (pytorch_model.bin) is Unsupported with advice to convert. A folder that holds no
  /// config.json but exactly one .gguf opens that.
  static Result<Checkpoint> open(const std::filesystem::path& path, const OpenOptions& options = {});

  /// The same from memory, checked as files are; no tensor is copied.
  static Result<Checkpoint> open(const MemoryFolder& folder);

  SourceFormat format() const { return format_; }
  const std::filesystem::path& path() const { return path_; }
  /// Files behind the tensors, for messages and sizes.
  uint64_t file_bytes() const;

  /// config.json as it is; GGUF metadata without tokenizer.*; the llama2.c header.
  const Value& config() const { return config_; }
  /// generation_config.json, or null.
  const Value& generation_config() const { return generation_config_; }
  /// The GGUF file itself (tokenizer arrays), or null.
  const GgufFile* gguf() const { return gguf_.get(); }

  bool has_weights() const { return has_weights_; }
  const WeightIndex& tensors() const { return tensors_; }
  /// Null if there is no tensor of that name.
  const WeightEntry* find(std::string_view name) const;
  /// The tensor's bytes. Only when has_weights().
  ConstTensorView view(const WeightEntry& entry) const;
  /// Bytes [first, first + n_bytes) of a tensor have been copied: their file pages may go.
  void release(const WeightEntry& entry, uint64_t first, uint64_t n_bytes) const;

 private:
  struct Opener;  ///< in checkpoint.cc

  SourceFormat format_ = SourceFormat::kHuggingFace;
  std::filesystem::path path_;
  std::vector<MappedFile> files_;
  Value config_;
  Value generation_config_;
  std::unique_ptr<GgufFile> gguf_;
  WeightIndex tensors_;
  bool has_weights_ = false;
};

}  // namespace vitro
