// Any text as a chat template; what compiles must render a fixed conversation within small limits, and what it says
// about its bytes must hold.
#include "base/check.h"
#include "text/chat_template.h"

namespace {

using vitro::ByteRange;
using vitro::Value;

constexpr size_t kMaxBytes = size_t{16} << 10;

Value text(const char* s) { return Value(std::string(s)); }

Value message(const char* role, const char* content) {
  return Value(Value::Object{{"role", text(role)}, {"content", text(content)}});
}

vitro::ChatRequest fixed_request() {
  vitro::ChatRequest request;
  Value::Object call{{"name", text("f")},
                     {"arguments", Value(Value::Object{{"x", Value(int64_t{1})}, {"y", Value(2.5)}, {"z", Value()}})}};
  Value::Object reply{{"role", text("assistant")},
                      {"content", text("a\u00E9\U0001F600  b")},
                      {"tool_calls", Value(Value::Array{Value(std::move(call))})}};
  request.messages = Value(Value::Array{message("system", "Be <s> terse."), message("user", " Hi, {%s} there\n"),
                                        Value(std::move(reply)), message("user", "")});
  request.tools = Value(Value::Array{Value(Value::Object{{"type", text("function")}, {"ok", Value(true)}})});
  request.variables = {{"n", Value(int64_t{7})}, {"s", text("Hello, World")}};
  request.now = "2026-07-26T15:04:05";
  return request;
}

void check_ranges(const std::vector<ByteRange>& ranges, size_t size) {
  size_t end = 0;
  for (const ByteRange& range : ranges) {
    VITRO_CHECK(range.begin >= end && range.begin < range.end && range.end <= size);
    end = range.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMaxBytes) return 0;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const vitro::ChatLimits limits{.max_steps = size_t{1} << 17, .max_bytes = size_t{1} << 20, .max_depth = 30};
  const auto chat_template = vitro::ChatTemplate::compile(source, {{"bos_token", text("<s>")}}, limits);
  if (!chat_template) return 0;
  vitro::ChatRequest request = fixed_request();
  request.continue_final_message = size % 7 == 0;
  const auto chat = chat_template->render(request);
  if (!chat) {
    VITRO_CHECK(chat.error().code != vitro::ErrorCode::kInternal);
    return 0;
  }
  check_ranges(chat->from_request, chat->text.size());
  check_ranges(chat->generated, chat->text.size());
  return 0;
}
