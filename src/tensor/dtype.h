// Element types of tensors, in files and in memory, with the size of their blocks. The table is the only list of them.
// GGUF numbers and block sizes: ggml's published table; quantised layouts are described in tensor/quant_block.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vitro {

/// X-macro: enum name, printed name, elements a block, bytes a block, GGUF type number (-1: not a GGUF type).
// clang-format off
#define VITRO_DTYPES(X)             \
  X(kF32, "F32", 1, 4, 0)           \
  X(kF16, "F16", 1, 2, 1)           \
  X(kQ4_0, "Q4_0", 32, 18, 2)       \
  X(kQ4_1, "Q4_1", 32, 20, 3)       \
  X(kQ5_0, "Q5_0", 32, 22, 6)       \
  X(kQ5_1, "Q5_1", 32, 24, 7)       \
  X(kQ8_0, "Q8_0", 32, 34, 8)       \
  X(kQ8_1, "Q8_1", 32, 36, 9)       \
  X(kQ2_K, "Q2_K", 256, 84, 10)     \
  X(kQ3_K, "Q3_K", 256, 110, 11)    \
  X(kQ4_K, "Q4_K", 256, 144, 12)    \
  X(kQ5_K, "Q5_K", 256, 176, 13)    \
  X(kQ6_K, "Q6_K", 256, 210, 14)    \
  X(kQ8_K, "Q8_K", 256, 292, 15)    \
  X(kIQ2_XXS, "IQ2_XXS", 256, 66, 16) \
  X(kIQ2_XS, "IQ2_XS", 256, 74, 17) \
  X(kIQ3_XXS, "IQ3_XXS", 256, 98, 18) \
  X(kIQ1_S, "IQ1_S", 256, 50, 19)   \
  X(kIQ4_NL, "IQ4_NL", 32, 18, 20)  \
  X(kIQ3_S, "IQ3_S", 256, 110, 21)  \
  X(kIQ2_S, "IQ2_S", 256, 82, 22)   \
  X(kIQ4_XS, "IQ4_XS", 256, 136, 23) \
  X(kI8, "I8", 1, 1, 24)            \
  X(kI16, "I16", 1, 2, 25)          \
  X(kI32, "I32", 1, 4, 26)          \
  X(kI64, "I64", 1, 8, 27)          \
  X(kF64, "F64", 1, 8, 28)          \
  X(kIQ1_M, "IQ1_M", 256, 56, 29)   \
  X(kBF16, "BF16", 1, 2, 30)        \
  X(kTQ1_0, "TQ1_0", 256, 54, 34)   \
  X(kTQ2_0, "TQ2_0", 256, 66, 35)   \
  X(kMXFP4, "MXFP4", 32, 17, 39)    \
  X(kNVFP4, "NVFP4", 64, 36, 40)    \
  X(kQ1_0, "Q1_0", 128, 18, 41)     \
  X(kQ2_0, "Q2_0", 64, 18, 42)      \
  X(kU8, "U8", 1, 1, -1)            \
  X(kU16, "U16", 1, 2, -1)          \
  X(kU32, "U32", 1, 4, -1)          \
  X(kU64, "U64", 1, 8, -1)          \
  X(kBool, "BOOL", 1, 1, -1)        \
  X(kF8E4M3, "F8_E4M3", 1, 1, -1)   \
  X(kF8E5M2, "F8_E5M2", 1, 1, -1)
// clang-format on

enum class DType : uint8_t {
#define VITRO_X(name, text, elements, bytes, gguf) name,
  VITRO_DTYPES(VITRO_X)
#undef VITRO_X
};

/// Every type, in the order of the table.
inline constexpr DType kAllDTypes[] = {
#define VITRO_X(name, text, elements, bytes, gguf) DType::name,
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
};

/// What a type is called and how its elements are grouped. A row of n elements needs n / block_elements blocks.
struct DTypeInfo {
  std::string_view name;
  int32_t block_elements;
  int32_t block_bytes;
  int32_t gguf_type;  ///< -1 where GGUF has no such type
};

/// Never fails: every enumerator has a row.
const DTypeInfo& dtype_info(DType dtype);

/// From the number in a GGUF tensor record; nothing if unknown.
std::optional<DType> dtype_from_gguf(uint32_t gguf_type);

/// From a name as safetensors writes it ("F32", "BF16", ...), case-sensitive; nothing if unknown.
std::optional<DType> dtype_from_name(std::string_view name);

/// Bytes of `n_elements` in one row; nothing if the row is not whole blocks or the size overflows.
std::optional<uint64_t> row_bytes(DType dtype, uint64_t n_elements);

}  // namespace vitro
