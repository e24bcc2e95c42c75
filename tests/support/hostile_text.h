#pragma once
// Texts that a terminal would obey, or that do not show what they are.

#include <string>
#include <vector>

#include "common/base/marks.h"
#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep::test {

inline const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> kTexts = {
      "\x1b[31mred",        // CSI, of 7 bits
      "\x1b]0;title\x07",   // OSC: the window's title
      "\x1b[2J\x1b[1;1H",   // clears the screen
      "\x1bP+q544e\x1b\\",  // DCS: the terminal types an answer
      "\xc2\x9b"
      "31m",           // CSI, one character of C1
      "\xc2\x85next",  // NEL
      "\xc2\x9d"
      "0;title\xc2\x9c",                   // OSC and ST of C1
      "a\x08\x7f\x07",                     // backspace, DEL, bell
      "good\rbad",                         // overwrites
      "\xe2\x80\xaegnp.exe",               // RLO
      "\xe2\x81\xa6isolated\xe2\x81\xa9",  // LRI, PDI
      "\xe2\x80\x8f\xd8\x9c\xe2\x80\x8e",  // RLM, ALM, LRM
      "in\xe2\x80\x8bvisible",             // zero width space
      "in\xe2\x80\x8dvisible",             // zero width joiner
      "\xef\xbb\xbfmark",                  // zero width no-break space
      "line\xe2\x80\xa8separator",         // U+2028
      "soft\xc2\xadhyphen",                // soft hyphen
      "fill\xe3\x85\xa4"
      "er",                   // Hangul filler
      "tag\xf3\xa0\x81\xa1",  // tag letters
      "v\xef\xb8\x8f",        // variation selector
      "no\xc2\xa0"
      "break",  // spaces that are none
      "ideo\xe3\x80\x80graphic",
      "braille\xe2\xa0\x80",
      "\xcc\xb8struck",  // marks that stand on what is before the text
      "=\xcc\xb8 equal",
      "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81 tower",
      "bytes \xff\xfe\xe2\x82",  // no UTF-8
      std::string("nul\0end", 7),
  };
  return kTexts;
}

// All of them one after the other.
inline std::string hostile_text() {
  std::string text;
  for (const std::string& one : hostile_texts()) text += one + "|";
  return text;
}

// What of `text` a terminal would obey or not show: "" for what is well. Newlines and tabs are, and
// `\x1b[…m` where colours may be.
inline std::string not_for_a_terminal(std::string_view text, bool colors = false) {
  MarkWatch marks;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const bool is_color = colors && text.starts_with("\x1b[") &&
                          text.find_first_not_of("0123456789;:", 2) == text.find('m', 2);
    const bool is_seen = !is_hidden(character.code) && !is_odd_blank(character.code) &&
                         !marks.is_lone(character.code);
    const bool is_well = character.length > 0 && (is_seen || text[0] == '\n' || text[0] == '\t');
    if (!is_well && !is_color) return std::string(text.substr(0, 20));
    text.remove_prefix(is_color ? text.find('m') + 1 : character.length);
  }
  return "";
}

}  // namespace lockstep::test
