#pragma once
// Reads UTF-8 (RFC 3629) in bytes from elsewhere, which may hold anything. Callers cut such bytes
// between characters; bytes that are not UTF-8 may be cut anywhere.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  // in bytes; 0: the bytes are not a character of UTF-8
};

// The character at the beginning of `text`, which is not empty.
Utf8Character first_character(std::string_view text);

// The length of an incomplete character at the beginning: 1 to 3 bytes that begin one, whose rest
// does not follow; 0: there is none.
std::size_t begun_character(std::string_view text);

// The number of bytes of `text` before a character that is only begun at its end; the size of
// `text` if there is none.
std::size_t whole_characters(std::string_view text);

// The first or the last bytes of `text`, `limit` at most, without a part of a character that is cut
// there.
std::string_view head(std::string_view text, std::size_t limit);
std::string_view tail(std::string_view text, std::size_t limit);

// Converts UTF-16 with a byte order mark, as PowerShell writes it, to UTF-8 without a mark.
// nullopt: the text has no UTF-16 byte order mark, or is not valid UTF-16.
std::optional<std::string> from_utf16(std::string_view text);
bool has_utf16_mark(std::string_view text);

}  // namespace lockstep
