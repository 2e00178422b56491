#include "cli/chat_compare.h"

#include <clocale>

#include "cli/chat_print.h"
#include "cli/columns.h"
#include "cli/terminal.h"

namespace vitro {
namespace {

constexpr int64_t kDefaultTokens = 64;

struct Continued {
  std::string_view title;
  std::string prompt;
  std::vector<int32_t> prompt_ids;
  Generated generated;
};

Result<Continued> continue_ids(std::string_view title, std::string prompt, std::vector<int32_t> ids, ChatModel& model) {
  catch_interrupt();
  forget_interrupt();
  ResumedLogits source(*model.sequence);
  VITRO_TRY_ASSIGN(Generated generated, generate(source, model.engine.tokenizer.get(), ids, model.chat.generate,
                                                 [](const GeneratedToken&) { return !is_interrupted(); }));
  return Continued{title, std::move(prompt), std::move(ids), std::move(generated)};
}

// As `vitro run` reads it.
Result<Continued> continue_raw(const std::string& text, ChatModel& model) {
  const bool parses_special = model.chat.parses_special;
  VITRO_TRY_ASSIGN(Encoding encoding, model.engine.tokenizer->encode(text, {true, parses_special}));
  std::string shown;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {  // what the tokenizer adds belongs to the prompt
    if (encoding.ranges[i].empty() && i == 0) shown += model.engine.tokenizer->piece(encoding.ids[i]);
  }
  return continue_ids("as it stands", shown + text, std::move(encoding.ids), model);
}

Result<Continued> continue_chat(const ChatCommandOptions& o, ChatModel& model) {
  ChatSession chat(*model.sequence, *model.engine.tokenizer, model.render(), model.chat);
  Value::Array messages;
  if (o.system) messages.push_back(chat_message("system", *o.system));
  messages.push_back(chat_message("user", *o.compare));
  VITRO_TRY(chat.set_messages(Value(std::move(messages))));
  VITRO_TRY_ASSIGN(ChatPrompt prompt, chat.prompt());
  return continue_ids("through the template", std::move(prompt.text), std::move(prompt.encoding.ids), model);
}

Value json_of(const Continued& c) {
  Value::Array ids;
  for (const int32_t id : c.prompt_ids) ids.emplace_back(int64_t{id});
  return Value(Value::Object{{"prompt", Value(c.prompt)},
                             {"prompt_ids", Value(std::move(ids))},
                             {"text", Value(c.generated.text)},
                             {"tokens", Value(static_cast<int64_t>(c.generated.ids.size()))},
                             {"stop_reason", Value(std::string(stop_reason_name(c.generated.reason)))}});
}

std::string heading(const Continued& c) { return fmt::format("{}: {} tokens", c.title, c.prompt_ids.size()); }
std::string ending(const Continued& c) {
  return fmt::format("{} tokens, {}", c.generated.ids.size(), stop_reason_name(c.generated.reason));
}

void print_pair(const Continued& a, const Continued& b) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the widths of characters
  const int width = std::max((terminal_width() - 3) / 2, 20);
  std::string line;
  for (int i = 0; i < width; ++i) line += "─";
  const std::string rule = line + "─┼─" + line + "\n";
  put_text(side_by_side(heading(a), heading(b), width) + rule);
  put_text(side_by_side(a.prompt, b.prompt, width) + rule);
  put_text(side_by_side(a.generated.text, b.generated.text, width) + rule);
  put_text(side_by_side(ending(a), ending(b), width));
}

}  // namespace

Result<int> compare_prompts(ChatModel& model, const ChatCommandOptions& options) {
  if (options.max_tokens == 0) model.chat.generate.max_tokens = kDefaultTokens;
  VITRO_TRY_ASSIGN(const Continued raw, continue_raw(*options.compare, model));
  VITRO_TRY_ASSIGN(const Continued chat, continue_chat(options, model));
  if (options.is_json) {
    put_json(Value(Value::Object{{"raw", json_of(raw)}, {"chat", json_of(chat)}}));
  } else {
    print_pair(raw, chat);
  }
  return 0;
}

}  // namespace vitro
