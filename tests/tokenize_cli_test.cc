// `vitro tokenize`: counts, differences between two tokenizers, decoded text, the page. Ids themselves are tested where
// they are made; here their expectations (tools/make_token_expectations.py) say what must be shown.
#include <gtest/gtest.h>

#include <fstream>

#include "formats/json.h"
#include "testing/gguf_writer.h"
#include "testing/run_program.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

class TokenizeCli : public ::testing::Test {
 protected:
  static std::string model(const std::string& name) {
    return repo_path("tests/data/tokens/" + name + ".tokenizer.json").string();
  }
  static std::string command(const std::string& name) { return VITRO_BINARY " tokenize " + model(name) + " "; }
  std::string text_file(const std::string& text) const {
    write_file(folder_.path() / "text", text);
    return (folder_.path() / "text").string();
  }
  static Value json_of(const std::string& command, int code = 0) {
    const Ran ran = shell(command + " 2>/dev/null");
    EXPECT_EQ(ran.code, code) << command << ran.out;
    auto value = parse_json(ran.out, command);
    EXPECT_TRUE(value.has_value()) << ran.out;
    return value ? *std::move(value) : Value();
  }
  // Texts with the ids that the reference gives them.
  static std::vector<std::pair<std::string, Value::Array>> expectations(const std::string& name) {
    std::ifstream in(repo_path("tests/data/tokens/" + name + ".jsonl"));
    std::vector<std::pair<std::string, Value::Array>> out;
    for (std::string line; std::getline(in, line) && out.size() < 25;) {
      const Value value = parse_json(line, name).value();
      if (!*value.find("add_special")->as_bool() || !*value.find("parse_special")->as_bool()) continue;
      out.emplace_back(*value.find("text")->as_string(), *value.find("ids")->as_array());
    }
    EXPECT_EQ(out.size(), 25U);
    return out;
  }

  TempFolder folder_;
};

TEST_F(TokenizeCli, CountsAndDecodes) {
  for (const auto& [text, ids] : expectations("llama3-like")) {
    const std::string file = " --file " + text_file(text);
    const Value count = json_of(command("llama3-like") + "--count --json" + file);
    EXPECT_EQ(*count.find("tokens")->as_int(), std::ssize(ids)) << text;
    EXPECT_EQ(*count.find("bytes")->as_int(), std::ssize(text));
    const Value decoded = json_of(command("llama3-like") + "--decoded --json" + file);
    EXPECT_EQ(to_string(*decoded.find("ids")), to_string(Value(ids)));
    EXPECT_EQ(decoded.find("decoded")->as_array()->size(), ids.size());
  }
  const Ran ran = shell(command("llama3-like") + "--decoded '漢' 2>/dev/null");
  EXPECT_NE(ran.out.find("'\\xE6'"), std::string::npos) << ran.out;
  const Ran count = shell(command("llama3-like") + "--count 'é漢' --no-special");
  EXPECT_NE(count.out.find(" 2 characters, 5 bytes, 2.500 tokens a character"), std::string::npos) << count.out;
}

// Beside the reference's ids for both: the totals, and that what is not shown as different is cut alike.
TEST_F(TokenizeCli, DiffShowsWhatIsCutOtherwise) {
  const auto a = expectations("llama3-like"), b = expectations("gpt2-like");
  size_t n_differences = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    ASSERT_EQ(a[i].first, b[i].first);
    const Value diff =
        json_of(command("llama3-like") + "--json --diff " + model("gpt2-like") + " --file " + text_file(a[i].first), 1);
    EXPECT_EQ(*diff.find("a")->find("tokens")->as_int(), std::ssize(a[i].second));
    EXPECT_EQ(*diff.find("b")->find("tokens")->as_int(), std::ssize(b[i].second));
    n_differences += diff.find("differences")->as_array()->size();
    const Value same =
        json_of(command("llama3-like") + "--json --diff " + model("llama3-like") + " --file " + text_file(a[i].first));
    EXPECT_TRUE(same.find("differences")->as_array()->empty()) << a[i].first;
  }
  EXPECT_GT(n_differences, 10U);
  const Ran ran = shell(command("llama3-like") + "'The dog 1234567' --diff " + model("gpt2-like"));
  EXPECT_NE(ran.out.find("stretches differ"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.code, 1);
}

// What a conversion may do to a model: every one of these cuts the text alike.
TEST_F(TokenizeCli, DiffFindsWrongIdsAndAddedTokens) {
  std::ifstream in(model("llama3-like"));
  const std::string original(std::istreambuf_iterator<char>(in), {});
  const auto diff = [&](const std::vector<std::pair<std::string, std::string>>& edits) {
    std::string json = original;
    for (const auto& [from, to] : edits) {
      const size_t at = json.find(from);
      EXPECT_NE(at, std::string::npos) << from;
      if (at != std::string::npos) json.replace(at, from.size(), to);
    }
    const auto path = folder_.path() / "tokenizer.json";
    write_file(path, json);
    return shell(command("llama3-like") + "'0/0.' --diff " + path.string());
  };
  const std::string bos = R"([{"SpecialToken":{"id":"<s>","type_id":0}},)";
  const std::pair<std::string, std::string> padding = {
      R"("special":true}],"normalizer")",
      R"("special":true},{"id":322,"content":"[PAD322]","single_word":false,"lstrip":false,"rstrip":false,)"
      R"("normalized":false,"special":true}],"normalizer")"};
  const std::pair<std::string, std::string> swapped = {R"("/":14,"0":15)", R"("/":15,"0":14)"};
  struct Case {
    std::vector<std::pair<std::string, std::string>> edits;
    int code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{}, 0, "0 stretches differ"},
      {{padding}, 0, "added tokens, ids\n0 stretches differ"},
      {{{bos, "["}}, 1, "1 stretch differs"},
      {{{bos, bos + bos.substr(1)}}, 1, "1 stretch differs"},
      {{padding, swapped}, 1, "3 stretches differ"},
      {{{R"("/":14)", R"("\u0123\u0123":14)"}}, 1, "is only in"},
  };
  for (const Case& c : cases) {
    const Ran ran = diff(c.edits);
    EXPECT_EQ(ran.code, c.code) << ran.out;
    EXPECT_NE(ran.out.find(c.says), std::string::npos) << ran.out;
  }
}

