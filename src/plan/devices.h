// The catalogue of devices: what each can hold, move and compute, every figure with the data sheet it is from. The data
// are data/devices.json, which is built into the program; a user may give a file of their own. Peaks are dense: vendors
// often print twice that, for matrices of which half is zero.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/item.h"

namespace vitro {

/// X-macro: enum name, printed name, what is multiplied. Matrix products; float types sum in float32 where the sheet
/// says so.
// clang-format off
#define VITRO_PEAK_TYPES(X)                                          \
  X(kF32, "f32", "float32, no rounding of the operands")             \
  X(kTf32, "tf32", "float32 operands rounded to 10 bits of mantissa")\
  X(kF16, "f16", "float16")                                          \
  X(kBf16, "bf16", "bfloat16")                                       \
  X(kFp8, "fp8", "FP8, E4M3 or E5M2")                                \
  X(kInt8, "int8", "int8, sums in int32")                            \
  X(kFp4, "fp4", "FP4 with scales of blocks")                        \
  X(kInt4, "int4", "int4, sums in int32")
// clang-format on

enum class PeakType : uint8_t {
#define VITRO_X(name, text, doc) name,
  VITRO_PEAK_TYPES(VITRO_X)
#undef VITRO_X
};
inline constexpr int kNPeakTypes = static_cast<int>(PeakType::kInt4) + 1;
std::string_view peak_type_name(PeakType type);
/// InvalidArgument lists the names.
Result<PeakType> parse_peak_type(std::string_view name);

/// A number and who says so; 0: not known.
struct Figure {
  double value = 0;
  std::string source = {};  ///< "NVIDIA H100 data sheet, 2023"
  bool is_known() const { return value > 0; }
};

struct Device {
  std::string name;                       ///< "h100-80g"
  std::vector<std::string> aliases = {};  ///< "h100", "h100-sxm"
  std::string title = {};                 ///< "NVIDIA H100 SXM5 80 GB"
  std::string note = {};                  ///< what a reader of the figures must know; mostly empty
  int64_t memory_bytes = 0;               ///< as sold: 80 GB of memory chips are 80 x 2^30 B
  std::string memory_as_sold = {};        ///< "80 GB"
  std::string memory_source = {};
  int64_t usable_bytes = 0;  ///< what the driver gives programs in all; 0: not known
  std::string usable_source = {};
  Figure bandwidth = {};                       ///< bytes/s of that memory
  std::array<Figure, kNPeakTypes> peaks = {};  ///< FLOP/s (int: operations/s), dense
  Figure link = {};                            ///< bytes/s in one direction to the other devices of the machine
  std::string link_name = {};                  ///< "NVLink 4", "PCIe 4.0 x16"
  int64_t n_linked = 1;                        ///< devices that such links join, itself included
  Figure board_power = {};                     ///< W
  /// kExact: of a data sheet; kMeasured: this machine, by vitro bench machine.
  Certainty certainty = Certainty::kExact;
  std::string measured_at = {};  ///< kMeasured: "2026-11-30"

  const Figure& peak(PeakType type) const { return peaks[static_cast<size_t>(type)]; }
  /// What plans may fill: usable_bytes where it is known, else memory_bytes.
  int64_t n_bytes() const { return usable_bytes > 0 ? usable_bytes : memory_bytes; }
};

/// The devices of a JSON text in the form of data/devices.json. `where` names it in errors. Corrupt: not JSON, keys
/// that are not known, figures that are missing, not positive, or above any machine; texts that are long or have
/// control characters; names that occur twice. All problems at once.
Result<std::vector<Device>> parse_devices(std::string_view json, std::string_view where);
/// Those built in (parsed anew: keep them).
Result<std::vector<Device>> builtin_devices();
/// Those built in and those of a user's file, which replace built-in ones of the same name. NotFound, IoError, and as
/// parse_devices; files above 4 MiB are refused.
Result<std::vector<Device>> load_devices(const std::string& path);

/// By name or alias, any case. NotFound names near ones, or what there is.
Result<const Device*> find_device(std::span<const Device> devices, std::string_view name);

/// The fastest type that engines multiply weights of this name in ("bf16", "q4_k", "fp8"): the type itself where the
/// device has a peak for it; bf16 or f16 for weights that are widened first, as all of 4 bits are (int4, nf4, q4_k: the
/// activations beside them keep 16); f32 otherwise. See narrows_activations.
PeakType compute_type(const Device& device, std::string_view weight_type);
/// Whether products of the type also need activations that narrow (8 bits, 4 bits): such a peak is that of engines that
/// round them, and those that widen fp8 or int8 weights instead reach the peak of bf16.
constexpr bool narrows_activations(PeakType type) { return type >= PeakType::kFp8; }

}  // namespace vitro
