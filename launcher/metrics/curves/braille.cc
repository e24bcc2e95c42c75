#include "launcher/metrics/curves/braille.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "common/base/check.h"
#include "common/base/utf8.h"

namespace lockstep::metrics {

namespace {

// The bit of each dot of a cell, by row and column (Unicode 15, chapter 21.1: U+2800 + bits).
constexpr std::uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

constexpr int kLeastCells = 8;

double scaled(double y, Scale scale) {
  if (scale == Scale::linear) return y;
  return y > 0 ? std::log10(y) : std::nan("");
}

struct Range {
  double least = 0, greatest = 0;
  void add(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  // 0 to 1. Halves, so that the difference of two finite numbers is finite.
  double share_of(double value) const {
    const double length = greatest / 2 - least / 2;
    return length > 0 ? (value / 2 - least / 2) / length : 0.5;
  }
};

bool is_shown(const Dot& dot, Scale scale) {
  return std::isfinite(dot.x) && std::isfinite(scaled(dot.y, scale));
}

struct Frame {
  Range x, y;
};

// nullopt: no dot is shown.
std::optional<Frame> frame_of(const std::vector<Dot>& dots, Scale scale) {
  std::optional<Frame> frame;
  for (const Dot& dot : dots) {
    if (!is_shown(dot, scale)) continue;
    const double y = scaled(dot.y, scale);
    if (!frame) frame = Frame{{dot.x, dot.x}, {y, y}};
    frame->x.add(dot.x);
    frame->y.add(y);
  }
  return frame;
}

class Canvas {
 public:
  Canvas(int width, int height)
      : columns_(2 * width), rows_(4 * height), cells_(static_cast<std::size_t>(width * height)) {}

  struct Place {
    int column = 0, row = 0;  // row 0 is at the top
  };
  Place place_of(double x, double y) const {
    const auto on = [](double share, int count) {
      return std::clamp(static_cast<int>(std::lround(share * (count - 1))), 0, count - 1);
    };
    return {on(x, columns_), rows_ - 1 - on(y, rows_)};
  }
  void set(const Place& at) {
    const auto cell = static_cast<std::size_t>(at.row / 4 * (columns_ / 2) + at.column / 2);
    cells_[cell] = static_cast<std::uint8_t>(cells_[cell] | kBits[at.row % 4][at.column % 2]);
  }
  // Bresenham's line.
  void join(Place from, const Place& to) {
    const int across = std::abs(to.column - from.column), down = -std::abs(to.row - from.row);
    const int right = from.column < to.column ? 1 : -1, below = from.row < to.row ? 1 : -1;
    for (int error = across + down;;) {
      set(from);
      if (from.column == to.column && from.row == to.row) return;
      const int twice = 2 * error;
      if (twice >= down) {
        error += down;
        from.column += right;
      }
      if (twice <= across) {
        error += across;
        from.row += below;
      }
    }
  }
  std::vector<std::string> lines() const {
    const auto width = static_cast<std::size_t>(columns_ / 2);
    std::vector<std::string> lines(cells_.size() / width);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      // U+2800 to U+28FF in UTF-8.
      std::string& line = lines[i / width];
      line += '\xe2';
      line += static_cast<char>(0xa0 | cells_[i] >> 6);
      line += static_cast<char>(0x80 | (cells_[i] & 0x3f));
    }
    return lines;
  }

 private:
  const int columns_, rows_;  // dots
  std::vector<std::uint8_t> cells_;
};

std::size_t columns_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

std::string padded_left(std::string text, std::size_t columns) {
  const std::size_t has = columns_of(text);
  return has < columns ? std::string(columns - has, ' ') + text : text;
}

// `from` at the left end, `to` at the right one, or as much of them as fits.
std::string line_of_ends(std::string_view from, std::string_view to, std::size_t columns) {
  const std::size_t ends = columns_of(from) + columns_of(to);
  if (ends + 1 > columns) return std::string(head(from, columns));
  return std::string(from) + std::string(columns - ends, ' ') + std::string(to);
}

}  // namespace

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

std::vector<std::string> braille_curve(const std::vector<Dot>& dots, int width, int height,
                                       Scale scale) {
  CHECK(width >= 1 && width <= kMaxCurveCells && height >= 1 && height <= kMaxCurveCells,
        "a curve has 1 to kMaxCurveCells cells in each direction");
  Canvas canvas(width, height);
  const auto frame = frame_of(dots, scale);
  std::optional<Canvas::Place> before;
  for (const Dot& dot : dots) {
    if (!is_shown(dot, scale)) {
      before.reset();
      continue;
    }
    const auto place =
        canvas.place_of(frame->x.share_of(dot.x), frame->y.share_of(scaled(dot.y, scale)));
    canvas.join(before.value_or(place), place);
    before = place;
  }
  return canvas.lines();
}

std::vector<std::string> framed_curve(const std::vector<Dot>& dots, int width, int height,
                                      std::string_view from, std::string_view to, Scale scale) {
  const auto frame = frame_of(dots, scale);
  const auto label = [&](double y) {
    return short_number(scale == Scale::linear ? y : std::pow(10.0, y));
  };
  const std::string top = frame ? label(frame->y.greatest) : "";
  const std::string bottom = frame ? label(frame->y.least) : "";
  const std::size_t label_width = std::max(columns_of(top), columns_of(bottom));
  const int cells = width - static_cast<int>(label_width) - 1;  // one for the axis
  if (!frame || cells < kLeastCells || height < 2) return braille_curve(dots, width, height, scale);
  auto lines = braille_curve(dots, cells, height - 1, scale);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_top = i == 0, is_bottom = i + 1 == lines.size();
    const std::string name = is_top ? top : is_bottom ? bottom : "";
    lines[i] = padded_left(name, label_width) + (is_top || is_bottom ? "┤" : "│") + lines[i];
  }
  lines.push_back(std::string(label_width + 1, ' ') +
                  line_of_ends(from, to, static_cast<std::size_t>(cells)));
  return lines;
}

}  // namespace lockstep::metrics
