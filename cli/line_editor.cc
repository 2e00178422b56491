#include "cli/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "cli/json_lines.h"
#include "cli/line_history.h"
#include "cli/terminal.h"

namespace vitro {
namespace {

// Lines of a pipe or a file, or of a terminal that cannot be edited on.
class PlainReader : public LineReader {
 public:
  explicit PlainReader(bool is_person) : is_person_(is_person) {}
  TypedLine read(std::string_view prompt) override {
    release_interrupt();                             // ctrl-C ends the program here, as everywhere
    if (!is_person_ && is_interrupted()) return {};  // it came just before
    if (is_person_) talk("{}", prompt);
    std::string text;
    const bool is_any = !is_broken_ && next_line(stdin, text);
    if (std::ferror(stdin)) {
      if (std::exchange(is_broken_, true)) return {};
      return {TypedLine::Kind::kFailed, "the standard input cannot be read to its end"};
    }
    if (!is_any) return {};
    if (text.size() > kMaxLineBytes) return {TypedLine::Kind::kFailed, "a line is longer than 64 MiB"};
    if (text.ends_with('\r')) text.pop_back();
    return {TypedLine::Kind::kLine, std::move(text)};
  }
  void remember(std::string_view) override {}
  bool is_interactive() const override { return is_person_; }

 private:
  bool is_person_;
  bool is_broken_ = false;  ///< a read failed, which was said
};

// libedit keeps the line as wide characters, which it reads and shows as the locale says.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

class EditingReader : public LineReader {
 public:
  explicit EditingReader(std::filesystem::path history);
  ~EditingReader() override;
  EditingReader(const EditingReader&) = delete;
  EditingReader& operator=(const EditingReader&) = delete;
  TypedLine read(std::string_view prompt) override;
  void remember(std::string_view text) override;
  bool is_interactive() const override { return true; }

 private:
  static EditingReader& of(EditLine* edit);
  static char* prompt_of(EditLine* edit) { return of(edit).prompt_.data(); }
  static unsigned char interrupt(EditLine* edit, int key);
  static unsigned char suspend(EditLine* edit, int key);
  static unsigned char insert_pasted(EditLine* edit, int key);
  void bind_keys();
  void add(const std::string& text);

