// A program on a terminal of its own, for tests of what a person meets: keys in, screen out.
#pragma once

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

namespace vitro::testing {

class Pty {
 public:
  /// Runs `command` with sh, on a terminal of 24 lines of 100 columns.
  explicit Pty(const std::string& command) {
    const winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      ::execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~Pty() {
    ::close(terminal_);
    if (!is_waited_) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
  }
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  void type(std::string_view keys) const {
    while (!keys.empty()) {
      const ssize_t n = ::write(terminal_, keys.data(), keys.size());
      if (n <= 0) return;
      keys.remove_prefix(static_cast<size_t>(n));
    }
  }
  /// Reads until `text` has come since the last call that found something; what came, up to its end. Empty after a
  /// minute without it, or at the program's end: rest() has what came then.
  std::string until(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (true) {
      if (const size_t at = seen_.find(text); at != std::string::npos) {
        std::string out = seen_.substr(0, at + text.size());
        seen_.erase(0, out.size());
        return out;
      }
      if (std::chrono::steady_clock::now() > deadline || !read_some()) return {};
    }
  }
  /// What came and was not yet asked for.
  const std::string& rest() const { return seen_; }
  /// Reads to the end; the exit code, or 128 + the signal. A program that is silent for a minute is killed.
  int wait() {
    while (read_some()) {
    }
    int status = 0;
    ::usleep(100000);  // the terminal closes a little before the program is gone
    if (::waitpid(pid_, &status, WNOHANG) == 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
    is_waited_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  // False at the end, or after a minute of silence.
  bool read_some() {
    pollfd waiting{.fd = terminal_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 60000) <= 0) return false;
    char block[4096];
    const ssize_t n = ::read(terminal_, block, sizeof block);
    if (n <= 0) return false;
    seen_.append(block, static_cast<size_t>(n));
    return true;
  }

  int terminal_ = -1;
  pid_t pid_ = -1;
  bool is_waited_ = false;
  std::string seen_;
};

}  // namespace vitro::testing
