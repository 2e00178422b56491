// The hub's answers, honest and hostile, and which files of a repository are taken.
#include "store/hub.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "testing/expect_error.h"
#include "testing/hub_server.h"

namespace vitro {
namespace {

using testing::expect_error;
using testing::HubServer;
using testing::TempFolder;
namespace fs = std::filesystem;

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

HubServer& server() {
  static HubServer instance;
  return instance;
}

HttpConnection& quick() {
  static HttpConnection connection({.connect_s = 5, .stall_s = 5, .n_tries = 2, .first_wait_s = 0.01});
  return connection;
}

Hub hub(const std::string& behaviour, const std::string& token = "") { return {server().endpoint(behaviour), token}; }

/// A repository of files that are only their names.
RepoListing listing(const std::vector<RepoFile>& files) { return {"a/b", "main", kCommit, "", files}; }

std::vector<std::string> paths(const std::vector<RepoFile>& files) {
  std::vector<std::string> out;
  for (const RepoFile& file : files) out.push_back(file.path);
  std::sort(out.begin(), out.end());
  return out;
}

using Paths = std::vector<std::string>;

Result<Paths> choose(const std::vector<RepoFile>& files, std::string_view wanted = "") {
  VITRO_TRY_ASSIGN(const auto chosen, choose_files({}, listing(files), wanted, quick()));
  return paths(chosen);
}

class HubTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server().add("a/b/config.json", "{}");
    server().add("a/b/model.safetensors", "weights");
    server().add("a/b/onnx/model.onnx", "weights");
    server().add("a/b/sub folder/ü?#%.txt", "odd");
    server().add("gated/model/config.json", "{}");
    server().add("private/model/config.json", "{}");
    const std::string index =
        R"({"weight_map": {"x": "w-1.safetensors", "y": "w-2.safetensors", "z": "w-1.safetensors"}})";
    for (const char* repo : {"a/shards/", "a/lost/", "a/leaves/"}) {
      server().add(std::string(repo) + "config.json", "{}");
      server().add(std::string(repo) + "w-1.safetensors", "1");
      server().add(std::string(repo) + "pytorch_model.bin", "1");
      server().add(std::string(repo) + "model.safetensors.index.json", index);
    }
    server().add("a/shards/w-2.safetensors", "2");
    server().add("a/shards/w-3.safetensors", "3");
    server().add("a/leaves/model.safetensors.index.json", R"({"weight_map": {"x": "../../etc/passwd"}})");
  }
  void SetUp() override { forget_environment(); }
  void TearDown() override { forget_environment(); }
  static void forget_environment() {
    for (const char* name : {"HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE",
                             "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_IMPLICIT_TOKEN"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(HubTest, ListsARepository) {
  const auto listed = list_repo(hub(""), "a/b", "main", quick());
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->repo, "a/b");
  EXPECT_EQ(listed->commit, kCommit);
  EXPECT_EQ(listed->license, "apache-2.0");
  EXPECT_EQ(paths(listed->files),
            (Paths{"config.json", "model.safetensors", "onnx/model.onnx", "sub folder/ü?#%.txt"}));
  for (const RepoFile& file : listed->files) {
    const auto remote = stat_hub_file(hub(""), *listed, file, quick());
    ASSERT_TRUE(remote) << remote.error().message;
    EXPECT_EQ(remote->n_bytes, file.n_bytes);
  }
  EXPECT_TRUE(list_repo(hub("id=pr"), "a/b", "refs/pr/1", quick()));
  EXPECT_EQ(server().log("pr").at(0).path.find("/~id=pr/api/models/a/b/revision/refs%2Fpr%2F1?blobs=true"), 0U);
}

TEST_F(HubTest, SaysWhatIsNotThereOrNotAllowed) {
  const std::string good = "hf_good";
  for (const char* token : {"", "hf_good"}) {
    expect_error(list_repo(hub("", token), "a/none", "main", quick()), ErrorCode::kNotFound, "no such repository");
    expect_error(list_repo(hub("", token), "a/b", "v9", quick()), ErrorCode::kNotFound, "no such revision");
  }
  expect_error(list_repo(hub("", "hf_bad"), "gated/model", "main", quick()), ErrorCode::kInvalidArgument,
               "accept its license");
  expect_error(list_repo(hub(""), "gated/model", "main", quick()), ErrorCode::kInvalidArgument, "set HF_TOKEN");
  expect_error(list_repo(hub(""), "private/model", "main", quick()), ErrorCode::kNotFound, "set HF_TOKEN");
  EXPECT_TRUE(list_repo(hub("", good), "gated/model", "main", quick()));
  EXPECT_TRUE(list_repo(hub("", good), "private/model", "main", quick()));
  const auto listed = list_repo(hub(""), "a/b", "main", quick());
  ASSERT_TRUE(listed);
  expect_error(stat_hub_file(hub(""), *listed, {"none.json"}, quick()), ErrorCode::kNotFound, "none.json");
  expect_error(list_repo(hub("deny=401"), "a/b", "main", quick()), ErrorCode::kInvalidArgument, "HF_TOKEN");
  expect_error(list_repo(hub("deny=429"), "a/b", "main", quick()), ErrorCode::kIoError, "too many requests");
  expect_error(list_repo(hub("deny=500"), "a/b", "main", quick()), ErrorCode::kIoError, "try again later");
  expect_error(list_repo({"http://127.0.0.1:1"}, "a/b", "main", quick()), ErrorCode::kIoError, "a/b");
}

TEST_F(HubTest, RefusesAnswersOfNoHub) {
  expect_error(list_repo(hub("html=all"), "a/b", "main", quick()), ErrorCode::kCorrupt, "web page");
  expect_error(list_repo(hub("flood=headers"), "a/b", "main", quick()), ErrorCode::kCorrupt, "bytes of headers");
  expect_error(list_repo(hub("flood=body"), "a/b", "main", quick()), ErrorCode::kCorrupt, "longer than");
  // Another commit than the one that was listed.
  RepoListing other = listing({{"config.json", 2}});
  other.commit = "main";
  expect_error(stat_hub_file(hub(""), other, other.files[0], quick()), ErrorCode::kCorrupt, "asked for main");
}

TEST_F(HubTest, RefusesNamesThatLeaveTheFolder) {
  const std::string long_name(2000, 'x');
  for (const std::string& name :
       {std::string("..%2Fx"), std::string("%2Fetc%2Fpasswd"), std::string("a%2F..%2F..%2Fx"), std::string("a%00b"),
        std::string("a%0Ab"), std::string("a%2F%2Fb"), std::string("."), std::string("a%5Cb"), long_name}) {
    expect_error(list_repo(hub("evil=" + name), "a/b", "main", quick()), ErrorCode::kCorrupt, "names a file");
  }
  for (const char* repo : {"../x", "a/../b", "a//b", "/a", "a/b/c", "a b/c", ""}) {
    expect_error(list_repo(hub(""), repo, "main", quick()), ErrorCode::kInvalidArgument, "no name of a repository");
  }
  for (const char* revision : {"..", "a/../b", "a b", ""}) {
    expect_error(list_repo(hub(""), "a/b", revision, quick()), ErrorCode::kInvalidArgument, "no name of a repository");
  }
}

TEST_F(HubTest, ReadsTheShardsOfAnIndex) {
  const auto listed = list_repo(hub(""), "a/shards", "main", quick());
  ASSERT_TRUE(listed);
  const auto chosen = choose_files(hub(""), *listed, "", quick());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(paths(*chosen),
            (Paths{"config.json", "model.safetensors.index.json", "w-1.safetensors", "w-2.safetensors"}));
  const auto lost = list_repo(hub(""), "a/lost", "main", quick());
  ASSERT_TRUE(lost);
  expect_error(choose_files(hub(""), *lost, "", quick()), ErrorCode::kCorrupt, "'w-2.safetensors'");
  const auto leaves = list_repo(hub(""), "a/leaves", "main", quick());
  ASSERT_TRUE(leaves);
  expect_error(choose_files(hub(""), *leaves, "", quick()), ErrorCode::kCorrupt, "is no file name");
}

TEST_F(HubTest, TakesOneFormOfTheWeights) {
  const auto chosen = choose({{"config.json"},
                              {"model.safetensors"},
                              {"model.safetensors.index.json"},
                              {"consolidated.safetensors"},
                              {"pytorch_model.bin"},
                              {"tf_model.h5"},
                              {"onnx/model.onnx"},
                              {"original/params.json"},
                              {"original/tokenizer.model"},
                              {"x.gguf"},
                              {"training_args.bin"},
                              {"tokenizer.json"},
                              {"tokenizer_config.json"},
                              {"chat_template.jinja"},
                              {"generation_config.json"},
                              {"qwen.tiktoken"},
                              {"README.md"},
                              {".gitattributes"}});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(*chosen, (Paths{"README.md", "chat_template.jinja", "config.json", "generation_config.json",
                            "model.safetensors", "qwen.tiktoken", "tokenizer.json", "tokenizer_config.json"}));
}

TEST_F(HubTest, ChoosesAmongGgufFiles) {
  const std::vector<RepoFile> files = {{"README.md", 10},
                                       {"m-Q4_K_M.gguf", 3 << 20},
                                       {"m-Q4_0.gguf", 2 << 20},
                                       {"m-Q4_0_4_4.gguf", 2 << 20},
                                       {"mmproj-f16.gguf", 1 << 20},
                                       {"big/m-F16-00001-of-00002.gguf", 9 << 20},
                                       {"big/m-F16-00002-of-00002.gguf", 1 << 20}};
  const auto ask = choose(files);
  expect_error(ask, ErrorCode::kInvalidArgument, "4 models in GGUF form");
  for (const char* line : {"a/b:m-Q4_K_M.gguf  3.0 MiB", "a/b:big/m-F16-00001-of-00002.gguf  10.0 MiB"}) {
    EXPECT_NE(ask.error().message.find(line), std::string::npos) << ask.error().message;
  }
  EXPECT_EQ(ask.error().message.find("mmproj"), std::string::npos);
  EXPECT_EQ(choose(files, "q4_k_m").value(), Paths{"m-Q4_K_M.gguf"});
  EXPECT_EQ(choose(files, "Q4_0").value(), Paths{"m-Q4_0.gguf"});
  EXPECT_EQ(choose(files, "m-Q4_0_4_4.gguf").value(), Paths{"m-Q4_0_4_4.gguf"});
  EXPECT_EQ(choose(files, "mmproj-f16.gguf").value(), Paths{"mmproj-f16.gguf"});
  for (const char* split : {"F16", "big/m-F16-00002-of-00002.gguf"}) {
    expect_error(choose(files, split), ErrorCode::kUnsupported, "gguf-split --merge");
  }
  expect_error(choose(files, "m"), ErrorCode::kInvalidArgument, "name one");
  expect_error(choose(files, "Q8_0"), ErrorCode::kNotFound, "a/b:m-Q4_K_M.gguf");
  EXPECT_EQ(choose({{"one.gguf", 1}, {"mmproj.gguf", 1}, {"config.json"}}).value(), Paths{"one.gguf"});
  expect_error(choose({{"m-00001-of-00003.gguf"}, {"m-00003-of-00003.gguf"}}), ErrorCode::kUnsupported, "3 files");
  expect_error(choose({{"m-00001-of-00000.gguf"}}), ErrorCode::kUnsupported, "0 files");
  EXPECT_EQ(choose({{"m-00001-of-00001.gguf"}}).value(), Paths{"m-00001-of-00001.gguf"});
}

TEST_F(HubTest, SaysWhichFormsItReads) {
  expect_error(choose({{"config.json"}, {"pytorch_model.bin"}}), ErrorCode::kUnsupported, "'pytorch_model.bin'");
  expect_error(choose({{"model.safetensors"}}), ErrorCode::kUnsupported, "config.json");
  expect_error(choose({{"README.md"}}), ErrorCode::kNotFound, "no weights");
  expect_error(choose({}), ErrorCode::kNotFound, "no weights");
  for (const char* name : {"pytorch_model.bin", "training_args.pt", "sub/model.onnx", "run.py"}) {
    expect_error(choose({{name}}, name), ErrorCode::kUnsupported, "of no kind that is read");
  }
  expect_error(choose({{"README.md"}}, "x.gguf"), ErrorCode::kNotFound, "'x.gguf'");
}

TEST_F(HubTest, ReadsTheEnvironment) {
  const TempFolder home;
  auto plain = hub_from_environment(home.path());
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->endpoint, "https://huggingface.co");
  EXPECT_EQ(plain->token, "");
  EXPECT_FALSE(plain->is_offline);
  std::ofstream(home.path() / "token") << "hf_file\n";
  EXPECT_EQ(hub_from_environment(home.path())->token, "hf_file");
  fs::resize_file(home.path() / "token", uint64_t{1} << 40);
  const std::string file = (home.path() / "token").string();
  expect_error(hub_from_environment(home.path()), ErrorCode::kCorrupt, file + ": too long, at most 4096 bytes");
  fs::remove(home.path() / "token");
  fs::create_directory(home.path() / "token");
  expect_error(hub_from_environment(home.path()), ErrorCode::kInvalidArgument, file + ": is a folder");
  ::setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1", 1);
  EXPECT_TRUE(hub_from_environment(home.path()));
  ::unsetenv("HF_HUB_DISABLE_IMPLICIT_TOKEN");
  std::ofstream(home.path() / "other") << " hf_other ";
  ::setenv("HF_TOKEN_PATH", (home.path() / "other").c_str(), 1);
  EXPECT_EQ(hub_from_environment(home.path())->token, "hf_other");
  ::setenv("VITRO_PLACE", home.path().c_str(), 1);
  ::setenv("HF_TOKEN_PATH", "$VITRO_PLACE/other", 1);
  EXPECT_EQ(hub_from_environment(home.path())->token, "hf_other");
  ::unsetenv("VITRO_PLACE");
  ::setenv("HF_TOKEN", "hf_word", 1);
  ::setenv("HF_ENDPOINT", "https://mirror.example/hub//", 1);
  ::setenv("HF_HUB_OFFLINE", "YES", 1);
  const auto all = hub_from_environment(home.path());
  EXPECT_EQ(all->token, "hf_word");
  EXPECT_EQ(all->endpoint, "https://mirror.example/hub");
  EXPECT_TRUE(all->is_offline);
  expect_error(list_repo(*all, "a/b", "main", quick()), ErrorCode::kNotFound, "HF_HUB_OFFLINE");
  ::setenv("HF_TOKEN", "hf_a\r\nX-Evil: 1", 1);
  expect_error(hub_from_environment(home.path()), ErrorCode::kInvalidArgument, "HF_TOKEN");
  ::setenv("HF_TOKEN", "hf_word", 1);
  ::setenv("HF_ENDPOINT", "mirror", 1);
  expect_error(hub_from_environment(home.path()), ErrorCode::kInvalidArgument, "HF_ENDPOINT");
}

}  // namespace
}  // namespace vitro
