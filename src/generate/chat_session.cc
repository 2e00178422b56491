#include "generate/chat_session.h"

#include <algorithm>

#include "tokens/stream_decoder.h"

namespace vitro {
namespace {

// The number of messages before the last one of the user; nothing where there is none.
std::optional<size_t> last_of_user(const Value::Array& messages) {
  for (size_t i = messages.size(); i > 0; --i) {
    if (chat_role(messages[i - 1]) == "user") return i - 1;
  }
  return std::nullopt;
}

}  // namespace

Value chat_message(std::string_view role, std::string text) {
  return Value(Value::Object{{"role", Value(std::string(role))}, {"content", Value(std::move(text))}});
}

std::string_view chat_role(const Value& message) {
  const Value* role = message.find("role");
  const std::string* name = role ? role->as_string() : nullptr;
  return name ? std::string_view(*name) : std::string_view();
}

std::optional<TokenId> turn_end_id(const RenderChat& render, const Tokenizer& tokenizer) {
  constexpr std::string_view kReply = "The reply.";
  ChatRequest request;
  request.messages =
      Value(Value::Array{chat_message("user", "A question."), chat_message("assistant", std::string(kReply))});
  const Result<RenderedChat> rendered = render(request);
  if (!rendered) return std::nullopt;
  const size_t reply = rendered->text.rfind(kReply);
  const auto encoding = tokenizer.encode(rendered->text, {.add_special = false, .plain = rendered->from_request});
  if (!encoding || reply == std::string::npos) return std::nullopt;
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    const ByteRange range = encoding->ranges[i];
    if (range.begin < reply + kReply.size()) continue;
    if (tokenizer.is_special(encoding->ids[i])) return encoding->ids[i];
    const std::string_view between = std::string_view(rendered->text).substr(range.begin, range.size());
    if (between.find_first_not_of(" \n") != std::string_view::npos) break;
  }
  return std::nullopt;
}

Result<ChatPrompt> ChatSession::prompt_for(const Value::Array& messages) const {
  ChatRequest request;
  request.messages = Value(messages);
  request.add_generation_prompt = true;
  request.variables = options_.variables;
  request.now = options_.now;
  VITRO_TRY_ASSIGN(RenderedChat rendered, render_(request));
  // The template has written BOS and all else that there is to add.
  EncodeOptions options{.add_special = false};
  if (!options_.parses_special) options.plain = rendered.from_request;
  VITRO_TRY_ASSIGN(Encoding encoding, tokenizer_.encode(rendered.text, options));
  return ChatPrompt{std::move(rendered.text), std::move(encoding)};
}

Status ChatSession::check_room(size_t n_prompt) const {
  if (static_cast<int64_t>(n_prompt) < sequence_.n_ctx()) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      "the conversation with this turn has {} tokens and a reply needs one more, the context holds {}: the turn "
      "is refused and nothing was cut; take turns back, begin anew, or ask for more with --context",
      n_prompt, sequence_.n_ctx());
}

// Each token with the text that it added to the reply, as generate() gave it out.
void ChatSession::record(const std::vector<TokenId>& ids) {
  using Kind = KnownTokens::Generated;
  std::optional<StreamDecoder> decoder;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string bytes = tokenizer_.token_bytes(ids[i]);
    if (tokenizer_.is_special(ids[i])) {
      known_.append_generated(ids[i], bytes, Kind::kSpecial);
      decoder.reset();
      continue;
    }
    if (!decoder) decoder.emplace(tokenizer_, /*skip_special=*/true, /*is_first=*/false);
    std::string text = decoder->push(ids[i]);
    const bool is_last = i + 1 == ids.size() || tokenizer_.is_special(ids[i + 1]);
    if (is_last) text += decoder->finish();
    const bool is_whole = is_last || (!bytes.empty() && text.ends_with(bytes));  // else something is held back
    known_.append_generated(ids[i], text, is_whole ? Kind::kText : Kind::kPart);
  }
}

Result<ChatReply> ChatSession::answer(Value::Array messages, const TokenCallback& on_token,
                                      const PromptProgress& on_progress) {
  VITRO_TRY_ASSIGN(const ChatPrompt prompt, prompt_for(messages));
  const KnownTokens::Match kept = known_.match(prompt.text, prompt.encoding);
  VITRO_TRY(check_room(kept.n_kept + prompt.encoding.ids.size() - kept.n_skipped));
  if (options_.on_prompt) options_.on_prompt(prompt);
  KnownTokens known = known_;
  known.become(prompt.text, prompt.encoding);
  ResumedLogits source(sequence_, on_progress);
  auto generated = generate(source, &tokenizer_, known.ids(), options_.generate, on_token);
  known_ = std::move(known);  // what was computed of it stays, whatever happened
  if (!generated) return fail(std::move(generated).error());

  ChatReply reply{.generated = *std::move(generated),
                  .n_prompt = std::ssize(known_.ids()),
                  .n_reused = source.n_reused(),
                  .n_computed = source.n_computed()};
  record(reply.generated.ids);
  messages.push_back(chat_message("assistant", reply.generated.text));
  messages_ = std::move(messages);
  stats_.n_replies += 1;
  stats_.n_generated += std::ssize(reply.generated.ids);
  stats_.n_reused += reply.n_reused;
  stats_.n_computed += reply.n_computed;
  stats_.prompt_seconds += reply.generated.prompt_seconds;
  stats_.generate_seconds += reply.generated.generate_seconds;
  return reply;
}

Result<ChatReply> ChatSession::say(std::string text, const TokenCallback& on_token, const PromptProgress& on_progress) {
  Value::Array messages = messages_;
  messages.push_back(chat_message("user", std::move(text)));
  return answer(std::move(messages), on_token, on_progress);
}

Result<ChatReply> ChatSession::retry(const TokenCallback& on_token, const PromptProgress& on_progress) {
  const auto last = last_of_user(messages_);
  if (!last) return fail(ErrorCode::kInvalidArgument, "there is no message to answer yet");
  Value::Array messages(messages_.begin(), messages_.begin() + static_cast<ptrdiff_t>(*last + 1));
  return answer(std::move(messages), on_token, on_progress);
}

bool ChatSession::undo() {
  const auto last = last_of_user(messages_);
  if (last) messages_.resize(*last);
  return last.has_value();
}

void ChatSession::reset() {
  const bool has_system = !messages_.empty() && chat_role(messages_[0]) == "system";
  messages_.resize(has_system ? 1 : 0);
}

void ChatSession::set_system(std::optional<std::string> text) {
  if (!messages_.empty() && chat_role(messages_[0]) == "system") messages_.erase(messages_.begin());
  if (text) messages_.insert(messages_.begin(), chat_message("system", *std::move(text)));
}

Status ChatSession::set_messages(Value messages) {
  const Value::Array* list = messages.as_array();
  if (!list) {
    return fail(ErrorCode::kInvalidArgument, "'messages' is {}, expected an array of messages", messages.kind_name());
  }
  for (size_t i = 0; i < list->size(); ++i) {
    if (!chat_role((*list)[i]).empty()) continue;
    return fail(ErrorCode::kInvalidArgument, "message {} of {} is {}, expected an object with a 'role'", i + 1,
                list->size(), to_string((*list)[i]));
  }
  messages_ = *list;
  return {};
}

}  // namespace vitro
