// Lines that were typed, in a file: a JSON string a line, so that texts of several lines and any characters come back
// as they were. What cannot be read or written is no error: history is a comfort.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitro {

inline constexpr size_t kMaxHistory = 1000;

/// The last kMaxHistory lines. A file that has grown to twice as many is cut to those.
std::vector<std::string> load_history(const std::filesystem::path& path);
/// Adds a line; the file and its folder are made for the user alone.
void append_history(const std::filesystem::path& path, std::string_view text);

}  // namespace vitro
