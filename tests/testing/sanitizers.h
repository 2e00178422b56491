// VITRO_HAS_ASAN, VITRO_HAS_TSAN: 1 in programs that the sanitizer watches, else 0. GCC defines a macro, Clang has a
// question.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define VITRO_HAS_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define VITRO_HAS_TSAN 1
#elif defined(__has_feature)
#define VITRO_HAS_ASAN __has_feature(address_sanitizer)
#define VITRO_HAS_TSAN __has_feature(thread_sanitizer)
#endif

#ifndef VITRO_HAS_ASAN
#define VITRO_HAS_ASAN 0
#endif
#ifndef VITRO_HAS_TSAN
#define VITRO_HAS_TSAN 0
#endif
