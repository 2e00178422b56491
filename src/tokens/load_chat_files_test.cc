// Which template and which special tokens a model's files hold, for every kind of file.
#include "tokens/load_chat_files.h"

#include <gtest/gtest.h>

#include "testing/expect_error.h"
#include "testing/gguf_writer.h"
#include "testing/temp_folder.h"
#include "tokens/tokenizer_settings.h"

namespace vitro {
namespace {

using testing::GgufWriter;
using testing::write_file;

class LoadChatFiles : public ::testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    write_file(folder_.path() / name, text);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  ChatFiles load(const std::string& name = "") const {
    Result<ChatFiles> files = load_chat_files(name.empty() ? folder_.path() : folder_.path() / name);
    EXPECT_TRUE(files) << files.error().message;
    return files ? *std::move(files) : ChatFiles();
  }
  Error error(const std::string& name = "") const {
    const Result<ChatFiles> files = load_chat_files(name.empty() ? folder_.path() : folder_.path() / name);
    EXPECT_FALSE(files);
    return files ? Error{} : files.error();
  }
  testing::TempFolder folder_;
};

std::string source_of(const ChatFiles& files, std::string_view name = "", bool has_tools = false) {
  const auto chosen = files.choose(name, has_tools);
  return chosen ? (*chosen)->source : chosen.error().message;
}

std::string token(const ChatFiles& files, std::string_view name) {
  const Value tokens = Value(files.special_tokens);
  const Value* value = tokens.find(name);
  return value && value->as_string() ? *value->as_string() : "";
}

TEST_F(LoadChatFiles, TokenizerConfigHoldsATemplateAndTokens) {
  put("tokenizer_config.json",
      R"({"bos_token":"<s>","eos_token":{"content":"</s>","lstrip":false},"unk_token":null,"chat_template":"T",
          "additional_special_tokens":["<a>",{"content":"<b>"}]})");
  const ChatFiles files = load();
  EXPECT_EQ(source_of(files), "T");
  EXPECT_EQ(files.templates[0].where, path("tokenizer_config.json") + ": chat_template");
  EXPECT_EQ(token(files, "bos_token"), "<s>");
  EXPECT_EQ(token(files, "eos_token"), "</s>");
  EXPECT_EQ(Value(files.special_tokens).find("unk_token"), nullptr);
  const Value special(files.special_tokens);
  const Value::Array* more = special.find("additional_special_tokens")->as_array();
  ASSERT_EQ(more->size(), 2U);
  EXPECT_EQ(*more->at(1).as_string(), "<b>");
  EXPECT_EQ(source_of(load("tokenizer_config.json")), "T");
}

TEST_F(LoadChatFiles, NamedTemplatesAreChosenByNameOrTools) {
  put("tokenizer_config.json",
      R"({"chat_template":[{"name":"default","template":"D"},{"name":"tool_use","template":"U"}]})");
  const ChatFiles files = load();
  EXPECT_EQ(source_of(files), "D");
  EXPECT_EQ(source_of(files, "", true), "U");
  EXPECT_EQ(source_of(files, "tool_use"), "U");
  EXPECT_EQ(source_of(files, "rag"), "no chat template named 'rag'; there are: default, tool_use");
}

TEST_F(LoadChatFiles, FilesOfTheirOwnWinOverTheConfiguration) {
  put("special_tokens_map.json", R"({"bos_token":"old","pad_token":"<pad>"})");
  put("tokenizer_config.json", R"({"bos_token":"<s>","chat_template":"config"})");
  EXPECT_EQ(source_of(load()), "config");
  put("chat_template.json", R"({"chat_template":"json"})");
  EXPECT_EQ(source_of(load()), "json");
  put("chat_template.jinja", "jinja");
  put("additional_chat_templates/rag.jinja", "rag");
  put("additional_chat_templates/notes.txt", "no template");
  const ChatFiles files = load();
  EXPECT_EQ(source_of(files), "jinja");
  EXPECT_EQ(source_of(files, "rag"), "rag");
  EXPECT_EQ(files.templates.size(), 2U);
  EXPECT_EQ(token(files, "bos_token"), "<s>");
  EXPECT_EQ(token(files, "pad_token"), "<pad>");
  EXPECT_EQ(source_of(load("chat_template.jinja")), "jinja");
}

