#include "store/names.h"

#include <gtest/gtest.h>

#include "testing/expect_error.h"

namespace vitro {
namespace {

using testing::expect_error;

TEST(Names, KnownOnes) {
  for (const char* name : {"smollm2", "gemma3-270m", "minilm"}) {
    const auto parsed = parse_model_name(name);
    ASSERT_TRUE(parsed.has_value()) << name;
    ASSERT_NE(parsed->known, nullptr) << name;
    EXPECT_EQ(parsed->known->name, name);
    EXPECT_EQ(to_string(*parsed), name);
  }
}

TEST(Names, OfTheHub) {
  struct Case {
    std::string text, repo, revision, wanted;
  };
  const Case cases[] = {
      {"HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M", "main", ""},
      {"a/b@v1.0", "a/b", "v1.0", ""},
      {"a/b@refs/pr/3", "a/b", "refs/pr/3", ""},
      {"a/b:Q4_K_M", "a/b", "main", "Q4_K_M"},
      {"a/b:folder/x y.gguf", "a/b", "main", "folder/x y.gguf"},
      {"a/b@0123456789abcdef0123456789abcdef01234567:m.gguf", "a/b", "0123456789abcdef0123456789abcdef01234567",
       "m.gguf"},
      {"a/b:strange@name.gguf", "a/b", "main", "strange@name.gguf"},
      {"gpt2@main", "gpt2", "main", ""},
  };
  for (const Case& c : cases) {
    const auto parsed = parse_model_name(c.text);
    ASSERT_TRUE(parsed.has_value()) << c.text << ": " << parsed.error().message;
    EXPECT_EQ(parsed->known, nullptr);
    EXPECT_EQ(parsed->hub.repo, c.repo);
    EXPECT_EQ(parsed->hub.revision_or_default(), c.revision);
    EXPECT_EQ(parsed->hub.wanted, c.wanted);
    EXPECT_EQ(to_string(*parsed), c.text);
  }
}

TEST(Names, NearestAreOffered) {
  expect_error(parse_model_name("smolm2"), ErrorCode::kNotFound, "did you mean smollm2?");
  expect_error(parse_model_name("gemma"), ErrorCode::kNotFound, "did you mean gemma3-270m?");
  expect_error(parse_model_name("gpt2", {"openai-community/gpt2"}), ErrorCode::kNotFound,
               "did you mean openai-community/gpt2?");
  expect_error(parse_model_name("zzzzzz"), ErrorCode::kNotFound,
               "expected a known name such as smollm2, or owner/name");
}

TEST(Names, BadOnes) {
  for (const char* text : {"",
                           "/",
                           "a/",
                           "/b",
                           "a//b",
                           "a/b/c",
                           "../b",
                           "a/..",
                           "a/b--c",
                           "a/.b",
                           "-a/b",
                           "a/b.",
                           "a/b.git",
                           "a b/c",
                           "a/b@",
                           "a/b@..",
                           "a/b@a..b",
                           "a/b@-x",
                           "a/b@x/",
                           "a/b@x y",
                           "a/b:",
                           "a/b:../x",
                           "a/b:/etc/passwd",
                           "a/b:x//y",
                           "a/b:x\\y",
                           "a/b:x\ny",
                           "a/b:./x",
                           "a/b@v:",
                           "a/b\x1b[2J",
                           "\xC3\xA9/b"}) {
    const auto parsed = parse_model_name(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    for (const char c : parsed.error().message) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << text;
  }
  EXPECT_FALSE(parse_model_name(std::string(97, 'a') + "/b").has_value());
  EXPECT_TRUE(parse_model_name(std::string(96, 'a') + "/b").has_value());
  EXPECT_FALSE(parse_model_name("a/b:" + std::string(300, 'x')).has_value());
  EXPECT_FALSE(parse_model_name("a/b@" + std::string(300, 'x')).has_value());
  expect_error(parse_model_name(std::string(100000, 'a')), ErrorCode::kInvalidArgument, "too long");
}

TEST(Names, NoByteEscapes) {
  // A name is used in paths: whatever passes has no way out of a folder.
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = std::string("a/b") + static_cast<char>(byte) + "c";
    const auto parsed = parse_model_name(text);
    if (!parsed) continue;
    const HubName& hub = parsed->hub;
    EXPECT_TRUE(is_repo_name(hub.repo) && is_revision(hub.revision_or_default())) << byte;
    EXPECT_EQ(hub.repo.find_first_of(std::string_view("\0\\%?#", 5)), std::string::npos) << byte;
  }
}

TEST(Names, OfBlobs) {
  for (const char* name : {"abc", "0f-1_2.x"}) EXPECT_TRUE(is_blob_name(name)) << name;
  for (const std::string& name : {std::string(), std::string(".x"), std::string("a/b"), std::string("a b"),
                                  std::string("\""), std::string(129, 'a')}) {
    EXPECT_FALSE(is_blob_name(name)) << name;
  }
}

TEST(Names, Commits) {
  EXPECT_TRUE(is_commit(std::string(40, '0')));
  EXPECT_FALSE(is_commit(std::string(39, '0')));
  EXPECT_FALSE(is_commit(std::string(40, 'A')));
  EXPECT_FALSE(is_commit(std::string(40, 'g')));
}

TEST(KnownModels, TheTableIsSound) {
  for (const KnownModel& model : known_models()) {
    EXPECT_TRUE(model.folder.empty() ? model.files.size() == 1 : is_repo_file(model.folder)) << model.name;
    uint64_t n_wheel_bytes = 0;
    for (const Wheel& wheel : model.wheels) {
      EXPECT_EQ(wheel.sha256.size(), 64U);
      EXPECT_NE(wheel.requirement.find("=="), std::string_view::npos);
      n_wheel_bytes += wheel.n_bytes;
      for (const WheelMember& member : wheel.members) EXPECT_LT(member.file_idx, model.files.size());
    }
    EXPECT_GT(n_wheel_bytes, model.n_bytes() / 2);
    for (const KnownFile& file : model.files) {
      EXPECT_EQ(file.sha256.size(), 64U);
      EXPECT_TRUE(is_repo_file(file.name)) << file.name;
    }
  }
}

}  // namespace
}  // namespace vitro
