// Which .gguf file of a repository is meant: the same answer for a hub's list and for what is here. Pure functions of
// file names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vitro {

/// One model in GGUF form: a file, or the parts that a large one was split into ("x-00001-of-00003.gguf").
struct GgufModel {
  std::string name;                ///< path of the file or of the first part
  std::vector<std::string> parts;  ///< paths, sorted
  size_t n_parts = 1;              ///< that there should be, by their names

  bool is_split() const { return n_parts != 1 || parts.size() != 1; }
};

/// The models among `files`, sorted by name; no companions of another one (projectors of images).
std::vector<GgufModel> gguf_models(std::span<const std::string> files);

/// Those that have `part` in their path, in either case: where it is a word between dots, dashes or slashes in some
/// (Q4_0 is none of Q4_0_4_4), only these. All for an empty `part`.
std::vector<GgufModel> matching(std::span<const GgufModel> models, std::string_view part);

}  // namespace vitro
