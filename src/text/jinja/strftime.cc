#include "text/jinja/strftime.h"

#include <ctime>

namespace vitro::jinja {
namespace {

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int year, int month) {
  constexpr int kDaysIn[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDaysIn[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

int year_day(int year, int month, int day) {
  int out = day;
  for (int m = 1; m < month; ++m) out += days_in(year, m);
  return out;
}

/// Gregorian, for years from 1 (Sakamoto).
int week_day(int year, int month, int day) {
  constexpr int kOffset[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  if (month < 3) --year;
  return (year + year / 4 - year / 100 + year / 400 + kOffset[month - 1] + day) % 7;
}

/// Week and year of ISO 8601.
std::pair<int, int> iso_week(const ClockTime& t) {
  const int monday_based = (t.week_day + 6) % 7;
  const int week = (t.year_day - 1 - monday_based + 10) / 7;
  const auto weeks_in = [](int year) {
    const int first = week_day(year, 1, 1);
    return first == 4 || (first == 3 && is_leap(year)) ? 53 : 52;
  };
  if (week < 1) return {weeks_in(t.year - 1), t.year - 1};
  if (week > weeks_in(t.year)) return {1, t.year + 1};
  return {week, t.year};
}

int hour12(const ClockTime& t) { return t.hour % 12 == 0 ? 12 : t.hour % 12; }

std::string field(char c, const ClockTime& t);

std::string compound(char c, const ClockTime& t) {
  std::string_view parts;
  switch (c) {
    case 'c':
      parts = "a b e T Y";
      break;
    case 'D':
    case 'x':
      return field('m', t) + "/" + field('d', t) + "/" + field('y', t);
    case 'F':
      return field('Y', t) + "-" + field('m', t) + "-" + field('d', t);
    case 'R':
      return field('H', t) + ":" + field('M', t);
    case 'T':
    case 'X':
      return field('H', t) + ":" + field('M', t) + ":" + field('S', t);
    case 'r':
      return field('I', t) + ":" + field('M', t) + ":" + field('S', t) + " " + field('p', t);
    default:
      return "";
  }
  std::string out;
  for (const char part : parts) out += part == ' ' ? " " : (part == 'T' ? compound('T', t) : field(part, t));
  return out;
}

std::string date_field(char c, const ClockTime& t) {
  switch (c) {
    case 'Y':
      return std::to_string(t.year);
    case 'C':
      return fmt::format("{:02d}", t.year / 100);
    case 'y':
      return fmt::format("{:02d}", t.year % 100);
    case 'm':
      return fmt::format("{:02d}", t.month);
    case 'd':
      return fmt::format("{:02d}", t.day);
    case 'e':
      return fmt::format("{:2d}", t.day);
    case 'B':
      return std::string(kMonths[t.month - 1]);
    case 'b':
    case 'h':
      return std::string(kMonths[t.month - 1].substr(0, 3));
    case 'A':
      return std::string(kDays[t.week_day]);
    case 'a':
      return std::string(kDays[t.week_day].substr(0, 3));
    case 'j':
      return fmt::format("{:03d}", t.year_day);
    case 'u':
      return std::to_string(t.week_day == 0 ? 7 : t.week_day);
    case 'w':
      return std::to_string(t.week_day);
    case 'U':
      return fmt::format("{:02d}", (t.year_day + 6 - t.week_day) / 7);
    case 'W':
      return fmt::format("{:02d}", (t.year_day + 6 - (t.week_day + 6) % 7) / 7);
    case 'V':
      return fmt::format("{:02d}", iso_week(t).first);
    case 'G':
      return std::to_string(iso_week(t).second);
    case 'g':
      return fmt::format("{:02d}", iso_week(t).second % 100);
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    default:
      return compound(c, t);
  }
}

std::string field(char c, const ClockTime& t) {
  switch (c) {
    case 'H':
      return fmt::format("{:02d}", t.hour);
    case 'k':
      return fmt::format("{:2d}", t.hour);
    case 'I':
      return fmt::format("{:02d}", hour12(t));
    case 'l':
      return fmt::format("{:2d}", hour12(t));
    case 'M':
      return fmt::format("{:02d}", t.minute);
    case 'S':
      return fmt::format("{:02d}", t.second);
    case 'f':
      return "000000";
    case 'p':
      return t.hour < 12 ? "AM" : "PM";
    case 'P':
      return t.hour < 12 ? "am" : "pm";
    default:
      return date_field(c, t);
  }
}

}  // namespace

Result<ClockTime> clock_time(const std::string& iso) {
  ClockTime t{};
  if (iso.empty()) {
    const std::time_t now = std::time(nullptr);
    std::tm tm{};
    ::localtime_r(&now, &tm);
    return ClockTime{tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                     tm.tm_min,         tm.tm_sec,     tm.tm_wday, tm.tm_yday + 1};
  }
  int n_read = 0;
  const int n_fields = std::sscanf(iso.c_str(), "%4d-%2d-%2d%n%*1[T ]%2d:%2d:%2d%n", &t.year, &t.month, &t.day, &n_read,
                                   &t.hour, &t.minute, &t.second, &n_read);
  const bool is_whole = (n_fields == 3 || n_fields == 6) && static_cast<size_t>(n_read) == iso.size();
  const bool is_date = is_whole && t.year >= 1 && t.month >= 1 && t.month <= 12 && t.day >= 1 &&
                       t.day <= days_in(t.year, t.month) && t.hour >= 0 && t.hour < 24 && t.minute >= 0 &&
                       t.minute < 60 && t.second >= 0 && t.second < 60;
  if (!is_date) {
    return fail(ErrorCode::kInvalidArgument, "'{}' is no time; expected one like 2026-11-30T08:00:00", iso);
  }
  t.week_day = week_day(t.year, t.month, t.day);
  t.year_day = year_day(t.year, t.month, t.day);
  return t;
}

Status append_strftime(TextBuilder& out, const MarkedText& format, const ClockTime& time) {
  const std::string& f = format.text;
  for (size_t i = 0; i < f.size(); ++i) {
    if (f[i] != '%') {
      out.append(format, {i, i + 1});
      continue;
    }
    const bool has_flag = i + 1 < f.size() && f[i + 1] == '-';  // glibc: no padding
    const size_t at = i + (has_flag ? 2 : 1);
    const std::string value = at < f.size() ? field(f[at], time) : "";
    if (value.empty()) {
      return fail(ErrorCode::kUnsupported, "strftime_now: '{}' is not supported", f.substr(i, has_flag ? 3 : 2));
    }
    const size_t first = has_flag ? std::min(value.find_first_not_of("0 "), value.size() - 1) : 0;
    out.append(std::string_view(value).substr(first));
    i = at;
  }
  return {};
}

}  // namespace vitro::jinja
