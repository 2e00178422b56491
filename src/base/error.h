// Errors as values. A bad file, flag, text or a plan that does not fit is an Error; a bug of our own is VITRO_CHECK
// (check.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace vitro {

/// Why an operation failed, as far as a caller can act on it. X-macro: name, meaning.
#define VITRO_ERROR_CODES(X)                                        \
  X(kInvalidArgument, "the caller asked for something meaningless") \
  X(kNotFound, "a file, tensor or name does not exist")             \
  X(kCorrupt, "bytes break the rules of their format")              \
  X(kUnsupported, "valid, but this program does not implement it")  \
  X(kOutOfMemory, "the memory plan does not fit")                   \
  X(kIoError, "the operating system refused a read or a write")     \
  X(kCancelled, "the user asked to stop")                           \
  X(kInternal, "a bug, reported instead of ending the process")

enum class ErrorCode {
#define VITRO_X(name, doc) name,
  VITRO_ERROR_CODES(VITRO_X)
#undef VITRO_X
};

/// Name of a code without its k, e.g. "Corrupt".
std::string_view error_code_name(ErrorCode code);

/// A failure: a code for programs, a message for people. The message says where, what was expected, what was found,
/// what to do:
///   [gguf] tensor 'blk.3.attn_q.weight': needs 8 MiB at offset 40 GiB, file ends at 39 GiB; the download may be
///   incomplete
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  /// The same error with "context: " before its message.
  Error in(std::string_view context) const { return {code, std::string(context) + ": " + message}; }
};

}  // namespace vitro
