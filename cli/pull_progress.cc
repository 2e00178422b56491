#include "cli/pull_progress.h"

#include <string>

#include "cli/terminal.h"

namespace vitro {

Result<Pulled> pull_with_progress(const ModelName& name, const Caches& caches) {
  Progress progress(to_string(name), Progress::Unit::kBytes);
  PullEvents events;
  events.say = [&](const std::string& line) {
    progress.erase();
    talk("{}\n", for_terminal(line, true));
  };
  events.progress = [&](uint64_t n_done, uint64_t n_total) {
    progress.update(static_cast<int64_t>(n_done), static_cast<int64_t>(n_total));
  };
  events.is_cancelled = [] { return is_interrupted(); };
  catch_interrupt();
  auto pulled = pull(name, caches, events);
  release_interrupt();
  return pulled;
}

}  // namespace vitro