TEST_F(LoadChatFiles, AGgufHoldsTemplatesAndTokensByTheirIds) {
  GgufWriter gguf;
  gguf.add("general.architecture", "llama")
      .add("tokenizer.ggml.tokens",
           GgufWriter::array({GgufWriter::string("<s>"), GgufWriter::string("</s>"), GgufWriter::string("a")}))
      .add("tokenizer.ggml.bos_token_id", uint32_t{0})
      .add("tokenizer.ggml.eos_token_id", uint32_t{1})
      .add("tokenizer.ggml.padding_token_id", uint32_t{77})
      .add("tokenizer.chat_template", "G")
      .add("tokenizer.chat_template.tool_use", "GU");
  put("model.gguf", gguf.bytes());
  const ChatFiles files = load("model.gguf");
  EXPECT_EQ(source_of(files), "G");
  EXPECT_EQ(source_of(files, "", true), "GU");
  EXPECT_EQ(token(files, "bos_token"), "<s>");
  EXPECT_EQ(token(files, "eos_token"), "</s>");
  EXPECT_EQ(token(files, "pad_token"), "");
}

// Each is a hole behind one byte; it takes no room.
TEST_F(LoadChatFiles, TakesNoMoreOfHugeFiles) {
  for (const char* name : {"tokenizer_config.json", "chat_template.jinja", "additional_chat_templates/rag.jinja"}) {
    put(name, "{");
    std::filesystem::resize_file(path(name), uint64_t{1} << 40);
    for (const std::string& named : {std::string(), std::string(name)}) {
      testing::expect_error(load_chat_files(folder_.path() / named), ErrorCode::kCorrupt,
                            path(name) + ": too long, at most 16777216 bytes expected");
    }
    std::filesystem::remove(path(name));
  }
  put("added_tokens.json", "{");
  std::filesystem::resize_file(path("added_tokens.json"), uint64_t{1} << 40);
  testing::expect_error(read_settings(folder_.path()), ErrorCode::kCorrupt,
                        path("added_tokens.json") + ": too long, at most 16777216 bytes expected");
}

TEST_F(LoadChatFiles, ModelsWithoutATemplateSaySo) {
  EXPECT_EQ(source_of(load()), "the model's files have no chat template; give one with --file");
  put("tokenizer_config.json", R"({"chat_template":null})");
  EXPECT_TRUE(load().templates.empty());
}

TEST_F(LoadChatFiles, BrokenFilesAreNamed) {
  EXPECT_EQ(error("absent.json").code, ErrorCode::kNotFound);
  put("tokenizer_config.json", R"({"chat_template":7})");
  EXPECT_EQ(error().code, ErrorCode::kCorrupt);
  EXPECT_NE(error().message.find("tokenizer_config.json"), std::string::npos) << error().message;
  put("tokenizer_config.json", R"({"chat_template":[{"name":"default"}]})");
  EXPECT_NE(error().message.find("name and template"), std::string::npos) << error().message;
  put("tokenizer_config.json", "{");
  EXPECT_EQ(error().code, ErrorCode::kCorrupt);
  put("tokenizer_config.json", "[]");
  EXPECT_TRUE(load().templates.empty());
  put("big.jinja", std::string((size_t{16} << 20) + 1, 'x'));
  EXPECT_EQ(error("big.jinja").code, ErrorCode::kCorrupt);
  EXPECT_NE(error("big.jinja").message.find("16777216"), std::string::npos) << error("big.jinja").message;
  std::filesystem::create_directories(folder_.path() / "chat_template.jinja");
  EXPECT_FALSE(load_chat_files(folder_.path()));
}

}  // namespace
}  // namespace vitro