// The text of a page: what is between tags, entities replaced; marks of hidden characters left out.
std::string visible_text(std::string page) {
  page = page.substr(page.find("<pre>") + 5);
  page = page.substr(0, page.find("</pre>"));
  std::string out;
  for (size_t i = 0; i < page.size(); ++i) {
    if (page.compare(i, 3, "<i>") == 0) {
      i = page.find("</i>", i) + 3;
    } else if (page[i] == '<') {
      i = page.find('>', i);  // attributes hold no such sign
    } else {
      out += page[i];
    }
  }
  for (const auto& [entity, c] : std::vector<std::pair<std::string, std::string>>{
           {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    for (size_t at = 0; (at = out.find(entity, at)) != std::string::npos; at += c.size()) {
      out.replace(at, entity.size(), c);
    }
  }
  return out;
}

TEST_F(TokenizeCli, PagesShowHostileTextAndDoNotObeyIt) {
  const std::string hostile =
      "<script>alert('x')</script>&lt;\"'><img src=x onerror=y>\n\t漢字 é </pre></body> --><!-- &#60;";
  const std::string page_path = (folder_.path() / "page.html").string();
  ASSERT_EQ(shell(command("llama3-like") + "--no-special --html " + page_path + " --file " + text_file(hostile)).code,
            0);
  std::ifstream in(page_path);
  const std::string page(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(visible_text(page), hostile);
  for (const char* tag : {"<script", "<img", "-->"}) EXPECT_EQ(page.find(tag), std::string::npos) << tag;
  EXPECT_EQ(page.find("http:"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(shell(command("llama3-like") + "x --html " + page_path + " 2>/dev/null").code, 1);  // it exists
  EXPECT_EQ(shell(command("llama3-like") + "x --force --html " + page_path).code, 0);
  // Controls and marks that turn the direction of text are named.
  const Ran ran = shell(command("llama3-like") + "--html - --file " +
                        text_file("a\x1b[31m\xE2\x80\xAE"
                                  "b\xFF"));
  EXPECT_NE(ran.out.find("<i>U+001B</i>"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("<i>U+202E</i>"), std::string::npos);
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_NE(ran.out.find("added by the tokenizer"), std::string::npos);
}

TEST_F(TokenizeCli, OptionsWithoutEffectAreWrongUsage) {
  for (const char* options :
       {"hi --encoding cl100k_base", "hi --decoded --count", "hi --decoded --diff x", "hi --decoded --html -",
        "hi --decoded --pair x", "--ids 1 --no-special", "--ids 1 --no-parse-special",
        "hi --encoding cl100k_base --vocab-size 320", "hi --vocab-size 0"}) {
    EXPECT_EQ(shell(command("llama3-like") + options + " 2>/dev/null </dev/null").code, 2) << options;
  }
  const std::string ranks = VITRO_BINARY " tokenize " + repo_path("tests/data/tokens/sources/ranks.tiktoken").string();
  EXPECT_EQ(shell(ranks + " hi --encoding cl100k_base 2>/dev/null").code, 0);
  EXPECT_EQ(shell(ranks + " hi --encoding unheard_of 2>/dev/null").code, 1);
  EXPECT_EQ(shell(VITRO_BINARY " tokenize embedded hi --encoding cl100k_base 2>/dev/null").code, 2);
  for (const char* name : {"a.model", "b.model"}) std::ofstream(folder_.path() / name).put('x');
  const std::string two_models = VITRO_BINARY " tokenize " + folder_.path().string();
  for (const char* encoding : {"", " --encoding cl100k_base"}) {
    EXPECT_EQ(shell(two_models + " hi" + encoding + " 2>/dev/null").code, 1) << encoding;
  }
}

TEST_F(TokenizeCli, ContradictionsAreWrongUsage) {
  for (const char* options : {"--ids 1 --decoded", "--count --jsonl", "--diff x --count", "--html - --json",
                              "--html - --diff x", "text --file x", "--ids 1 --file x"}) {
    EXPECT_EQ(shell(command("llama3-like") + options + " 2>/dev/null </dev/null").code, 2) << options;
  }
  EXPECT_EQ(shell(command("llama3-like") + "hi --diff /no/such/model 2>/dev/null").code, 1);
  EXPECT_EQ(shell(command("llama3-like") + "--count --file /no/such/file 2>/dev/null").code, 1);
  EXPECT_EQ(shell(command("llama3-like") + "hi --html /no/such/folder/x 2>/dev/null").code, 1);
}

}  // namespace
}  // namespace vitro::testing
