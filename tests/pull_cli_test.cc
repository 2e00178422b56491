// Getting, listing and removing models as a user meets it on a terminal; tools/check_hub.py holds the rest against
// huggingface_hub.
#include <gtest/gtest.h>

#include <sstream>

#include "testing/gguf_writer.h"
#include "testing/hf_repo.h"
#include "testing/hub_server.h"
#include "testing/pty.h"
#include "testing/random_model.h"
#include "testing/run_program.h"
#include "testing/shared_data.h"

namespace vitro::testing {
namespace {
namespace fs = std::filesystem;

class PullCliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path golden = repo_path("tests/golden/llama-gqa");
    for (const char* file : {"config.json", "model.safetensors"}) {
      server_.add(std::string("o/toy/") + file, contents_of(golden / file));
    }
    server_.add("o/large/model.gguf", noise(2'000'000));
  }
  // The program with caches of its own, and the server as its hub.
  std::string vitro(const std::string& arguments, const std::string& behaviour = "id=a") const {
    return "env -u HF_HUB_CACHE -u HUGGINGFACE_HUB_CACHE -u HF_TOKEN -u HF_HUB_OFFLINE -u TRANSFORMERS_OFFLINE "
           "HF_HOME=" +
           home() + " VITRO_CACHE=" + home() + "/vitro HF_ENDPOINT=" + server_.endpoint(behaviour) +
           " " VITRO_BINARY " " + arguments;
  }
  std::string home() const { return folder_.path().string(); }
  fs::path repo(const std::string& name) const { return folder_.path() / "hub" / ("models--o--" + name); }

  HubServer server_;
  TempFolder folder_;
};

TEST_F(PullCliTest, ABarWithSpeedAndTimeLeft) {
  Pty pty(vitro("pull o/large", "rate=300000"));
  EXPECT_NE(pty.until("1.9 MiB to download; license: apache-2.0"), "") << pty.rest();
  EXPECT_NE(pty.until(" of 1.9 MiB, "), "") << pty.rest();
  EXPECT_NE(pty.until("iB/s, "), "") << pty.rest();
  EXPECT_NE(pty.until(" left"), "") << pty.rest();
  EXPECT_NE(pty.until("o/large: fetched"), "") << pty.rest();
  EXPECT_EQ(pty.wait(), 0);
  EXPECT_NE(pty.rest().find("model.gguf"), std::string::npos);
}

TEST_F(PullCliTest, CtrlCStopsAndTheNextGoesOn) {
  Pty pty(vitro("pull o/large", "rate=100000"));
  EXPECT_NE(pty.until(" left"), "") << pty.rest();
  pty.type("\x03");
  EXPECT_NE(pty.until("stopped"), "") << pty.rest();
  EXPECT_EQ(pty.wait(), 1);
  EXPECT_FALSE(fs::exists(repo("large") / "refs"));
  EXPECT_NE(shell(vitro("models 2>&1")).out.find("not finished; 'vitro pull o/large' goes on"), std::string::npos);
  const Ran again = shell(vitro("pull o/large 2>/dev/null", "id=again"));
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(contents_of(again.out.substr(0, again.out.find('\n'))), noise(2'000'000));
}

TEST_F(PullCliTest, ATerminalNeedsNoPull) {
  Pty pty(vitro("run o/toy --ids 1,2,3 --max-tokens 2 --ignore-end"));
  EXPECT_NE(pty.until("to download"), "") << pty.rest();
  EXPECT_EQ(pty.wait(), 0) << pty.rest();
  const Ran here = shell(vitro("run o/toy --ids 1,2,3 --max-tokens 2 --ignore-end 2>&1", "deny=500"));
  EXPECT_EQ(here.code, 0) << here.out;  // no server is asked
}

TEST_F(PullCliTest, ElsewhereItDoes) {
  for (const char* command : {"run o/toy --ids 1", "tokenize o/toy x", "template o/toy -", "chat o/toy", "eval o/toy x",
                              "tokenize /nonexistent x --diff o/toy"}) {
    const Ran ran = shell(vitro(std::string(command) + " 2>&1 </dev/null"));
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_NE(ran.out.find("vitro pull o/toy"), std::string::npos) << ran.out;
  }
  EXPECT_FALSE(fs::exists(repo("toy")));
}

