#pragma once
// Filters the text that a person types in a terminal session that may hang: "~." at the start of a
// line leaves it, as in ssh. Pure.

#include <string>
#include <string_view>

namespace lockstep::cli {

class EscapeFilter {
 public:
  struct Typed {
    std::string bytes;    // the bytes for the program
    bool leaves = false;  // "~." was typed: later bytes are dropped
    bool asks = false;    // "~?": which of these there are
  };
  // "~~" is one "~", and a "~" before any other byte is passed on with it. A "~" is held back until
  // the next byte comes.
  Typed take(std::string_view typed);

 private:
  bool at_line_start_ = true;
  bool is_held_ = false;  // whether a "~" is held back
};

}  // namespace lockstep::cli
