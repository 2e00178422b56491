// What `vitro chat` opens: a model, its template, and a session with room for a conversation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/engine.h"
#include "cli/options.h"
#include "generate/chat_session.h"
#include "text/chat_template.h"

namespace vitro {

struct ChatCommandOptions {
  EngineOptions engine;
  SamplerOptions sampler;
  std::optional<std::string> template_file;
  std::string template_name;  ///< which of the model's templates; empty: its default
  std::optional<std::string> system;
  std::optional<std::string> load;
  std::vector<std::string> variables;  ///< KEY=JSON
  std::vector<std::string> stop;
  bool parses_special = false;
  bool shows_prompt = false;
  bool is_json = false;
  int64_t max_tokens = 0;  ///< 0: until the context is full
  int64_t n_ctx = 0;       ///< 0: the model's, at most kDefaultChatContext
  std::string cache_type = "f16";
  bool keeps_only_windows = false;
  std::optional<int64_t> memory_limit;
  std::optional<std::string> compare;
};

inline constexpr int64_t kDefaultChatContext = 4096;

/// Everything a conversation runs on. Not movable: the parts refer to each other.
struct ChatModel {
  Engine engine;
  std::optional<ChatTemplate> chat_template;
  std::optional<Session> session;
  std::optional<SessionSequence> sequence;
  ChatOptions chat;  ///< sampler, limits, end tokens, variables

  RenderChat render() const {
    return [this](const ChatRequest& request) { return chat_template->render(request); };
  }
};

/// NotFound for a model without a template, with words about what to do.
Result<std::unique_ptr<ChatModel>> open_chat_model(const ChatCommandOptions& options);

}  // namespace vitro
