// `vitro template`: what it reads, what it writes and how it fails. The texts themselves are tested where they are
// made.
#include <gtest/gtest.h>

#include "formats/json.h"
#include "testing/gguf_writer.h"
#include "testing/run_program.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if tools %}[{{ tools|length "
    "}}]{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}{{ mood }}";

class TemplateCli : public ::testing::Test {
 protected:
  TemplateCli() {
    put("T.jinja", kTemplate);
    put("chat.json", R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo "}])");
  }
  void put(const std::string& name, std::string_view text) const { write_file(folder_.path() / name, text); }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Runs `vitro template` with standard error and output together.
  Ran run(const std::string& args, const std::string& input = "") const {
    put("input", input);
    return shell("cd " + folder_.path().string() + " && " VITRO_BINARY " template " + args + " <input 2>&1");
  }
  std::string text(const std::string& args, const std::string& input = "") const {
    const Ran ran = run(args, input);
    EXPECT_EQ(ran.code, 0) << args << ran.out;
    return ran.out;
  }
  void expect_error(int code, const std::string& args, const std::string& part, const std::string& input = "") const {
    const Ran ran = run(args, input);
    EXPECT_EQ(ran.code, code) << args << ran.out;
    EXPECT_NE(ran.out.find(part), std::string::npos) << args << ": " << ran.out;
  }
  TempFolder folder_;
};

TEST_F(TemplateCli, WritesTheText) {
  EXPECT_EQ(text("--file T.jinja chat.json --bos '<s>'"), "<s><user>Hi<assistant>Yo <assistant>");
  EXPECT_EQ(text("--file T.jinja chat.json --no-add-generation-prompt --var 'mood=\"!\"'"), "<user>Hi<assistant>Yo !");
  EXPECT_EQ(text("--file T.jinja chat.json --continue"), "<user>Hi<assistant>Yo ");
  EXPECT_EQ(text("--file T.jinja -", R"({"messages":[{"role":"user","content":"é"}]})"), "<user>é<assistant>");
  put("tools.json", "[{},{}]");
  EXPECT_EQ(text("T.jinja chat.json --tools tools.json"), "<user>Hi<assistant>Yo [2]<assistant>");
}

// As apply_chat_template chooses: tool_use where there are tools, else default.
TEST_F(TemplateCli, ToolsChooseTheTemplateForTools) {
  put("tokenizer_config.json",
      R"({"bos_token":"<s>","chat_template":[{"name":"default","template":"{{ bos_token }}d"},)"
      R"({"name":"tool_use","template":"{{ bos_token }}t{{ tools|length }}"}]})");
  put("tools.json", "[{},{}]");
  EXPECT_EQ(text(". chat.json"), "<s>d");
  EXPECT_EQ(text(". chat.json --tools tools.json"), "<s>t2");
  EXPECT_EQ(text(". chat.json --tools tools.json --name default"), "<s>d");
  EXPECT_EQ(text(". chat.json --bos ''"), "d");
  const std::string messages = R"({"messages":[{"role":"user","content":"Hi"}])";
  EXPECT_EQ(text(". --jsonl", messages + "}\n" + messages + R"(,"kwargs":{"tools":[{}]}})"),
            "{\"text\":\"<s>d\"}\n{\"text\":\"<s>t1\"}\n");
}

TEST_F(TemplateCli, WritesIdsInWhichWhatPeopleSaidStaysText) {
  std::filesystem::copy_file(repo_path("tests/data/tokens/llama3-like.tokenizer.json"),
                             folder_.path() / "tokenizer.json");
  const Value tokenizer = load_json(file("tokenizer.json"));
  const Value& special = tokenizer.find("added_tokens")->as_array()->front();
  const std::string content = *special.find("content")->as_string();
  const std::string id = std::to_string(*special.find("id")->as_int());
  put("tokenizer_config.json",
      R"({"bos_token":")" + content + R"(","chat_template":"{{ bos_token }}{{ messages[0].content }}"})");
  const std::string said = R"([{"role":"user","content":")" + content + R"("}])";
  const Value plain = parse_json(text(". - --ids", said), "ids").value();
  ASSERT_GT(plain.as_array()->size(), 2U);
  EXPECT_EQ(to_string(plain.as_array()->front()), id);
  EXPECT_NE(to_string(plain.as_array()->at(1)), id);
  const Value whole = parse_json(text(". - --ids --json", said), "json").value();
  EXPECT_EQ(to_string(*whole.find("ids")), to_string(plain));
  EXPECT_EQ(*whole.find("text")->as_string(), content + content);
  const auto n = std::to_string(content.size());
  EXPECT_EQ(to_string(*whole.find("from_request")), "[[" + n + "," + std::to_string(2 * content.size()) + "]]");
}

TEST_F(TemplateCli, RefusesWhatLinesBringThemselves) {
  for (const char* option :
       {"chat.json", "--tools tools.json", "--documents tools.json", "--var a=1", "--json", "--ids"}) {
    EXPECT_EQ(run("--file T.jinja --jsonl " + std::string(option), "").code, 2) << option;
  }
  EXPECT_NE(run("--file T.jinja --jsonl", R"({"messages":[],"kwargs":3})").out.find("kwargs must be an object"),
            std::string::npos);
}

TEST_F(TemplateCli, AnswersLineByLine) {
  const std::string lines =
      R"({"messages":[{"role":"user","content":"a"}],"kwargs":{"add_generation_prompt":true,"mood":1}})"
      "\n"
      R"({"messages":[{"role":"user","content":"a\"b"}]})"
      "\nno json\n[]\n";
  const Ran ran = run("--file T.jinja --jsonl", lines);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out.substr(0, ran.out.find("{\"error\"")),
            "{\"text\":\"<user>a<assistant>1\"}\n{\"text\":\"<user>a\\\"b\"}\n");
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 4) << ran.out;
  EXPECT_EQ(text("--jsonl", R"({"template":"{{ messages|length }}","messages":[]})"), "{\"text\":\"0\"}\n");
  EXPECT_EQ(text("--jsonl", ""), "");
}

TEST_F(TemplateCli, FailsWithThePlace) {
  put("raise.jinja", "a\n{{ raise_exception('only users') }}");
  put("broken.jinja", "{% if %}");
  expect_error(1, "--file raise.jinja chat.json", "line 2, column 19: only users");
  expect_error(1, "--file broken.jinja chat.json", "broken.jinja: line 1, column");
  expect_error(1, "--file absent.jinja chat.json", "absent.jinja");
  expect_error(1, "--file T.jinja -", "standard input", "no json");
  expect_error(1, "--file T.jinja chat.json --var x", "--var x: expected KEY=JSON");
  expect_error(1, "--file T.jinja chat.json --name rag", "no chat template named 'rag'; there are: default");
  expect_error(1, "T.jinja -", "empty conversation", "[]");
  expect_error(1, "--jsonl", "needs the text template", "{\"messages\":[]}\n");
}

TEST_F(TemplateCli, RefusesWhatDoesNotFitTogether) {
  expect_error(2, "", "give a MODEL or --file");
  expect_error(2, "--file T.jinja chat.json --ids", "--ids needs a MODEL");
  expect_error(2, ". --jsonl --ids", "cannot be combined");
  expect_error(2, ". --jsonl --continue", "--continue");
  expect_error(2, ". --nosuch", "--nosuch");
}

}  // namespace
}  // namespace vitro::testing
