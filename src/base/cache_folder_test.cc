#include "base/cache_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace vitro {
namespace {

/// A variable of the environment for a while; nullptr: not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CacheFolder, VariableThenHomeThenHere) {
  const Variable xdg("XDG_CACHE_HOME", "/elsewhere"), home("HOME", "/h");
  EXPECT_EQ((Variable("VITRO_CACHE", "/models"), cache_folder()), "/models");
  EXPECT_EQ((Variable("VITRO_CACHE", ""), cache_folder()), "/h/.cache/vitro");
  EXPECT_EQ((Variable("VITRO_CACHE", nullptr), cache_folder()), "/h/.cache/vitro");
  const Variable none("VITRO_CACHE", nullptr), homeless("HOME", nullptr);
  EXPECT_EQ(cache_folder(), "./.cache/vitro");
}

}  // namespace
}  // namespace vitro
