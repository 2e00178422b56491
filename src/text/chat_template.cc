#include "text/chat_template.h"

#include <algorithm>

#include "text/jinja/program.h"
#include "text/jinja/py_chars.h"
#include "text/jinja/text_tools.h"

namespace vitro {
namespace {

using jinja::Kwargs;
using jinja::MarkedText;
using jinja::Runtime;
using jinja::Val;

/// What stands behind the final message while its end is looked for, as in transformers.
constexpr std::string_view kTag = "CONTINUE_FINAL_MESSAGE_TAG ";

/// A value from outside, as the template sees it; texts are marked where they come from the request.
class Converter {
 public:
  Converter(Runtime& rt, bool is_request) : rt_(rt), is_request_(is_request) {}

  Result<Val> convert(const Value& value) const {
    VITRO_TRY(rt_.budget.check_room(0));
    if (value.is_null()) return Val::none();
    if (const bool* b = value.as_bool()) return Val::boolean(*b);
    if (const int64_t* n = value.as_int()) return Val::integer(*n);
    if (const double* x = value.as_real()) return Val::real(*x);
    if (const std::string* text = value.as_string()) return string(*text);
    if (const Value::Array* array = value.as_array()) {
      std::vector<Val> items;
      items.reserve(array->size());
      for (const Value& item : *array) {
        VITRO_TRY_ASSIGN(Val converted, convert(item));
        items.push_back(std::move(converted));
      }
      return rt_.list(std::move(items));
    }
    return convert_object(*value.as_object(), false);
  }

  /// A list of messages, whose roles are not marked.
  Result<Val> convert_messages(const Value& value) const {
    const Value::Array* messages = value.as_array();
    if (messages == nullptr) return convert(value);
    std::vector<Val> items;
    items.reserve(messages->size());
    for (const Value& message : *messages) {
      const Value::Object* object = message.as_object();
      VITRO_TRY_ASSIGN(Val converted, object == nullptr ? convert(message) : convert_object(*object, true));
      items.push_back(std::move(converted));
    }
    return rt_.list(std::move(items));
  }

 private:
  Val string(const std::string& text) const {
    std::string whole = replace_invalid_utf8(text);
    return rt_.string(is_request_ ? MarkedText::marked(std::move(whole)) : MarkedText::plain(std::move(whole)));
  }

  Result<Val> convert_object(const Value::Object& object, bool is_message) const {
    jinja::DictBuilder dict(rt_);
    for (const auto& [key, value] : object) {
      VITRO_TRY_ASSIGN(const Val converted, convert(value));
      const bool is_plain = is_message && is_role(key, value);
      VITRO_TRY(dict.set(string(key), is_plain ? rt_.string(*value.as_string()) : converted));
    }
    return dict.finish();
  }

  /// Roles are words that the calling program chooses, and templates build special tokens of them ('<|' + role + '|>'),
  /// so the role of a message that is nothing but a word is not marked. A "role" deeper inside is a model's or a
  /// tool's.
  static bool is_role(const std::string& key, const Value& value) {
    const std::string* text = value.as_string();
    if (key != "role" || text == nullptr || text->empty()) return false;
    return std::all_of(text->begin(), text->end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  }

  Runtime& rt_;
  bool is_request_;
};

Value* find_member(Value::Object& object, std::string_view key) {
  for (auto& [name, value] : object) {
    if (name == key) return &value;
  }
  return nullptr;
}

/// A message without its null members, and with its reasoning under every name that templates read.
Value prepared_message(const Value& message) {
  Value::Object out;
  for (const auto& member : *message.as_object()) {
    if (!member.second.is_null()) out.push_back(member);
  }
  for (const std::string_view name : {"reasoning_content", "thinking", "reasoning"}) {
    const Value* found = find_member(out, name);
    if (found == nullptr) continue;
    const Value reasoning = *found;
    if (find_member(out, "thinking") == nullptr) out.insert(out.begin(), {"thinking", reasoning});
    if (Value* content = find_member(out, "reasoning_content")) {
      *content = reasoning;
    } else {
      out.emplace_back("reasoning_content", reasoning);
    }
    break;
  }
  return Value(std::move(out));
}

Result<Value> prepared_messages(const Value& messages) {
  const Value::Array* list = messages.as_array();
  if (list == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "messages must be a list of objects, not {}", messages.kind_name());
  }
  if (list->empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "Cannot apply chat template to an empty conversation. Provide at least one message.");
  }
  Value::Array out;
  for (const Value& message : *list) {
    if (message.as_object() == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "a message must be an object, not {}", message.kind_name());
    }
    out.push_back(prepared_message(message));
  }
  return Value(std::move(out));
}

tl::unexpected<Error> no_continuation(std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, "continue_final_message is set but {}", why);
}

