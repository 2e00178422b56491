#include "cli/svg_canvas.h"

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/markup.h"

namespace vitro {
namespace {

std::string title_element(std::string_view tooltip) {
  return tooltip.empty() ? "" : fmt::format("<title>{}</title>", escaped_markup(tooltip));
}

}  // namespace

void SvgCanvas::rect(const Box& box, std::string_view classes, std::string_view tooltip) {
  shapes_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">{}</rect>\n",
                         box.x, box.y, box.width, box.height, classes, title_element(tooltip));
}

void SvgCanvas::text(double x, double y, std::string_view text, std::string_view classes, std::string_view anchor) {
  if (text.empty()) return;
  shapes_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y, anchor,
                         classes, escaped_markup(text));
}

void SvgCanvas::turned_text(double x, double y, std::string_view text, std::string_view classes) {
  shapes_ += fmt::format(
      "<text text-anchor=\"middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\" class=\"{}\">{}</text>\n", x, y,
      classes, escaped_markup(text));
}

void SvgCanvas::line(double x0, double y0, double x1, double y1, std::string_view classes) {
  shapes_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x0, y0, x1,
                         y1, classes);
}

void SvgCanvas::circle(double x, double y, double radius, std::string_view classes, std::string_view tooltip) {
  shapes_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\">{}</circle>\n", x, y, radius,
                         classes, title_element(tooltip));
}

std::string SvgCanvas::document(double width, double height, std::string_view title, std::string_view style) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>\n{3}</style>\n{4}</svg>\n",
      width, height, escaped_markup(title), style, shapes_);
}

std::string fitting_text(std::string_view text, double width, double character_width) {
  const int n_fit = static_cast<int>(width / character_width);
  if (display_width(text) <= n_fit) return std::string(text);
  if (n_fit < 3) return "";
  std::string out;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    const std::string_view character = text.substr(0, static_cast<size_t>(c.n_bytes));
    if (display_width(out) + display_width(character) + 1 > n_fit) break;
    out += character;
    text.remove_prefix(character.size());
  }
  return out + "…";
}

}  // namespace vitro
