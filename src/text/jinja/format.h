// Python's two ways to fill a text: "%s" % values and "{}".format(values).
#pragma once

#include <utility>
#include <vector>

#include "text/jinja/runtime.h"

namespace vitro::jinja {

using Kwargs = std::vector<std::pair<std::string, Val>>;

Result<Val> format_percent(Runtime& rt, const StringObject& format, const Val& values);
Result<Val> format_braces(Runtime& rt, const StringObject& format, const std::vector<Val>& args, const Val& named);
/// format(value, spec), appended.
Status format_value(Runtime& rt, TextBuilder& out, const Val& value, std::string_view spec);

/// x with `precision` places, as %e, %f or %g write it.
std::string format_real(double x, char type, int precision, bool is_alternate);

}  // namespace vitro::jinja
