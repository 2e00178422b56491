#include "generate/conversation.h"

#include <algorithm>
#include <limits>

#include "base/letters.h"
#include "base/write_file.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "text/utf8.h"

namespace vitro {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;
constexpr std::string_view kQuote = "\"\"\"";

// An odd number of backslashes at the end: the last one means that the line goes on.
bool goes_on(std::string_view line) {
  const size_t last_other = line.find_last_not_of('\\');
  const size_t n = line.size() - (last_other == std::string_view::npos ? 0 : last_other + 1);
  return n % 2 == 1;
}

std::optional<ChatInput> message(std::string text) {
  if (trimmed(text).empty()) return std::nullopt;
  return ChatInput{.message = replace_invalid_utf8(text), .command = {}, .argument = {}};
}

ChatInput command(std::string_view line) {
  const size_t end = std::min(line.find_first_of(kBlanks), line.size());
  return {.is_command = true,
          .message = {},
          .command = std::string(line.substr(1, end - 1)),
          .argument = replace_invalid_utf8(trimmed(line.substr(end)))};
}

}  // namespace

Status save_conversation(const std::filesystem::path& path, const Value::Array& messages) {
  const Value document(Value::Object{{"messages", Value(messages)}});
  return write_file(path, to_string(document, std::numeric_limits<size_t>::max()) + "\n", true);
}

Result<Value> load_conversation(const std::filesystem::path& path) {
  VITRO_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  if (file.bytes().size() > kMaxFileBytes) {
    return fail(ErrorCode::kCorrupt, "{}: {} bytes, a conversation has at most {}", path.string(), file.bytes().size(),
                kMaxFileBytes);
  }
  VITRO_TRY_ASSIGN(const Value document, parse_json(file.text(), path.string()));
  if (document.as_array()) return document;
  const Value* messages = document.find("messages");
  if (messages) return *messages;
  return fail(ErrorCode::kCorrupt,
              "{}: no \"messages\" in {}; a conversation is {{\"messages\": [...]}} or a list of messages",
              path.string(), to_string(document));
}

std::optional<ChatInput> ChatInputReader::push(std::string_view line) {
  if (is_quoted_) return push_quoted(line);
  if (!is_continued_) {
    if (line.starts_with(kQuote)) {
      is_quoted_ = true;
      return push_quoted(line.substr(kQuote.size()));
    }
    const bool has_slash = line.starts_with('/') && line.find('\n') == std::string_view::npos;
    if (has_slash && !line.starts_with("//")) return command(trimmed(line));
    if (has_slash) line.remove_prefix(1);
  }
  is_continued_ = goes_on(line);
  if (is_continued_) {
    text_.append(line.substr(0, line.size() - 1)) += '\n';
    return std::nullopt;
  }
  std::string whole = std::move(text_).append(line);
  text_.clear();
  return message(std::move(whole));
}

// The line break after the first """ and the one before the last are no text.
std::optional<ChatInput> ChatInputReader::push_quoted(std::string_view line) {
  const size_t end = line.find(kQuote);
  if (end == std::string_view::npos) {
    if (!text_.empty() || !line.empty()) text_.append(line) += '\n';
    return std::nullopt;
  }
  std::string whole = std::move(text_).append(line.substr(0, end));
  if (end == 0 && whole.ends_with('\n')) whole.pop_back();
  clear();
  return message(std::move(whole));
}

Result<std::optional<ChatInput>> ChatInputReader::finish() {
  if (is_quoted_) {
    clear();
    return fail(ErrorCode::kInvalidArgument, "the input ends inside of {} without its end; the message was not sent",
                kQuote);
  }
  std::string whole = std::move(text_);
  clear();
  if (whole.ends_with('\n')) whole.pop_back();
  return message(std::move(whole));
}

}  // namespace vitro
