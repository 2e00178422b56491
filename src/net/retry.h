// When to ask a server again, and how long to wait before: for cut connections and for answers that say "not now".
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace vitro {

/// 408, 429, 500, 502, 503, 504, and connections that were cut: the same request may succeed later.
bool is_passing(const HttpResponse& response);

/// The patience for one thing that is wanted. One thread.
class Retry {
 public:
  /// `say` gets a sentence before each wait of two seconds or more; may be empty.
  explicit Retry(const HttpOptions& options, std::function<void(const std::string&)> say = {})
      : options_(options), say_(std::move(say)) {}

  /// Waits: what Retry-After says, else first_wait_s doubled for each try without success, at most 30 s, and up to a
  /// quarter more so that many clients do not come back at once. False, at once, when n_tries are used up or the server
  /// asks for more than two minutes. Cancelled.
  Result<bool> wait_after(const HttpResponse& response);
  /// Something was got: patience starts anew.
  void reset() { n_failed_ = 0; }

 private:
  Status sleep(double seconds) const;

  const HttpOptions& options_;
  std::function<void(const std::string&)> say_;
  int n_failed_ = 0;
};

}  // namespace vitro
