// Numbers as people read them: byte sizes, grouped digits, durations. Used by messages, tables and progress lines.
#pragma once

#include <cstdint>
#include <string>

namespace vitro {

/// 98362432 -> "93.8 MiB"; below 1 KiB exact ("512 B").
std::string human_bytes(uint64_t n_bytes);

/// 3821079552 -> "3,821,079,552".
std::string human_count(int64_t n);

/// 45.2 -> "45 s", 190 -> "3 min 10 s", 7300 -> "2 h 1 min"; more than 99 h as "over 99 h".
std::string human_seconds(double seconds);

}  // namespace vitro
