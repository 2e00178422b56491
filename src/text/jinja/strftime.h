// strftime in the C locale, from a given local time.
#pragma once

#include <string>

#include "text/jinja/runtime.h"

namespace vitro::jinja {

struct ClockTime {
  int year, month, day, hour, minute, second;
  int week_day;  ///< 0 is Sunday
  int year_day;  ///< from 1
};

/// "2026-11-30T08:00:00" (the time may be missing); empty: the clock and time zone of this machine. InvalidArgument for
/// what is no date.
Result<ClockTime> clock_time(const std::string& iso);

Status append_strftime(TextBuilder& out, const MarkedText& format, const ClockTime& time);

}  // namespace vitro::jinja
