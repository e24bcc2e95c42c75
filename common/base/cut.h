#pragma once
// Shortens texts to a limit in bytes.

#include <cstddef>
#include <string>

namespace lockstep {

// The first `limit` bytes of `text` at most, without splitting a UTF-8 character. Appends "…" if
// anything was cut off.
std::string cut(std::string text, std::size_t limit);

// Shortens a text for people to at most `limit` bytes (more than 200): keeps its beginning and its
// end, because tools say there why they fail, and puts a line between them that says how many bytes
// are left out.
std::string cut_middle(std::string text, std::size_t limit);

}  // namespace lockstep
