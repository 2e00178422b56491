#include "tensor/dtype.h"

#include <array>
#include <cstddef>

#include "base/checked_math.h"

namespace vitro {
namespace {

constexpr auto kInfos = std::to_array<DTypeInfo>({
#define VITRO_X(name, text, elements, bytes, gguf) {text, elements, bytes, gguf},
    VITRO_DTYPES(VITRO_X)
#undef VITRO_X
});

template <class Matches>
std::optional<DType> find_dtype(Matches matches) {
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (matches(kInfos[i])) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace

const DTypeInfo& dtype_info(DType dtype) { return kInfos[static_cast<size_t>(dtype)]; }

std::optional<DType> dtype_from_gguf(uint32_t gguf_type) {
  return find_dtype(
      [&](const DTypeInfo& info) { return info.gguf_type >= 0 && static_cast<uint32_t>(info.gguf_type) == gguf_type; });
}

std::optional<DType> dtype_from_name(std::string_view name) {
  return find_dtype([&](const DTypeInfo& info) { return info.name == name; });
}

std::optional<uint64_t> row_bytes(DType dtype, uint64_t n_elements) {
  const DTypeInfo& info = dtype_info(dtype);
  const auto block = static_cast<uint64_t>(info.block_elements);
  if (n_elements % block != 0) return std::nullopt;
  return checked_mul(n_elements / block, static_cast<uint64_t>(info.block_bytes));
}

}  // namespace vitro
