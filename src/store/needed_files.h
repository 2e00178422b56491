// Which files of a repository a model needs: a pure function of their names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/names.h"

namespace vitro {

/// `files`: all names of the repository. In order of size, small ones first:
///   a file or a quantisation was asked for: that one (with its other parts, NAME-00001-of-00003.gguf)
///   the repository has safetensors weights: those of the top folder (the shards of the index, or model.safetensors,
///   not both), config.json, generation_config.json, tokenizer and template files, README.md and licence it has GGUF
///   files only: the one that is there; of several Q4_K_M, else Q4_0, else Q8_0
/// NotFound with the nearest names for a file that is not there; Unsupported for pickles alone; InvalidArgument,
/// listing the quantisations, where a choice is needed.
Result<std::vector<std::string>> needed_files(const std::vector<std::string>& files, const HubName& name);

}  // namespace vitro
