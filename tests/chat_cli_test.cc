// `vitro chat` as a person and as a script meet it: a terminal of its own, and pipes. The model is random: what it says
// does not matter here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <sstream>

#include "formats/json.h"
#include "testing/pty.h"
#include "testing/random_model.h"
#include "testing/run_program.h"
#include "testing/shared_data.h"
#include "testing/temp_folder.h"

namespace vitro::testing {
namespace {

constexpr const char* kTemplate =
    "{%- for m in messages -%}\n"
    "{%- if m.role == 'user' and not m.content.strip('!') -%}{{ raise_exception('say something') }}{%- endif -%}\n"
    "<s>{{ m.role }}: {{ m.content }}<|end|>\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}<s>assistant: {% endif %}";

constexpr int kPipeBytes = 4096;

/// The editor shows its prompt a moment before it takes the terminal; what is typed before that is the terminal's.
void expect_prompt(Pty& person) {
  EXPECT_FALSE(person.until("> ").empty()) << person.rest();
  ::usleep(100000);
}

class ChatCli : public ::testing::Test {
 protected:
  ChatCli() : model_(write_random_model(folder_.path(), {.d_model = 64, .d_ff = 64, .vocab_size = 322})) {
    write_file(folder_.path() / "template.jinja", kTemplate);
  }

