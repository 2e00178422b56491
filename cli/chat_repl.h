// The conversation as a person sees it: prompts, streamed replies, commands that begin with a slash.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "cli/line_editor.h"
#include "generate/chat_session.h"
#include "generate/conversation.h"

namespace vitro {

struct ChatView {
  bool is_json = false;                    ///< one JSON object a reply
  bool shows_prompt = false;               ///< what the model is given, before each reply
  std::optional<std::string> loaded = {};  ///< the file that the conversation came from
};

class ChatRepl {
 public:
  ChatRepl(ChatSession& chat, LineReader& lines, ChatView view) : chat_(chat), lines_(lines), view_(std::move(view)) {
    if (view_.loaded) own_files_.insert(*view_.loaded);
  }
  /// Until /quit, ctrl-D, or the input's end. 1 if a turn or a command failed and nobody was there to see it.
  int run();

 private:
  struct Command;
  static std::span<const Command> commands();

  bool take(const TypedLine& line);
  bool take(const ChatInput& input);
  void finish_input();
  bool is_stopped() const;  ///< by ctrl-C, at any time: who stops a script stops all of it
  void run_command(const ChatInput& input);
  void say(const std::string& text);
  template <class Turn>
  void turn(Turn&& turn);
  void show_prompt(const ChatPrompt& prompt);
  void report(const ChatReply& reply);
  void fail_with(const Error& error);

  void help(const std::string&);
  void reset(const std::string&);
  void system(const std::string& text);
  void save(const std::string& file);
  void replace(const std::string& file);
  void load(const std::string& file);
  void stats(const std::string&);
  void undo(const std::string&);
  void retry(const std::string&);
  void prompt(const std::string&);
  void quit(const std::string&);

  ChatSession& chat_;
  LineReader& lines_;
  ChatView view_;
  ChatInputReader input_;
  std::set<std::string> own_files_;  ///< written or loaded here, as they were named: /save may replace them
  std::string prompt_;               ///< the last one that was shown
  bool is_over_ = false;
  bool was_interrupted_ = false;  ///< the last line was ctrl-C: one more leaves
  bool has_failed_ = false;
};

}  // namespace vitro