TEST_F(PullCliTest, ChatsWithANamedModel) {
  const fs::path model = write_random_model(folder_.path(), {.d_model = 64, .d_ff = 64, .vocab_size = 322});
  server_.add("o/chat/model.gguf", contents_of(model));
  write_file(folder_.path() / "template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  write_file(folder_.path() / "lines", "one\ntwo\n");
  const std::string options = " --tokenizer " + repo_path("tests/data/tokens/llama3-like.tokenizer.json").string() +
                              " --template " + home() + "/template.jinja --json --max-tokens 3 <" + home() +
                              "/lines 2>/dev/null";
  const Ran fetched = shell(vitro("chat o/chat --pull" + options));
  EXPECT_EQ(fetched.code, 0);
  EXPECT_EQ(std::count(fetched.out.begin(), fetched.out.end(), '\n'), 2) << fetched.out;
  const Ran here = shell(vitro("chat o/chat" + options, "deny=500"));  // no server is asked
  EXPECT_EQ(here.code, 0);
  EXPECT_EQ(std::count(here.out.begin(), here.out.end(), '\n'), 2) << here.out;
}

TEST_F(PullCliTest, TheModelInTheProgramNeedsNoPull) {
  const Ran pulled = shell(vitro("pull embedded 2>" + home() + "/talk", "deny=500"));
  EXPECT_EQ(pulled.code, 0);
  EXPECT_EQ(pulled.out, "embedded\n");  // what a command takes as MODEL
  EXPECT_EQ(contents_of(folder_.path() / "talk"), "embedded: is part of this program\n");
  const Ran removed = shell(vitro("models rm embedded --yes 2>&1"));
  EXPECT_EQ(removed.code, 1);
  EXPECT_NE(removed.out.find("is part of this program; there is nothing"), std::string::npos) << removed.out;
}

TEST_F(PullCliTest, DescriptionsAreReadFromHeadersAlone) {
  for (const char* command : {"show o/toy", "plan o/toy"}) {
    const Ran ran = shell(vitro(std::string(command) + " 2>&1"));
    EXPECT_EQ(ran.code, 0) << ran.out;
    EXPECT_NE(ran.out.find("reading its headers"), std::string::npos) << ran.out;
  }
  EXPECT_FALSE(fs::exists(repo("toy")));
}

TEST_F(PullCliTest, CtrlCLeavesNoHeaders) {
  const fs::path temporary = folder_.path() / "tmp";
  fs::create_directories(temporary);
  Pty pty("env TMPDIR=" + temporary.string() + " " + vitro("show o/large", "stall=1000"));
  EXPECT_NE(pty.until("reading its headers"), "") << pty.rest();
  pty.type("\x03");
  EXPECT_NE(pty.until("stopped"), "") << pty.rest();
  EXPECT_EQ(pty.wait(), 1);
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(PullCliTest, ErrorsDoNotMoveTheCursor) {
  const Ran ran = shell(vitro("show \"$(printf '/none/\\033[2J')\" 2>&1"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("/none/"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find(''), std::string::npos) << ran.out;
}

TEST_F(PullCliTest, TheFileAndNotTheFolderBesideIt) {
  server_.add("o/both/config.json", "{}");
  server_.add("o/both/model.gguf", "weights");
  ASSERT_EQ(shell(vitro("pull o/both:config.json 2>&1")).code, 0);
  const Ran ran = shell(vitro("pull o/both 2>/dev/null"));
  EXPECT_TRUE(ran.out.ends_with("/model.gguf\n")) << ran.out;
}

TEST_F(PullCliTest, RemovingAsks) {
  ASSERT_EQ(shell(vitro("pull o/toy >/dev/null 2>&1")).code, 0);
  const Ran unasked = shell(vitro("models rm o/toy 2>&1 </dev/null"));
  EXPECT_EQ(unasked.code, 1);
  EXPECT_NE(unasked.out.find("--yes"), std::string::npos) << unasked.out;
  {
    Pty pty(vitro("models rm o/toy"));
    EXPECT_NE(pty.until("[y/N] "), "");
    pty.type("\n");
    EXPECT_NE(pty.until("kept"), "") << pty.rest();
    EXPECT_EQ(pty.wait(), 0);
  }
  EXPECT_TRUE(fs::exists(repo("toy")));
  Pty pty(vitro("models rm o/toy"));
  EXPECT_NE(pty.until("[y/N] "), "");
  pty.type("y\n");
  EXPECT_NE(pty.until("removed, "), "") << pty.rest();
  EXPECT_EQ(pty.wait(), 0);
  EXPECT_FALSE(fs::exists(repo("toy")));
}

TEST_F(PullCliTest, Listing) {
  const Ran nothing = shell(vitro("models 2>&1"));
  EXPECT_EQ(nothing.code, 0);
  EXPECT_NE(nothing.out.find("'vitro pull smollm2' fetches"), std::string::npos) << nothing.out;
  ASSERT_EQ(shell(vitro("pull o/toy >/dev/null 2>&1")).code, 0);
  const Ran table = shell(vitro("models 2>/dev/null"));
  EXPECT_NE(table.out.find("safetensors BF16"), std::string::npos) << table.out;
  const Ran path = shell(vitro("models path o/toy"));
  EXPECT_EQ(path.out, (repo("toy") / "snapshots" / "0123456789abcdef0123456789abcdef01234567").string() + "\n");
  EXPECT_EQ(shell(vitro("models path o/none 2>/dev/null")).code, 1);
}

TEST_F(PullCliTest, OneLineForWhatGoesWrong) {
  const std::string full = "bash -c 'ulimit -f 100; " + vitro("pull o/large") + "'";
  const std::pair<std::string, const char*> cases[] = {
      {vitro("pull o/large", "html=1"), "web page"},   {vitro("pull o/large", "hash=wrong"), "sha256"},
      {vitro("pull o/none"), "no such repository"},    {vitro("pull gated/x", "deny=403"), "HF_TOKEN"},
      {vitro("pull o/large", "html=all"), "web page"}, {full, "File too large"},
  };
  for (const auto& [command, words] : cases) {
    const Ran ran = shell(command + " 2>&1 </dev/null");
    EXPECT_NE(ran.code, 0) << command;
    EXPECT_NE(ran.out.find(words), std::string::npos) << ran.out;
    EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 2)
        << ran.out;  // how much there is to download, and the error
  }
  EXPECT_FALSE(fs::exists(repo("large") / "refs"));
}

TEST_F(PullCliTest, WithoutRoomNothingIsMade) {
  const Ran ran = shell(vitro("pull o/large 2>&1", "longer=1152921504606846976"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("no space: "), std::string::npos) << ran.out;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  EXPECT_FALSE(fs::exists(folder_.path() / "hub"));
}

TEST_F(PullCliTest, ACircleInTheCache) {
  fs::create_directories(repo("toy") / "snapshots");
  fs::create_directories(repo("toy") / "refs");
  fs::create_symlink("blobs", repo("toy") / "blobs");
  const Ran ran = shell(vitro("pull o/toy 2>&1"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("links in a circle"), std::string::npos) << ran.out;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
}

}  // namespace
}  // namespace vitro::testing
