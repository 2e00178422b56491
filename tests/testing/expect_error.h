// A test's view of a refusal: which code, and that the message names the place.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "base/error.h"
#include "base/result.h"

namespace vitro::testing {

/// Expects an error with this code whose message contains `part`. Returns whether so.
template <class T>
bool expect_error(const Result<T>& result, ErrorCode code, std::string_view part) {
  if (result.has_value()) {
    ADD_FAILURE() << "accepted, expected " << error_code_name(code) << " about \"" << part << '"';
    return false;
  }
  const Error& error = result.error();
  EXPECT_EQ(error_code_name(error.code), error_code_name(code)) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << "message: " << error.message << "\nlacks: " << part;
  return error.code == code && error.message.find(part) != std::string::npos;
}

}  // namespace vitro::testing
