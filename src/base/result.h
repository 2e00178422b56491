// Result<T>: a value or an Error, on tl::expected. Status is a Result without a value.
//   Result<File> file = File::open(path);             if (!file) return tl::unexpected(file.error());
//   VITRO_TRY_ASSIGN(File file, File::open(path));    // the same in one line
#pragma once

#include <fmt/core.h>

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace vitro {

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Makes the unexpected side of any Result from a code and a fmt format string.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace vitro

#define VITRO_CONCAT_INNER(a, b) a##b
#define VITRO_CONCAT(a, b) VITRO_CONCAT_INNER(a, b)

/// Returns the error of a Status or Result expression from the enclosing function; does nothing on success.
#define VITRO_TRY(expr)                                                         \
  do {                                                                          \
    if (auto vitro_status = (expr); !vitro_status)                              \
      return ::tl::unexpected<::vitro::Error>(std::move(vitro_status).error()); \
  } while (false)

/// Declares (or assigns) `target` from a Result, or returns its error from the enclosing function.
#define VITRO_TRY_ASSIGN(target, expr) VITRO_TRY_ASSIGN_IMPL(VITRO_CONCAT(vitro_result_, __LINE__), target, expr)
#define VITRO_TRY_ASSIGN_IMPL(result, target, expr)                                \
  auto result = (expr);                                                            \
  if (!result) return ::tl::unexpected<::vitro::Error>(std::move(result).error()); \
  target = std::move(*result)
