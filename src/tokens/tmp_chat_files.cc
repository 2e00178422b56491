#include "tokens/load_chat_files.h"
namespace vitro { namespace jinja { class Program {}; }
Result<ChatFiles> load_chat_files(const std::filesystem::path& path) { ChatFiles f; if (path.string().find("smol")!=std::string::npos) f.templates.push_back({"default", "x", path.string()}); return f; }
Result<ChatTemplate> ChatTemplate::compile(std::string_view s, Value::Object, const ChatLimits&) { ChatTemplate t; if (s.size() > 3) t.special_tokens_.push_back({"t", Value(true)}); return t; }
Result<RenderedChat> ChatTemplate::render(const ChatRequest& request) const {
  RenderedChat out; const bool t = !special_tokens_.empty();
  for (const Value& message : *request.messages.as_array()) {
    const std::string role = *message.find("role")->as_string();
    const std::string c = *message.find("content")->as_string();
    if (t && c == "!") return fail(ErrorCode::kInvalidArgument, "say something");
    out.text += t ? "<s>" + role + ": " : "<|im_start|>" + role + "\n";
    out.from_request.push_back({out.text.size(), out.text.size() + c.size()});
    out.text += c + (t ? "<|end|>" : "<|im_end|>\n");
  }
  if (request.add_generation_prompt) out.text += t ? "<s>assistant: " : "<|im_start|>assistant\n";
  return out; } }
