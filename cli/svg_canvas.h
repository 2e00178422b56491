// The few shapes that pictures of plans are made of, as SVG text. Coordinates in pixels; text is escaped.
#pragma once

#include <string>
#include <string_view>

namespace vitro {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

class SvgCanvas {
 public:
  /// classes: "tile c2". Empty fills come from the style sheet.
  void rect(const Box& box, std::string_view classes, std::string_view tooltip = "");
  /// anchor: start, middle or end.
  void text(double x, double y, std::string_view text, std::string_view classes, std::string_view anchor = "start");
  void turned_text(double x, double y, std::string_view text, std::string_view classes);
  void line(double x0, double y0, double x1, double y1, std::string_view classes);
  void circle(double x, double y, double radius, std::string_view classes, std::string_view tooltip = "");
  /// Everything that another canvas holds, on top.
  void add(const SvgCanvas& other) { shapes_ += other.shapes_; }

  /// The whole document. `title` is read out where the picture cannot be seen.
  std::string document(double width, double height, std::string_view title, std::string_view style) const;

 private:
  std::string shapes_;
};

/// A text of at most so many characters, cut with an ellipsis; empty if not even three fit.
std::string fitting_text(std::string_view text, double width, double character_width);

}  // namespace vitro
