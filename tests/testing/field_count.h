// How many members an aggregate has, found by trying how many values it can be initialised with. So a test can see that
// a member was added without a line for it.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

namespace vitro::testing {

/// Becomes whatever is asked for; never evaluated.
struct AnyValue {
  template <class T>
  operator T() const;
};

template <class T, std::size_t... I>
constexpr bool takes_values(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyValue{})...}; };
}

template <class T, std::size_t kTried = 64>
constexpr std::size_t n_fields() {
  if constexpr (kTried == 0 || takes_values<T>(std::make_index_sequence<kTried>())) {
    return kTried;
  } else {
    return n_fields<T, kTried - 1>();
  }
}

}  // namespace vitro::testing
