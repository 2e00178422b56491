// One prompt in two ways: as it stands, which a model continues, and through the chat template, which it answers.
#pragma once

#include "base/result.h"
#include "cli/chat_model.h"

namespace vitro {

/// Prints both prompts and both continuations side by side, or as JSON. The exit code.
Result<int> compare_prompts(ChatModel& model, const ChatCommandOptions& options);

}  // namespace vitro