/// The content of the last message with the tag behind it; the content without it is `final_text`.
Result<Value> tagged_messages(const Value& messages, std::string& final_text) {
  const Value::Array* list = messages.as_array();
  if (list == nullptr || list->empty()) return no_continuation("the conversation is empty");
  Value::Array out = *list;
  Value::Object* last = out.back().as_object();
  Value* content = last ? find_member(*last, "content") : nullptr;
  if (content == nullptr || content->is_null()) return no_continuation("the final message has no content to continue");
  if (const std::string* text = content->as_string()) {
    final_text = *text;
    *content = Value(final_text + std::string(kTag));
    return Value(std::move(out));
  }
  if (content->as_array() == nullptr) return no_continuation("the content of the final message is no text");
  Value::Array parts = *content->as_array();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    Value* text = part->as_object() ? find_member(*part->as_object(), "text") : nullptr;
    if (text == nullptr || text->as_string() == nullptr) continue;
    final_text = *text->as_string();
    *text = Value(final_text + std::string(kTag));
    *content = Value(std::move(parts));
    return Value(std::move(out));
  }
  return no_continuation("there is no text to continue in the final message");
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(jinja::leading_space(text));
  text.remove_suffix(jinja::trailing_space(text));
  return text;
}

void cut(std::vector<ByteRange>& ranges, size_t end) {
  while (!ranges.empty() && ranges.back().begin >= end) ranges.pop_back();
  if (!ranges.empty()) ranges.back().end = std::min(ranges.back().end, end);
}

/// Cuts the rendering where the final message ends; the space behind the tag tells whether the template trims.
Status cut_at_tag(RenderedChat& chat, const std::string& final_text) {
  const std::string_view bare_tag = kTag.substr(0, kTag.size() - 1);
  const size_t at = chat.text.rfind(bare_tag);
  if (at == std::string::npos || jinja::find_bytes(chat.text, trimmed(final_text)) == std::string::npos) {
    return no_continuation(
        "the final message does not appear in the text after applying the chat template; the "
        "template leaves out or changes parts of it");
  }
  const bool is_whole = std::string_view(chat.text).substr(at).starts_with(kTag);
  chat.text.resize(at);
  if (!is_whole) chat.text.resize(at - jinja::trailing_space(chat.text));
  cut(chat.from_request, chat.text.size());
  cut(chat.generated, chat.text.size());
  return {};
}

Status add_variables(Kwargs& out, const Converter& converter, const Value::Object& variables) {
  for (const auto& [name, value] : variables) {
    VITRO_TRY_ASSIGN(Val converted, converter.convert(value));
    out.emplace_back(name, std::move(converted));
  }
  return {};
}

Error named(const Error& error, const std::string& where) { return where.empty() ? error : error.in(where); }

}  // namespace

Result<ChatTemplate> ChatTemplate::compile(std::string_view source, Value::Object special_tokens,
                                           const ChatLimits& limits, std::string where) {
  ChatTemplate out;
  auto program = jinja::Program::compile(source);
  if (!program) return fail(named(program.error(), where));
  out.program_ = *std::move(program);
  out.source_ = std::string(source);
  out.where_ = std::move(where);
  out.special_tokens_ = std::move(special_tokens);
  out.limits_ = limits;
  return out;
}

Result<RenderedChat> ChatTemplate::render(const ChatRequest& request) const {
  Result<RenderedChat> chat = render_request(request);
  if (!chat) return fail(named(chat.error(), where_));
  return chat;
}

Result<RenderedChat> ChatTemplate::render_request(const ChatRequest& request) const {
  if (request.add_generation_prompt && request.continue_final_message) {
    return fail(ErrorCode::kInvalidArgument,
                "add_generation_prompt and continue_final_message cannot both be set: a reply is begun or continued");
  }
  Value messages = request.messages;
  if (request.is_prepared) {
    VITRO_TRY_ASSIGN(messages, prepared_messages(messages));
  }
  if (!request.continue_final_message) return render_messages(request, messages);
  std::string final_text;
  VITRO_TRY_ASSIGN(messages, tagged_messages(messages, final_text));
  if (source_.find("content") == std::string::npos) return no_continuation("the template never reads content");
  VITRO_TRY_ASSIGN(RenderedChat chat, render_messages(request, messages));
  VITRO_TRY(cut_at_tag(chat, final_text));
  return chat;
}

Result<RenderedChat> ChatTemplate::render_messages(const ChatRequest& request, const Value& messages) const {
  const jinja::RuntimeLimits limits{limits_.max_steps, limits_.max_bytes, limits_.max_depth};
  Runtime rt(limits, request.now);
  const Converter from_model(rt, false);
  const Converter from_request(rt, true);
  Kwargs variables;
  VITRO_TRY(add_variables(variables, from_model, special_tokens_));
  VITRO_TRY(add_variables(variables, from_request, request.variables));
  VITRO_TRY_ASSIGN(Val message_list, from_request.convert_messages(messages));
  variables.emplace_back("messages", std::move(message_list));
  VITRO_TRY(add_variables(variables, from_request, {{"tools", request.tools}, {"documents", request.documents}}));
  variables.emplace_back("add_generation_prompt", Val::boolean(request.add_generation_prompt));
  VITRO_TRY_ASSIGN(jinja::Rendering rendering, jinja::run_program(*program_, rt, std::move(variables)));
  return RenderedChat{std::move(rendering.text.text), std::move(rendering.text.marks), std::move(rendering.generated)};
}

}  // namespace vitro
