// The commands of vitro, one file each. Every command gets its arguments without the program's and its own name and
// returns the exit code: 0 done, 1 failed, 2 wrong usage.
#pragma once

#include <span>
#include <string>

namespace vitro {

int demo_command(std::span<const std::string> args);
int run_command(std::span<const std::string> args);
int tokenize_command(std::span<const std::string> args);
int template_command(std::span<const std::string> args);
int tokenizer_command(std::span<const std::string> args);
int show_command(std::span<const std::string> args);
int eval_command(std::span<const std::string> args);
int verify_command(std::span<const std::string> args);
int chat_command(std::span<const std::string> args);
int bench_command(std::span<const std::string> args);
int plan_command(std::span<const std::string> args);
int pull_command(std::span<const std::string> args);
int models_command(std::span<const std::string> args);

}  // namespace vitro
