// Published chat templates against what jinja2 made of them (../shared/goldens/text/templates), where they are.
#include "text/jinja/templates_test_util.h"

namespace vitro {
namespace {

using testing::file_text;
using testing::lines_of;
using testing::request_of;
using testing::shared_path;
using testing::string_of;
using testing::tokens_of;

struct Counts {
  int n_texts = 0;
  int n_errors = 0;
};

std::string source_of(const Value& header) {
  const std::string inline_source = string_of(header, "chat_template");
  if (!inline_source.empty()) return inline_source;
  return file_text(*shared_path("data/" + string_of(header, "file")));
}

void compare_file(const std::filesystem::path& path, Counts& counts) {
  const std::vector<Value> lines = lines_of(path);
  const Result<ChatTemplate> chat_template = ChatTemplate::compile(source_of(lines[0]), tokens_of(lines[0]));
  ASSERT_TRUE(chat_template) << path << ": " << chat_template.error().message;
  for (size_t i = 1; i < lines.size(); ++i) {
    ChatRequest request = request_of(lines[i], string_of(lines[0], "now"));
    // Those of whole tokenizers were made by apply_chat_template, the others by the template alone.
    request.is_prepared = lines[0].find("chat_template") != nullptr;
    const Result<RenderedChat> chat = chat_template->render(request);
    const Value* text = lines[i].find("text");
    if (text != nullptr) {
      ++counts.n_texts;
      EXPECT_EQ(chat ? chat->text : chat.error().message, *text->as_string()) << path << " line " << i + 1;
    } else {
      ++counts.n_errors;
      EXPECT_FALSE(chat) << path << " line " << i + 1 << ": " << string_of(lines[i], "error");
    }
  }
}

TEST(ChatGoldens, EveryPublishedTemplateRendersAsJinja) {
  const auto folder = shared_path("goldens/text/templates");
  if (!folder) GTEST_SKIP() << "needs ../shared/goldens/text/templates";
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) compare_file(entry.path(), counts);
  EXPECT_EQ(counts.n_texts, 1199);
  EXPECT_EQ(counts.n_errors, 229);
}

}  // namespace
}  // namespace vitro
