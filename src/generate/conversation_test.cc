// Conversations as files and as typed lines.
#include "generate/conversation.h"

#include <gtest/gtest.h>

#include <fstream>

#include "generate/chat_session.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

TEST(Conversation, ComesBackAsItWasSaved) {
  TempFolder folder;
  const auto path = folder.path() / "talk.json";
  const Value::Array messages = {chat_message("system", "be \"kind\"\n"), chat_message("user", "漢字 é \t<|end|>"),
                                 chat_message("assistant", "")};
  ASSERT_TRUE(save_conversation(path, messages).has_value());
  const auto loaded = load_conversation(path);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(to_string(*loaded), to_string(Value(messages)));
}

TEST(Conversation, MayBeABareListOfMessages) {
  TempFolder folder;
  std::ofstream(folder.path() / "list") << R"([{"role": "user", "content": "Hi"}])";
  const auto loaded = load_conversation(folder.path() / "list");
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(to_string(*loaded), to_string(Value(Value::Array{chat_message("user", "Hi")})));
}

TEST(Conversation, OtherFilesAreRefused) {
  TempFolder folder;
  EXPECT_EQ(load_conversation(folder.path() / "none").error().code, ErrorCode::kNotFound);
  for (const char* text : {"", "{", "7", "{\"message\": []}", "\xFF"}) {
    std::ofstream(folder.path() / "bad") << text;
    EXPECT_EQ(load_conversation(folder.path() / "bad").error().code, ErrorCode::kCorrupt) << text;
  }
}

// What the lines give, messages as they are and commands in brackets.
std::string read(const std::vector<std::string>& lines) {
  ChatInputReader reader;
  std::string out;
  const auto add = [&out](const std::optional<ChatInput>& input) {
    if (!input) return;
    out += !input->is_command ? input->message : "[" + input->command + "|" + input->argument + "]";
    out += ';';
  };
  for (const std::string& line : lines) add(reader.push(line));
  const auto rest = reader.finish();
  if (!rest) return out + "!";
  add(*rest);
  EXPECT_FALSE(reader.is_open());
  return out;
}

TEST(ChatInput, OneLineIsOneMessage) {
  EXPECT_EQ(read({"a", " b ", "", "  ", "c"}), "a; b ;c;");
  EXPECT_EQ(read({"a\xFF"}), "a\xEF\xBF\xBD;");
  EXPECT_EQ(read({"pasted\nlines\n"}), "pasted\nlines\n;");
}

TEST(ChatInput, HalfAQuotedMessageIsNotSent) { EXPECT_EQ(read({"a", "\"\"\"", "half"}), "a;!"); }

TEST(ChatInput, ABackslashGoesOn) {
  EXPECT_EQ(read({"a\\", "b\\", "c", "d"}), "a\nb\nc;d;");
  EXPECT_EQ(read({"a\\\\"}), "a\\\\;");
  EXPECT_EQ(read({"a\\", "/b"}), "a\n/b;");
  EXPECT_EQ(read({"a\\"}), "a;");
}

TEST(ChatInput, QuotesHoldLines) {
  EXPECT_EQ(read({"\"\"\"a", "", "/b\\", "c\"\"\"", "d"}), "a\n\n/b\\\nc;d;");
  EXPECT_EQ(read({"\"\"\"", "a", "\"\"\""}), "a;");
  EXPECT_EQ(read({"\"\"\"a\"\"\""}), "a;");
  EXPECT_EQ(read({"\"\"\"\"\"\""}), "");
  EXPECT_EQ(read({"\"\"\"a", "b"}), "!");
}

TEST(ChatInput, SlashesAreCommands) {
  EXPECT_EQ(read({"/help", "/save  my file ", "/", "//x", "/a\nb"}), "[help|];[save|my file];[|];/x;/a\nb;");
}

}  // namespace
}  // namespace vitro::testing
