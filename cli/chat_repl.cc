#include "cli/chat_repl.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/nearest.h"
#include "cli/chat_print.h"
#include "cli/terminal.h"
#include "formats/json.h"

namespace vitro {
struct ChatRepl::Command {
  std::string_view name;
  std::string_view argument;  ///< what must or may follow
  void (ChatRepl::*run)(const std::string&);
  std::string_view help;
};

std::span<const ChatRepl::Command> ChatRepl::commands() {
  static constexpr std::array kCommands = {
      Command{"help", "", &ChatRepl::help, "this list"},
      Command{"reset", "", &ChatRepl::reset, "begin anew; the system message stays"},
      Command{"system", "TEXT", &ChatRepl::system, "set the system message; without TEXT there is none"},
      Command{"save", "FILE", &ChatRepl::save, "write the conversation as JSON, to a new file or its own"},
      Command{"save!", "FILE", &ChatRepl::replace, "the same, in place of whatever FILE is"},
      Command{"load", "FILE", &ChatRepl::load, "go on with a saved conversation"},
      Command{"stats", "", &ChatRepl::stats, "tokens kept, computed, generated; speed; room"},
      Command{"undo", "", &ChatRepl::undo, "take the last turn back"},
      Command{"retry", "", &ChatRepl::retry, "answer the last message again, with the next seed"},
      Command{"prompt", "", &ChatRepl::prompt, "what the model is given"},
      Command{"quit", "", &ChatRepl::quit, "leave (also ctrl-D)"},
  };
  return kCommands;
}

int ChatRepl::run() {
  while (!is_over_ && flush_output()) {
    const std::string_view prompt = input_.is_open() ? ". " : "> ";
    is_over_ = !take(lines_.read(prompt));
  }
  if (is_stopped()) return 1;
  finish_input();
  return (has_failed_ || is_stopped()) && !lines_.is_interactive() ? 1 : 0;
}

bool ChatRepl::is_stopped() const { return is_interrupted() && !lines_.is_interactive(); }

void ChatRepl::finish_input() {
  const Result<std::optional<ChatInput>> rest = input_.finish();
  if (!rest) return fail_with(rest.error());
  if (*rest) take(**rest);
}

// False: leave.
bool ChatRepl::take(const TypedLine& line) {
  if (line.kind == TypedLine::Kind::kEnd) return false;
  if (line.kind == TypedLine::Kind::kInterrupted) {
    input_.clear();
    if (was_interrupted_) return false;
    was_interrupted_ = true;
    talk("{}\n", dimmed("ctrl-C again, or ctrl-D, leaves"));
    return true;
  }
  was_interrupted_ = false;
  if (line.kind == TypedLine::Kind::kFailed) {
    fail_with({ErrorCode::kIoError, line.text});
    return true;
  }
  const auto input = input_.push(line.text);
  return !input || take(*input);
}

bool ChatRepl::take(const ChatInput& input) {
  if (input.is_command) {
    lines_.remember("/" + input.command + (input.argument.empty() ? "" : " " + input.argument));
    run_command(input);
    return !is_over_;
  }
  lines_.remember(input.message);
  say(input.message);
  return !is_over_;
}

void ChatRepl::run_command(const ChatInput& input) {
  const auto all = commands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Command& c) { return c.name == input.command; });
  if (found == all.end()) {
    return fail_with({ErrorCode::kInvalidArgument,
                      fmt::format("there is no command /{}; did you mean /{}? /help lists them; // begins a message "
                                  "with a slash",
                                  input.command, nearest_entry(all, input.command).name)});
  }
  if (found->argument.empty() && !input.argument.empty()) {
    return fail_with({ErrorCode::kInvalidArgument, fmt::format("/{} takes no argument", found->name)});
  }
  if (found->argument == "FILE" && input.argument.empty()) {
    return fail_with({ErrorCode::kInvalidArgument, fmt::format("/{} needs the name of a file", found->name)});
  }
  (this->*found->run)(input.argument);
}

void ChatRepl::fail_with(const Error& error) {
  has_failed_ = true;
  if (view_.is_json) {
    put("{{\"error\":{}}}\n", json_quote(error.message));
  } else {
    talk("vitro chat: {}\n", error.message);
  }
}

void ChatRepl::say(const std::string& text) {
  turn([&](const TokenCallback& on_token, const PromptProgress& on_progress) {
    return chat_.say(text, on_token, on_progress);
  });
}

template <class Turn>
void ChatRepl::turn(Turn&& turn) {
  catch_interrupt();
  if (lines_.is_interactive()) forget_interrupt();
  if (view_.shows_prompt) {
    chat_.options().on_prompt = [this](const ChatPrompt& prompt) { show_prompt(prompt); };
  }
  ReplyStream stream(view_.is_json);
  const Result<ChatReply> reply =
      turn([&](const GeneratedToken& token) { return stream.show(token); },
           [&](int64_t n_done, int64_t n_total) { return stream.show_progress(n_done, n_total); });
  stream.end(reply.has_value());
  is_over_ = is_stopped();
  if (!reply) return fail_with(reply.error());
  report(*reply);
}