  EditLine* edit_;
  History* history_;
  std::filesystem::path path_;
  std::string prompt_;
  bool is_interrupted_ = false;
};

EditingReader::EditingReader(std::filesystem::path history)
    : edit_(::el_init("vitro", stdin, stderr, stderr)), history_(::history_init()), path_(std::move(history)) {
  HistEvent event;
  ::history(history_, &event, H_SETSIZE, static_cast<int>(kMaxHistory));
  ::history(history_, &event, H_SETUNIQUE, 1);
  for (const std::string& text : load_history(path_)) add(text);
  ::el_set(edit_, EL_CLIENTDATA, this);
  ::el_set(edit_, EL_PROMPT, &EditingReader::prompt_of);
  ::el_set(edit_, EL_HIST, &::history, history_);
  ::el_set(edit_, EL_EDITOR, "emacs");
  ::el_set(edit_, EL_SIGNAL, 1);  // the window's size, and the terminal's state when the program is stopped
  bind_keys();
  ::el_source(edit_, nullptr);  // the user's own ~/.editrc
}

EditingReader::~EditingReader() {
  ::el_end(edit_);
  ::history_end(history_);
}

void EditingReader::bind_keys() {
  // The wide call keeps these pointers; the narrow one makes copies that libedit never frees.
  ::el_wset(edit_, EL_ADDFN, L"vitro-interrupt", L"drops the line", &EditingReader::interrupt);
  ::el_wset(edit_, EL_ADDFN, L"vitro-paste", L"inserts pasted text", &EditingReader::insert_pasted);
  ::el_wset(edit_, EL_ADDFN, L"vitro-suspend", L"stops the program", &EditingReader::suspend);
  ::el_set(edit_, EL_SETTY, "-d", "-isig", nullptr);  // while a line is edited, ctrl-C is a key, not a signal
  const char* const keys[][2] = {
      {"^C", "vitro-interrupt"},    {"\\e[200~", "vitro-paste"},  {"\\e[3~", "ed-delete-next-char"},
      {"\\e[H", "ed-move-to-beg"},  {"\\e[F", "ed-move-to-end"},  {"\\e[1;5C", "em-next-word"},
      {"\\e[1;5D", "ed-prev-word"}, {"^R", "em-inc-search-prev"}, {"^Z", "vitro-suspend"}};
  for (const auto& [key, command] : keys) ::el_set(edit_, EL_BIND, key, command, nullptr);
}

EditingReader& EditingReader::of(EditLine* edit) {
  void* self = nullptr;
  ::el_get(edit, EL_CLIENTDATA, &self);
  return *static_cast<EditingReader*>(self);
}

unsigned char EditingReader::interrupt(EditLine* edit, int) {
  of(edit).is_interrupted_ = true;
  return CC_EOF;
}

// libedit's handler gives the terminal back before the program stops, and takes it again.
unsigned char EditingReader::suspend(EditLine*, int) {
  ::raise(SIGTSTP);
  return CC_REDISPLAY;
}

// A terminal in bracketed paste mode sends ESC [ 200 ~ text ESC [ 201 ~, with carriage returns for line breaks.
unsigned char EditingReader::insert_pasted(EditLine* edit, int) {
  constexpr std::wstring_view kEnd = L"\x1b[201~";
  std::wstring text;
  wchar_t c = 0;
  while (!text.ends_with(kEnd) && text.size() < kMaxLineBytes && ::el_wgetc(edit, &c) == 1) {
    text += c == L'\r' ? L'\n' : c;
  }
  if (!text.ends_with(kEnd)) return CC_EOF;
  text.resize(text.size() - kEnd.size());
  while (text.ends_with(L'\n')) text.pop_back();
  return ::el_winsertstr(edit, text.c_str()) == 0 || text.empty() ? CC_REFRESH : CC_ERROR;
}

TypedLine EditingReader::read(std::string_view prompt) {
  constexpr std::string_view kPasteOn = "\x1b[?2004h", kPasteOff = "\x1b[?2004l";
  prompt_ = prompt;
  is_interrupted_ = false;
  std::fwrite(kPasteOn.data(), 1, kPasteOn.size(), stderr);
  std::fflush(stderr);
  int n_bytes = 0;
  const char* text = ::el_gets(edit_, &n_bytes);
  TypedLine line;
  if (text && n_bytes > 0 && !is_interrupted_) {
    line = {TypedLine::Kind::kLine, std::string(text, static_cast<size_t>(n_bytes))};
    if (line.text.ends_with('\n')) line.text.pop_back();
  } else {
    line.kind = is_interrupted_ ? TypedLine::Kind::kInterrupted : TypedLine::Kind::kEnd;
    std::fputs(is_interrupted_ ? "^C\n" : "\n", stderr);
  }
  std::fwrite(kPasteOff.data(), 1, kPasteOff.size(), stderr);
  std::fflush(stderr);
  return line;
}

void EditingReader::add(const std::string& text) {
  HistEvent event;
  ::history(history_, &event, H_ENTER, text.c_str());
}

void EditingReader::remember(std::string_view text) {
  add(std::string(text));
  if (!path_.empty()) append_history(path_, text);
}

}  // namespace

std::unique_ptr<LineReader> open_line_reader(const std::filesystem::path& history) {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = !terminal || !*terminal || std::strcmp(terminal, "dumb") == 0;
  const bool is_person = is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO);
  if (is_dumb || !is_person) return std::make_unique<PlainReader>(is_person);
  use_utf8();
  return std::make_unique<EditingReader>(history);
}

std::filesystem::path state_path(std::string_view name) {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && *state) return std::filesystem::path(state) / "vitro" / name;
  const char* home = std::getenv("HOME");
  if (!home || !*home) return {};
  return std::filesystem::path(home) / ".local" / "state" / "vitro" / name;
}

}  // namespace vitro
