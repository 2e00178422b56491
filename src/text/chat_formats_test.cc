// Prompt texts of twenty formats as another engine writes them by templates of its own, beside the published Jinja
// templates of those formats (../shared/data/templates/ollama-expected), where they are.
#include <map>

#include "text/jinja/templates_test_util.h"

namespace vitro {
namespace {

using testing::file_text;
using testing::lines_of;
using testing::parsed;
using testing::shared_path;

constexpr const char* kConversations[] = {"user", "user-assistant-user", "system-user-assistant-user"};

ChatRequest request_named(std::string_view name) {
  constexpr std::string_view kSystem = R"({"role":"system","content":"You are a helpful assistant."},)";
  constexpr std::string_view kUser = R"({"role":"user","content":"Hello, how are you?"})";
  constexpr std::string_view kMore = R"(,{"role":"assistant","content":"I'm doing great. How can I help you today?"},)"
                                     R"({"role":"user","content":"I'd like to show off how chat templating works!"})";
  std::string messages = "[";
  if (name.starts_with("system")) messages += kSystem;
  messages += kUser;
  if (name != "user") messages += kMore;
  ChatRequest request;
  request.messages = parsed(messages + "]");
  request.add_generation_prompt = true;
  return request;
}

/// How many renderings of the templates of each format are the other engine's text, byte for byte. The numbers are
/// those of jinja2: where a template has a system prompt of its own, another end token or a line break more, it is not.
TEST(ChatFormats, EqualTheTextsOfAnotherEngineWhereJinjaDoes) {
  const auto folder = shared_path("data/templates/ollama-expected");
  if (!folder) GTEST_SKIP() << "no shared folder";
  const std::map<std::string, int> expected = {
      {"alfred", 3},          {"chatml", 25},  {"chatqa", 1}, {"gemma-instruct", 2}, {"granite-instruct", 3},
      {"llama3-instruct", 3}, {"openchat", 3}, {"phi-3", 7},  {"solar-instruct", 1}, {"zephyr", 3}};
  std::map<std::string, int> n_equal;
  for (const Value& line : lines_of(*folder / "templates.jsonl")) {
    const auto& [name, source] = line.as_object()->front();
    const Result<ChatTemplate> chat_template = ChatTemplate::compile(
        *source.as_string(), {{"bos_token", Value(std::string())}, {"eos_token", Value(std::string("</s>"))}});
    ASSERT_TRUE(chat_template) << name << ": " << chat_template.error().message;
    for (const char* conversation : kConversations) {
      const Result<RenderedChat> chat = chat_template->render(request_named(conversation));
      if (chat && chat->text == file_text(*folder / (name + ".gotmpl") / conversation)) ++n_equal[name];
    }
  }
  EXPECT_EQ(n_equal, expected);
}

}  // namespace
}  // namespace vitro
