#include "cli/chat_print.h"

#include <unistd.h>

namespace vitro {
namespace {

double per_second(int64_t n, double seconds) { return seconds > 0 ? static_cast<double>(n) / seconds : 0; }

// Tokens that the prompt of a reply put through the model.
int64_t n_new(const ChatReply& reply) { return reply.n_prompt - reply.n_reused; }

}  // namespace

std::string dimmed(const std::string& text) { return is_terminal(STDERR_FILENO) ? "\x1b[2m" + text + "\x1b[0m" : text; }

std::string shown_prompt(const ChatPrompt& prompt, const Tokenizer& tokenizer, bool is_terminal) {
  if (!is_terminal) return prompt.text;
  const std::string_view text = prompt.text;
  std::string out;
  size_t pos = 0;
  for (size_t i = 0; i < prompt.encoding.ids.size(); ++i) {
    const ByteRange range = prompt.encoding.ranges[i];
    if (!tokenizer.is_special(prompt.encoding.ids[i]) || range.begin < pos) continue;
    out += for_terminal(text.substr(pos, range.begin - pos), true);
    out += fmt::format("\x1b[36m{}\x1b[0m", text.substr(range.begin, range.size()));
    pos = range.end;
  }
  return out + for_terminal(text.substr(pos), true);
}

Value reply_json(const ChatReply& reply, const ChatSession& chat) {
  const Generated& out = reply.generated;
  Value::Array ids;
  for (const int32_t id : out.ids) ids.emplace_back(int64_t{id});
  return Value(Value::Object{{"text", Value(out.text)},
                             {"ids", Value(std::move(ids))},
                             {"stop_reason", Value(std::string(stop_reason_name(out.reason)))},
                             {"prompt_tokens", Value(reply.n_prompt)},
                             {"reused_tokens", Value(reply.n_reused)},
                             {"computed_tokens", Value(reply.n_computed)},
                             {"context_tokens", Value(chat.n_tokens())},
                             {"context_size", Value(chat.n_ctx())},
                             {"prompt_tokens_per_second", Value(per_second(n_new(reply), out.prompt_seconds))},
                             {"generated_tokens_per_second", Value(per_second(out.n_passes, out.generate_seconds))}});
}

std::string reply_statistics(const ChatReply& reply, const ChatSession& chat) {
  const Generated& out = reply.generated;
  return fmt::format("{} tokens at {:.1f}/s; prompt: {} new at {:.1f}/s, {} kept; {} of {} tokens in the context",
                     out.ids.size(), per_second(out.n_passes, out.generate_seconds), n_new(reply),
                     per_second(n_new(reply), out.prompt_seconds), reply.n_reused, chat.n_tokens(), chat.n_ctx());
}

std::string chat_statistics(const ChatSession& chat) {
  const ChatStats& s = chat.stats();
  return fmt::format(
      "{} replies, {} tokens generated at {:.1f}/s\n{} tokens computed, {} taken from the cache\n{} of {} tokens in "
      "the "
      "context\n",
      s.n_replies, s.n_generated, per_second(s.n_generated, s.generate_seconds), s.n_computed, s.n_reused,
      chat.n_tokens(), chat.n_ctx());
}

std::string_view stop_note(StopReason reason) {
  switch (reason) {
    case StopReason::kContext:
      return "the context is full and the reply is cut; /undo takes the turn back, /reset begins anew, --context asks "
             "for more room";
    case StopReason::kLength:
      return "--max-tokens ended the reply";
    case StopReason::kCallback:
      return "stopped; what was said stays in the conversation";
    default:
      return {};
  }
}

ReplyStream::ReplyStream(bool is_silent) : is_silent_(is_silent), is_terminal_(is_terminal(STDOUT_FILENO)) {
  progress_.emplace("reading");
}

bool ReplyStream::show_progress(int64_t n_done, int64_t n_total) {
  progress_->update(n_done, n_total);
  return !is_interrupted();
}

bool ReplyStream::show(const GeneratedToken& token) {
  progress_.reset();
  if (!is_silent_) put_text(for_terminal(token.text, is_terminal_));
  if (!token.text.empty()) last_ = token.text.back();
  return flush_output() && !is_interrupted();
}

void ReplyStream::end(bool is_whole) {
  progress_.reset();
  if (!is_silent_ && last_ != '\n' && (is_whole || last_ != '\0')) put_text("\n");
  flush_output();
}

}  // namespace vitro
