#pragma once
// The text of a Dockerfile as engines split it: lines, instructions, words. Engines differ in what
// continues a line, so that a text has several readings; and their parsers, in Go, take more
// characters for blanks than ASCII has. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::envs {

inline constexpr std::string_view kDockerfileBlanks = " \t";

// The way in which an engine finds the end of a line that is continued.
struct DockerfileReading {
  char escape = '\\';         // '\0': nothing continues a line
  bool takes_doubled = true;  // two escapes continue a line too; newer BuildKit's do not
  bool keeps_blanks = true;   // keeps blanks at the begin of a continued line
};
std::vector<DockerfileReading> dockerfile_readings();

// Splits a text into lines, without their line feeds, and without the carriage return before one.
std::vector<std::string_view> dockerfile_lines(std::string_view text);

struct DockerfileInstruction {
  std::string text;      // the instruction in one line; "": a comment, or nothing
  std::size_t next = 0;  // the line after the instruction
};
// The instruction that begins in the line `at`.
DockerfileInstruction dockerfile_instruction(const std::vector<std::string_view>& lines,
                                             std::size_t at, const DockerfileReading& reading);

std::string_view without_blanks(std::string_view text);  // Cuts blanks at both ends.

// Splits a line at blanks, also at blanks in quotes. Quotes and escapes are kept.
std::vector<std::string> dockerfile_words(std::string_view line);
// The word without quotes and escapes, whatever they are for.
std::string bare_word(std::string_view word);

// The size of a blank of Unicode that `text` begins with, or of one of the two single bytes that
// parsers which read bytes take for one; 0: it does not.
std::size_t unicode_blank(std::string_view text);
// "the character U+00A0", "the byte A0".
std::string unicode_blank_name(std::string_view blank);
// The position of the first blank; npos: there is none. A byte in the middle of a character does
// not count.
std::size_t find_unicode_blank(std::string_view text);

// Lower-cases a word as Go's ToLower and EqualFold do for ASCII: 'İ' (U+0130) becomes 'i', the
// Kelvin sign 'k', 'ſ' (U+017F) 's'.
std::string lower_word(std::string_view text);

}  // namespace lockstep::envs
