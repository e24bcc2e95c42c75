#pragma once
// Makes text from elsewhere (names, descriptions, messages, logs) safe for a person's screen.
// Replaced by '?' are characters that a terminal would obey, that change the order of others, that
// are invisible, and combining marks without a base (marks.h). Other blanks become spaces, and
// bytes that are not valid UTF-8 become U+FFFD. Every printer filters its text with these
// functions.

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep {

// Whether this is a control character (C0, DEL or C1, newlines and tabs too), or one that reorders
// others (bidirectional overrides, embeddings, isolates and marks), separates lines, or shows
// nothing (zero width, fillers, tags, variation selectors), or none at all (U+FFFE).
bool is_hidden(char32_t code);

// Replaces characters that do not print. Newlines and tabs stay. Joiners stay where scripts or
// emoji need them: behind a letter that joins, or behind a picture.
std::string printable(std::string_view text);
// Makes the text printable in one line: newlines and tabs become blanks, and newlines at the end
// are left out.
std::string in_one_line(std::string_view text);
// Makes the text printable, without newlines at its end; lines after the first are indented by
// `blanks`.
std::string in_lines(std::string_view text, std::size_t blanks);

// Makes a log printable as printable() does, but keeps colours (the sequences CSI … m). `colors`
// has the colours in force at the beginning, and then at the end. The result, and each line of it,
// begins and ends without colours, so that a log colours nothing else. Carriage returns before a
// newline or at the end are left out.
std::string printable_log(std::string_view text, std::string* colors);
// The number of bytes of `text` that printable_log() can show before more comes: without a
// character or sequence that is only begun at its end, and without carriage returns there.
std::size_t showable_log(std::string_view text);

// Returns the JSON with hidden characters (is_hidden()), odd blanks and lone marks escaped as \u….
std::string escaped_json(std::string json);

}  // namespace lockstep