void ChatRepl::report(const ChatReply& reply) {
  if (view_.is_json) {
    Value object = reply_json(reply, chat_);
    if (view_.shows_prompt) object.as_object()->emplace_back("prompt", Value(prompt_));
    put_json(object);
    return;
  }
  if (const std::string_view note = stop_note(reply.generated.reason); !note.empty()) talk("{}\n", note);
  talk("{}\n", dimmed(reply_statistics(reply, chat_)));
  if (5 * chat_.n_tokens() > 4 * chat_.n_ctx() && reply.generated.reason != StopReason::kContext) {
    talk("note: {} of {} tokens of the context are used; what does not fit will be refused\n", chat_.n_tokens(),
         chat_.n_ctx());
  }
}

void ChatRepl::help(const std::string&) {
  for (const Command& command : commands()) {
    talk("  /{:<14} {}\n", fmt::format("{} {}", command.name, command.argument), command.help);
  }
  talk(
      "  A line that ends in \\ goes on; \"\"\" ... \"\"\" holds several lines; // begins a message with a slash.\n"
      "  Ctrl-C stops a reply, or drops the line; twice, or ctrl-D, leaves.\n");
}

void ChatRepl::reset(const std::string&) {
  chat_.reset();
  talk("{}\n",
       dimmed(chat_.messages().empty() ? "a new conversation" : "a new conversation; the system message stays"));
}

void ChatRepl::system(const std::string& text) {
  chat_.set_system(text.empty() ? std::nullopt : std::optional(text));
  talk("{}\n", dimmed(text.empty() ? "no system message" : "the system message is set"));
}

// A file that somebody else wrote may be a model.
void ChatRepl::save(const std::string& file) {
  std::error_code unknown;  // what cannot be looked at, the writer reports
  const bool exists = std::filesystem::exists(std::filesystem::symlink_status(file, unknown));
  if (exists && !own_files_.contains(file)) {
    return fail_with({ErrorCode::kInvalidArgument,
                      fmt::format("{}: there is such a file, which this conversation neither wrote nor loaded; nothing "
                                  "was written; '/save! {}' replaces it",
                                  file, file)});
  }
  replace(file);
}

void ChatRepl::replace(const std::string& file) {
  if (chat_.messages().empty()) {
    return fail_with({ErrorCode::kInvalidArgument, "the conversation is empty; there is nothing to save"});
  }
  const Status saved = save_conversation(file, chat_.messages());
  if (!saved) return fail_with(saved.error());
  own_files_.insert(file);
  talk("{}\n", dimmed(fmt::format("{} messages saved to {}", chat_.messages().size(), file)));
}

void ChatRepl::load(const std::string& file) {
  Result<Value> messages = load_conversation(file);
  if (!messages) return fail_with(messages.error());
  const Status taken = chat_.set_messages(*std::move(messages));
  if (!taken) return fail_with(taken.error().in(file));
  own_files_.insert(file);
  talk("{}\n", dimmed(fmt::format("{} messages from {}", chat_.messages().size(), file)));
}

void ChatRepl::stats(const std::string&) { talk("{}", chat_statistics(chat_)); }

void ChatRepl::undo(const std::string&) {
  if (!chat_.undo()) return fail_with({ErrorCode::kInvalidArgument, "there is no turn to take back"});
  talk("{}\n", dimmed(fmt::format("the last turn is gone; {} messages are left", chat_.messages().size())));
}

void ChatRepl::retry(const std::string&) {
  SamplerConfig& sampler = chat_.options().generate.sampler;
  ++sampler.seed;
  if (sampler.temperature == 0)
    talk("{}\n", dimmed("at temperature 0 the answer is always the same; see --temperature"));
  turn([&](const TokenCallback& on_token, const PromptProgress& on_progress) {
    return chat_.retry(on_token, on_progress);
  });
}

void ChatRepl::prompt(const std::string&) {
  const Result<ChatPrompt> prompt = chat_.prompt();
  if (!prompt) return fail_with(prompt.error());
  show_prompt(*prompt);
  if (view_.is_json) put_json(Value(Value::Object{{"prompt", Value(prompt_)}}));
}

// What the model is given is no result of the conversation: stdout has the replies alone.
void ChatRepl::show_prompt(const ChatPrompt& prompt) {
  prompt_ = prompt.text;
  if (view_.is_json) return;
  talk("{}\n", dimmed(fmt::format("--- the model is given {} tokens:", prompt.encoding.ids.size())));
  talk("{}\n", shown_prompt(prompt, chat_.tokenizer(), is_terminal(STDERR_FILENO)));
  talk("{}\n", dimmed("---"));
}

void ChatRepl::quit(const std::string&) { is_over_ = true; }

}  // namespace vitro
