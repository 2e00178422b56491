// vitro: one program, many commands.
#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace vitro {
namespace {

struct Command {
  std::string_view name;
  int (*run)(std::span<const std::string>);
  std::string_view help;
};

constexpr std::array kCommands = {
    Command{"demo", demo_command, "text to next token, step by step, on a real model"},
    Command{"run", run_command, "continue a prompt"},
    Command{"chat", chat_command, "talk with a model"},
    Command{"tokenize", tokenize_command, "text to token ids and back"},
    Command{"template", template_command, "chat messages to the text a model gets"},
    Command{"tokenizer", tokenizer_command, "train a tokenizer on text files"},
    Command{"show", show_command, "what a model is made of"},
    Command{"plan", plan_command, "what running a model needs: memory by owner, FLOPs, times, what fits"},
    Command{"eval", eval_command, "loss and perplexity on a text"},
    Command{"pull", pull_command, "fetch a model by its name"},
    Command{"models", models_command, "list and remove the models that are here"},
    Command{"verify", verify_command, "compare with stored results of a reference"},
    Command{"bench", bench_command, "measure this machine"},
};

std::string help() {
  std::string out =
      fmt::format("vitro {}: transformers in glass\n\nusage: vitro COMMAND [ARGUMENTS]\n\n", VITRO_VERSION);
  for (const Command& command : kCommands) out += fmt::format("  {:<10}{}\n", command.name, command.help);
  return out +
         "\n'vitro COMMAND --help' shows its options and an example. MODEL is a Hugging Face folder, a .gguf file, a "
         "name\n"
         "as for 'vitro pull', or embedded: a small model in this program, for which 'vitro run' needs no file at "
         "all.\n";
}

int unknown_command(std::string_view name) {
  talk("vitro: unknown command '{}'; did you mean '{}'? 'vitro --help' lists them all\n", name,
       nearest_entry(kCommands, name).name);
  return 2;
}

int main_command(std::span<const std::string> args) {
  if (args.empty()) {
    talk("{}", help());
    return 2;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    put_text(help());
    return 0;
  }
  if (args[0] == "--version") {
    put("vitro {}\n", VITRO_VERSION);
    return 0;
  }
  for (const Command& command : kCommands) {
    if (command.name == args[0]) return command.run(args.subspan(1));
  }
  return unknown_command(args[0]);
}

}  // namespace
}  // namespace vitro

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write, not the end of the process
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that has reached the limit of `ulimit -f`
  try {
    const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
    return vitro::finish_output(vitro::main_command(args));
  } catch (const std::bad_alloc&) {
    vitro::talk("vitro: out of memory\n");
  } catch (const std::exception& error) {
    vitro::talk("vitro: {}\n", error.what());
  }
  return 1;
}
