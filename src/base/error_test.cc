// Errors as values: names, context, and the macros that hand them on.
#include "base/error.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/result.h"

namespace vitro {
namespace {

TEST(Error, CodesHaveTheirNames) {
  EXPECT_EQ(error_code_name(ErrorCode::kInvalidArgument), "InvalidArgument");
  EXPECT_EQ(error_code_name(ErrorCode::kNotFound), "NotFound");
  EXPECT_EQ(error_code_name(ErrorCode::kCorrupt), "Corrupt");
  EXPECT_EQ(error_code_name(ErrorCode::kUnsupported), "Unsupported");
  EXPECT_EQ(error_code_name(ErrorCode::kOutOfMemory), "OutOfMemory");
  EXPECT_EQ(error_code_name(ErrorCode::kIoError), "IoError");
  EXPECT_EQ(error_code_name(ErrorCode::kCancelled), "Cancelled");
  EXPECT_EQ(error_code_name(ErrorCode::kInternal), "Internal");
}

TEST(Error, InPutsTheContextInFront) {
  const Error outer = Error{ErrorCode::kCorrupt, "no magic"}.in("model.gguf");
  EXPECT_EQ(outer.code, ErrorCode::kCorrupt);
  EXPECT_EQ(outer.message, "model.gguf: no magic");
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::kInvalidArgument, "{} is odd", n);
  return n / 2;
}

Status check_even(int n) {
  VITRO_TRY(half(n));
  return {};
}

Result<int> quarter(int n) {
  VITRO_TRY_ASSIGN(const int first, half(n));
  VITRO_TRY_ASSIGN(const int second, half(first));
  return second;
}

TEST(Result, ValuesAndErrorsPassThrough) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_EQ(quarter(7).error().message, "7 is odd");
  EXPECT_TRUE(check_even(4).has_value());
  ASSERT_FALSE(check_even(5).has_value());
  EXPECT_EQ(check_even(5).error().code, ErrorCode::kInvalidArgument);
}

TEST(Result, FailTakesAWholeError) {
  const Status status = fail(Error{ErrorCode::kIoError, "disk"});
  EXPECT_EQ(status.error().code, ErrorCode::kIoError);
  EXPECT_EQ(status.error().message, "disk");
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const auto use = [&]() -> Result<int> {
    VITRO_TRY_ASSIGN(const std::unique_ptr<int> p, make());
    return *p;
  };
  EXPECT_EQ(use().value(), 5);
}

TEST(CheckDeathTest, SaysWhatDoesNotHold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(VITRO_CHECK(1 + 1 == 3), "error_test.cc:.*1 \\+ 1 == 3");
  VITRO_CHECK(1 + 1 == 2);
}

}  // namespace
}  // namespace vitro
