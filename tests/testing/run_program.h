// Running the program as a shell does.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "formats/json.h"

namespace vitro::testing {

struct Ran {
  int code = -1;
  std::string out;
};

/// Runs a command in a shell; the code is the shell's way of telling: 128 + signal where one ended it. `out` is its
/// standard output.
inline Ran shell(const std::string& command) {
  Ran ran;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> block;
  size_t n_read = 0;
  while ((n_read = std::fread(block.data(), 1, block.size(), pipe)) > 0) ran.out.append(block.data(), n_read);
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

/// A file that must be JSON.
inline Value load_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto value = parse_json(text, path.string());
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *std::move(value) : Value();
}

}  // namespace vitro::testing