  // The command with a model that never ends a reply by itself.
  std::string chat(const std::string& options) const {
    return "env XDG_STATE_HOME=" + folder_.path().string() + " TERM=xterm LC_ALL=C " VITRO_BINARY " chat " +
           model_.string() + " --tokenizer " + repo_path("tests/data/tokens/llama3-like.tokenizer.json").string() +
           " --template " + file("template.jinja") + " --logit-bias 320=-inf --logit-bias 321=-inf " + options;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  // Lines into a pipe; standard output and error together.
  Ran piped(const std::string& lines, const std::string& options) const {
    write_file(folder_.path() / "input", lines);
    return shell(chat(options) + " 2>&1 <" + file("input"));
  }
  // One JSON object a reply, standard output alone.
  std::vector<Value> replies(const std::string& lines, const std::string& options = "") const {
    write_file(folder_.path() / "input", lines);
    const Ran ran = shell(chat("--json --max-tokens 6 " + options) + " 2>/dev/null <" + file("input"));
    std::vector<Value> out;
    std::istringstream in(ran.out);
    for (std::string line; std::getline(in, line);) out.push_back(parse_json(line, "reply").value());
    return out;
  }
  static int64_t number(const Value& reply, std::string_view key) {
    const Value* value = reply.find(key);
    return value && value->as_int() ? *value->as_int() : -1;
  }

  TempFolder folder_;
  std::filesystem::path model_;
};

TEST_F(ChatCli, AnswersLinesOfAPipe) {
  const std::vector<Value> out = replies("one\n\ntwo \\\nlines\n\"\"\"\nthree\n\"\"\"\n");
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(number(out[0], "reused_tokens"), 0);
  for (size_t i = 1; i < 3; ++i) {
    // All but the last token of the reply, which needed no pass.
    EXPECT_EQ(number(out[i], "reused_tokens"), number(out[i - 1], "context_tokens") - 1);
    EXPECT_EQ(number(out[i], "computed_tokens"),
              number(out[i], "context_tokens") - 1 - number(out[i], "reused_tokens"));
  }
}

TEST_F(ChatCli, ShowsWhatTheModelIsGiven) {
  const std::vector<Value> out = replies("<|end|>\n", "--show-prompt --system 'be <s>'");
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(*out[0].find("prompt")->as_string(), "<s>system: be <s><|end|><s>user: <|end|><|end|><s>assistant: ");
  const std::vector<Value> parsed = replies("<|end|>\n", "--parse-special --system 'be <s>'");
  EXPECT_LT(number(parsed.at(0), "prompt_tokens"), number(out[0], "prompt_tokens"));
}

TEST_F(ChatCli, SavesAndLoads) {
  const std::string saved = file("saved.json");
  const Ran first = piped("one\n/save " + saved + "\n/undo\n/undo\n", "--max-tokens 3");
  EXPECT_EQ(first.code, 1) << first.out;
  EXPECT_NE(first.out.find("no turn to take back"), std::string::npos) << first.out;
  const std::vector<Value> out = replies("/load " + saved + "\ntwo\n/load " + file("none") + "\n");
  ASSERT_EQ(out.size(), 2U);
  EXPECT_GT(number(out[0], "prompt_tokens"), number(replies("two\n").at(0), "prompt_tokens"));
  EXPECT_NE(out[1].find("error"), nullptr);
  const std::vector<Value> resumed = replies("two\n", "--load-chat " + saved);
  EXPECT_EQ(to_string(*resumed.at(0).find("ids")), to_string(*out[0].find("ids")));
}

TEST_F(ChatCli, SaveReplacesNoFileOfOthers) {
  const auto content = [&] { return shell("cat " + file("model")).out; };
  write_file(folder_.path() / "model", "weights");
  const Ran refused = piped("one\n/save " + file("model") + "\n/save " + file("model") + "\n", "--max-tokens 2");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.out.find("'/save! " + file("model") + "' replaces it"), std::string::npos) << refused.out;
  EXPECT_EQ(content(), "weights");
  const Ran empty = piped("/save! " + file("model") + "\n", "");
  EXPECT_EQ(empty.code, 1);
  EXPECT_NE(empty.out.find("nothing to save"), std::string::npos) << empty.out;
  EXPECT_EQ(content(), "weights");
  const std::string saves = "one\n/save! " + file("model") + "\ntwo\n/save " + file("model") + "\n";
  EXPECT_EQ(piped(saves, "--max-tokens 2").code, 0);
  EXPECT_NE(content().find("two"), std::string::npos) << content();
  const std::string resave = "three\n/save " + file("model") + "\n";
  EXPECT_EQ(piped(resave, "--max-tokens 2").code, 1);
  EXPECT_EQ(piped(resave, "--max-tokens 2 --load-chat " + file("model")).code, 0);
  EXPECT_EQ(piped("/load " + file("model") + "\n" + resave, "--max-tokens 2").code, 0);
  EXPECT_NE(content().find("three"), std::string::npos) << content();
}

TEST_F(ChatCli, RefusesWhatDoesNotFitAndGoesOn) {
  const std::string longer(200, 'x');
  const Ran ran = piped("one\n" + longer + " y z\n/undo\ntwo\n/undoo\n!\n", "--context 56 --max-tokens 24");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("the context holds 56"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("of 56 tokens of the context are used"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("did you mean /undo?"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("say something"), std::string::npos) << ran.out;
  EXPECT_EQ(piped("one\n", "--max-tokens 2").code, 0);
}

TEST_F(ChatCli, AFullDiskEndsIt) {
  write_file(folder_.path() / "input", "one\ntwo\n");
  const Ran ran = shell(chat("--json --max-tokens 2") + " 2>&1 >/dev/full <" + file("input"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "vitro: the output cannot be written: No space left on device\n");
}

TEST_F(ChatCli, AModelWithoutATemplateIsRefused) {
  const Ran ran = shell(VITRO_BINARY " chat " + model_.string() + " 2>&1 </dev/null");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("no chat template"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("--template FILE"), std::string::npos) << ran.out;
}

TEST_F(ChatCli, ComparesRawAndTemplate) {
  const Ran ran = shell(chat("--compare 'The glass' --max-tokens 3 --json") + " 2>/dev/null");
  const Value out = parse_json(ran.out, "compare").value();
  EXPECT_EQ(*out.find("raw")->find("prompt")->as_string(), "<s>The glass");
  EXPECT_EQ(*out.find("chat")->find("prompt")->as_string(), "<s>user: The glass<|end|><s>assistant: ");
  const Ran columns = shell(chat("--compare 'The glass' --max-tokens 3"));
  EXPECT_NE(columns.out.find("│ <s>user: The glass<|end|>"), std::string::npos) << columns.out;
}

TEST_F(ChatCli, ControlCStopsTheReplyNotTheProgram) {
  Pty person(chat("--context 200000"));
  expect_prompt(person);
  person.type("talk\r");
  ASSERT_FALSE(person.until("talk").empty());
  ::usleep(300000);
  person.type("\x03");
  EXPECT_FALSE(person.until("what was said stays").empty()) << person.rest().size();
  expect_prompt(person);
  person.type("/stats\r");
  EXPECT_FALSE(person.until("1 replies").empty()) << person.rest();
  expect_prompt(person);
  // At the prompt it drops the line; the second one leaves.
  person.type("half a line");
  EXPECT_FALSE(person.until("half a line").empty());
  person.type("\x03");
  EXPECT_FALSE(person.until("ctrl-C again").empty()) << person.rest();
  expect_prompt(person);
  person.type("\x03");
  EXPECT_EQ(person.wait(), 0);
  EXPECT_EQ(person.rest().find("tokens at"), std::string::npos) << person.rest();
}

// The first reply is longer than the pipe, so the signal comes when it is complete and its report still being written.
TEST_F(ChatCli, ControlCBetweenTwoPromptsOfAScriptStopsIt) {
#ifndef F_SETPIPE_SZ
  GTEST_SKIP() << "pipes have no size here";
#else
  std::string first;
  while (first.size() < 3 * kPipeBytes) first += "The glass. ";
  write_file(folder_.path() / "input", first + "\nsecond\n");
  const std::string command =
      "exec " + chat("--json --show-prompt --max-tokens 2 --context 20000") + " 2>/dev/null <" + file("input");
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_GE(::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes), kPipeBytes);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  const auto n_waiting = [&] {
    int n = 0;
    return ::ioctl(ends[0], FIONREAD, &n) == 0 ? n : kPipeBytes;
  };
  for (int i = 0; i < 3000 && n_waiting() < kPipeBytes; ++i) ::usleep(10000);
  EXPECT_EQ(::kill(pid, SIGINT), 0);
  std::string out;
  std::array<char, kPipeBytes> part{};
  for (ssize_t n = 0; (n = ::read(ends[0], part.data(), part.size())) > 0;) {
    out.append(part.data(), static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
#endif
}

TEST_F(ChatCli, HistoryComesBackInTheNextConversation) {
  {
    Pty person(chat("--max-tokens 2"));
    expect_prompt(person);
    person.type("\x1b[200~zwei\rZeilen 漢字\x1b[201~");
    EXPECT_FALSE(person.until("漢字").empty()) << person.rest();
    person.type("\r");
    EXPECT_FALSE(person.until("in the context").empty()) << person.rest();
    expect_prompt(person);
    person.type("\x04");
    EXPECT_EQ(person.wait(), 0);
  }
  Pty person(chat("--max-tokens 2"));
  expect_prompt(person);
  person.type("\x1b[A");
  EXPECT_FALSE(person.until("漢字").empty()) << person.rest();
  person.type("\r");
  EXPECT_FALSE(person.until("in the context").empty()) << person.rest();
  expect_prompt(person);
  person.type("/save " + file("recalled.json") + "\r");
  expect_prompt(person);
  person.type("/quit\r");
  EXPECT_EQ(person.wait(), 0);
  const auto saved = load_json(folder_.path() / "recalled.json");
  EXPECT_EQ(*saved.find("messages")->as_array()->at(0).find("content")->as_string(), "zwei\nZeilen 漢字");
}

}  // namespace
}  // namespace vitro::testing
