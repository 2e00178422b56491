#include "text/jinja/budget.h"

namespace vitro::jinja {

Status Budget::check() const {
  if (n_steps_ > max_steps_) {
    return fail(ErrorCode::kInvalidArgument, "the template takes more than {} steps; it may never end", max_steps_);
  }
  return check_room(0);
}

Status Budget::check_room(size_t n) const {
  if (has_room(n)) return {};
  return fail(ErrorCode::kInvalidArgument, "the template makes more than {} bytes of values and text", max_bytes_);
}

}  // namespace vitro::jinja
