// Budget: what one rendering may spend. Charging never fails by itself, so that destructors and builders stay simple;
// the interpreter looks at the balance at every step, and whatever could ask for much at once looks before.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace vitro::jinja {

class Budget {
 public:
  Budget(size_t max_steps, size_t max_bytes) : max_steps_(max_steps), max_bytes_(max_bytes) {}

  void add(size_t n) { n_bytes_ += n; }
  void remove(size_t n) { n_bytes_ -= n; }
  void step(size_t n = 1) { n_steps_ += n; }
  /// Bytes of text that are looked at one by one, or copied and compared as blocks: a step for so many, which bounds
  /// the time of what is asked of long texts.
  void read(size_t n_bytes) { step(n_bytes / kReadBytesAStep); }
  void copy(size_t n_bytes) { step(n_bytes / kCopyBytesAStep); }
  bool is_spent() const { return n_steps_ > max_steps_ || n_bytes_ > max_bytes_; }
  bool has_room(size_t n) const { return n <= max_bytes_ && n_bytes_ <= max_bytes_ - n; }

  /// An error that names the limit, if one is passed.
  Status check() const;
  /// The same, asked before n bytes are allocated at once.
  Status check_room(size_t n) const;

 private:
  static constexpr size_t kReadBytesAStep = 8;
  static constexpr size_t kCopyBytesAStep = 64;

  const size_t max_steps_;
  const size_t max_bytes_;
  size_t n_steps_ = 0;
  size_t n_bytes_ = 0;
};

}  // namespace vitro::jinja
