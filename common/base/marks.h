#pragma once
// Characters that are seen only through their neighbours: blanks that are not the space, and
// combining marks, which are drawn onto the character before them. On a terminal a text must not
// draw onto what stands before it, and two names must not differ by blanks that look alike.

#include <cstddef>

namespace lockstep {

// Whether a character looks like a space and is another: no-break, figure, thin, ideographic and
// other spaces (general category Zs), and the braille pattern without dots.
bool is_odd_blank(char32_t code);

// Whether a character is of general category Mn or Me, without those that is_hidden() of
// printable.h has.
bool is_mark(char32_t code);

// Follows a text character by character.
class MarkWatch {
 public:
  // the most marks on one character: scripts need four or five
  static constexpr int kMostMarks = 6;

  // Takes the next character. Returns true for a mark without a base: the character before it is
  // not a letter, digit or picture, or has kMostMarks already.
  bool is_lone(char32_t code);
  // Notes that the last character was not written: something else in its place, or an escape.
  void forget() { has_base_ = false; }

 private:
  bool has_base_ = false;
  int marks_ = 0;
};

}  // namespace lockstep
