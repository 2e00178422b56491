#include "cli/pull_progress.h"

#include <optional>
#include <string>

#include "cli/terminal.h"

namespace vitro {
namespace {

/// One progress line for one kind of work after the other: each begins anew, so that its speed is its own.
class WorkLine {
 public:
  explicit WorkLine(std::string name) : name_(std::move(name)) {}
  void update(std::string_view kind, uint64_t n_done, uint64_t n_total) {
    if (!line_ || kind != kind_ || n_done < n_done_) line_.emplace(name_ + std::string(kind), Progress::Unit::kBytes);
    kind_ = kind;
    n_done_ = n_done;
    line_->update(static_cast<int64_t>(n_done), static_cast<int64_t>(n_total));
  }
  void erase() {
    if (line_) line_->erase();
  }

 private:
  const std::string name_;
  std::optional<Progress> line_;
  std::string kind_;
  uint64_t n_done_ = 0;
};

}  // namespace

Result<Pulled> pull_with_progress(const ModelName& name, const Caches& caches) {
  WorkLine work(to_string(name));
  PullEvents events;
  events.say = [&](const std::string& line) {
    work.erase();
    talk("{}\n", for_terminal(line, true));
  };
  events.progress = [&](uint64_t n_done, uint64_t n_total) { work.update("", n_done, n_total); };
  events.checking = [&](uint64_t n_done, uint64_t n_total) { work.update(" (checking)", n_done, n_total); };
  events.is_cancelled = [] { return is_interrupted(); };
  catch_interrupt();
  auto pulled = pull(name, caches, events);
  release_interrupt();
  return pulled;
}

}  // namespace vitro
