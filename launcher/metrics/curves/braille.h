#pragma once
// Curves as text for terminals: each character is a cell of Unicode's braille patterns, two dots
// wide and four high. Pure: the same curve and size give the same text.

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::metrics {

struct Dot {
  double x = 0, y = 0;
};

enum class Scale {
  linear,
  logarithmic,  // of y; values of 0 and less are gaps
};

// `height` lines of `width` characters each (both 1 to kMaxCurveCells), the greatest value at the
// top. The dots, ascending in x, are joined by lines; what is no finite number is a gap. Without
// any finite value the lines are blank cells.
std::vector<std::string> braille_curve(const std::vector<Dot>& dots, int width, int height,
                                       Scale scale = Scale::linear);
inline constexpr int kMaxCurveCells = 1'000;

// The same with the greatest and the least value at the left, and under it `from` and `to`, which
// say where the curve begins and ends; all of it within `width` columns and `height` lines. Where
// that leaves less than 8 x 1 cells, it is the curve alone.
std::vector<std::string> framed_curve(const std::vector<Dot>& dots, int width, int height,
                                      std::string_view from, std::string_view to,
                                      Scale scale = Scale::linear);

// With about four digits: "0.0312", "1.25e-07", "nan".
std::string short_number(double value);

}  // namespace lockstep::metrics
