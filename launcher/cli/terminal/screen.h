#pragma once
// The whole terminal for a view that is drawn again and again, as `top` has it: the alternate
// screen, without cursor and echo. The terminal is as before when this object is gone.

#include <termios.h>

#include <optional>
#include <string>

namespace lockstep::cli {

class Screen {
 public:
  // Whether standard output is a terminal that can do this.
  static bool is_possible();
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  struct Size {
    std::size_t rows = 24, columns = 80;
  };
  Size size() const;
  // Replaces the shown text; lines that do not fit are left out. False: it cannot be written any
  // more.
  bool draw(const std::string& text);
  // Keys that were typed since the last call; "" if standard input is not a terminal.
  std::string typed();
  bool reads_keys() const { return before_.has_value(); }

 private:
  std::optional<termios> before_;  // the modes of standard input
};

}  // namespace lockstep::cli
