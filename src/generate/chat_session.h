// ChatSession: a conversation with a model. Messages go through the model's template and tokenizer; the sequence keeps
// what was computed, so that a turn computes only what is new. Knows no terminal and no file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "generate/generate.h"
#include "generate/known_tokens.h"
#include "generate/resumed_logits.h"
#include "text/chat_template.h"
#include "tokens/tokenizer.h"

namespace vitro {

/// ChatTemplate::render, or a script in a test.
using RenderChat = std::function<Result<RenderedChat>(const ChatRequest&)>;

/// What the model is given.
struct ChatPrompt {
  std::string text;
  Encoding encoding;
};

struct ChatOptions {
  GenerateOptions generate;
  Value::Object variables;                           ///< for the template ("enable_thinking")
  std::string now;                                   ///< for the template; empty: the clock
  std::function<void(const ChatPrompt&)> on_prompt;  ///< sees each prompt before it is computed
  bool parses_special = false;  ///< special tokens written in messages are tokens; else only the template makes them
};

/// One turn, in tokens.
struct ChatReply {
  Generated generated;
  int64_t n_prompt = 0;    ///< of the whole conversation before the reply
  int64_t n_reused = 0;    ///< of them, held from before
  int64_t n_computed = 0;  ///< passed through the model in this turn, those of the reply included
};

/// All turns so far.
struct ChatStats {
  int64_t n_replies = 0;
  int64_t n_generated = 0;
  int64_t n_reused = 0;
  int64_t n_computed = 0;
  double prompt_seconds = 0;
  double generate_seconds = 0;
};

/// One thread at a time. Sequence and tokenizer must outlive it.
class ChatSession {
 public:
  ChatSession(Sequence& sequence, const Tokenizer& tokenizer, RenderChat render, ChatOptions options)
      : sequence_(sequence), tokenizer_(tokenizer), render_(std::move(render)), options_(std::move(options)) {}

  /// Adds a message of the user and lets the model answer; both then belong to the conversation, a reply that
  /// on_token stopped too. On an error the conversation is as before: the template raised (its words are in the
  /// message), the turn does not fit into the context (nothing was cut or computed), on_progress stopped the prompt
  /// (Cancelled; what was computed is kept for the next try).
  Result<ChatReply> say(std::string text, const TokenCallback& on_token, const PromptProgress& on_progress = {});
  /// Answers the last message of the user once more; an earlier answer is dropped. InvalidArgument: there is no
  /// message. The same options give the same answer: for another one, set another seed.
  Result<ChatReply> retry(const TokenCallback& on_token, const PromptProgress& on_progress = {});

  /// Takes back the last message of the user and what followed. False: there is none.
  bool undo();
  /// Forgets all but the system message.
  void reset();
  /// The message that comes first; nothing: none.
  void set_system(std::optional<std::string> text);
  /// Another conversation. InvalidArgument: no array of objects that have a role each.
  Status set_messages(Value messages);
  const Value::Array& messages() const { return messages_; }

  /// What the model would be given for the conversation so far, with the beginning of a reply.
  Result<ChatPrompt> prompt() const { return prompt_for(messages_); }
  ChatOptions& options() { return options_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const ChatStats& stats() const { return stats_; }
  /// Tokens of the conversation after the last reply, and how many the context holds.
  int64_t n_tokens() const { return std::ssize(known_.ids()); }
  int64_t n_ctx() const { return sequence_.n_ctx(); }

 private:
  Result<ChatPrompt> prompt_for(const Value::Array& messages) const;
  Result<ChatReply> answer(Value::Array messages, const TokenCallback& on_token, const PromptProgress& on_progress);
  Status check_room(size_t n_prompt) const;
  void record(const std::vector<TokenId>& ids);

  // Constant after construction.
  Sequence& sequence_;
  const Tokenizer& tokenizer_;
  RenderChat render_;

  ChatOptions options_;
  Value::Array messages_;
  KnownTokens known_;  ///< of the last turn; the sequence holds a beginning of it
  ChatStats stats_;
};

/// {"role": role, "content": text}
Value chat_message(std::string_view role, std::string text);
/// The special token that the template writes after a reply: it ends a turn, whether or not the model's files say so.
/// Nothing where there is none, or the template refuses the conversation that is tried.
std::optional<TokenId> turn_end_id(const RenderChat& render, const Tokenizer& tokenizer);
/// "" for a message without a role.
std::string_view chat_role(const Value& message);

}  // namespace vitro
