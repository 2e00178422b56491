// ChatTemplate: messages -> the exact text that a model was trained to continue. A model's template is a Jinja2 program
// (src/text/jinja/ is the interpreter); this is the contract around it: which variables it sees, what bounds it, and
// which bytes of its output came from the messages.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/value.h"
#include "text/byte_range.h"

namespace vitro {

namespace jinja {
class Program;
}

/// One conversation to render. Values are JSON-like; `messages` is an array of objects.
struct ChatRequest {
  Value messages;
  Value tools;      ///< array, or null
  Value documents;  ///< array, or null
  bool add_generation_prompt = false;
  bool continue_final_message = false;  ///< the text ends inside the last message, to be continued
  Value::Object variables;              ///< further ones ("enable_thinking"); they win over special_tokens
  /// Messages as transformers' apply_chat_template hands them on: members that are null are left out, reasoning is
  /// there under each of its names, and no messages are an error. False: as they are, for a template by itself.
  bool is_prepared = true;
  /// What strftime_now sees, as local time "2026-11-30T08:00:00"; empty: the clock of this machine.
  std::string now;
};

struct RenderedChat {
  std::string text;
  /// Bytes that came out of the request's values (contents, names, roles): text, whatever they look like. Ascending,
  /// not touching.
  std::vector<ByteRange> from_request;
  /// Bytes inside {% generation %} blocks: what an assistant said, for training.
  std::vector<ByteRange> generated;
};

/// What a run of a template may cost.
struct ChatLimits {
  size_t max_steps = size_t{1} << 24;
  size_t max_bytes = size_t{64} << 20;  ///< of the output, and of all values alive
  int max_depth = 100;                  ///< calls, includes of blocks, nesting of values
};

/// Immutable after construction; safe to share.
class ChatTemplate {
 public:
  /// `special_tokens` are variables that every rendering sees: bos_token, eos_token, ... with string values.
  /// Corrupt with "line L, column C" for a text that is no template; Unsupported names a construct that is not known.
  /// `where` begins the errors of compiling and of rendering: the file that the template is in.
  static Result<ChatTemplate> compile(std::string_view source, Value::Object special_tokens,
                                      const ChatLimits& limits = {}, std::string where = {});

  /// As transformers' apply_chat_template renders it (Jinja2 with trim_blocks, lstrip_blocks, loop controls).
  /// InvalidArgument: the template raised, with its message, line and column; also for a limit that was passed, and for
  /// a request that wants both a new reply and the last one continued.
  Result<RenderedChat> render(const ChatRequest& request) const;

 private:
  ChatTemplate() = default;
  Result<RenderedChat> render_request(const ChatRequest& request) const;
  Result<RenderedChat> render_messages(const ChatRequest& request, const Value& messages) const;

  std::shared_ptr<const jinja::Program> program_;
  std::string source_;
  std::string where_;
  Value::Object special_tokens_;
  ChatLimits limits_;
};

}  // namespace vitro
