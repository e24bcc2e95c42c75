#pragma once
// Matches a bracket expression of a glob: [abc], [a-z], [!x], [^x], [[:alpha:]]. Edge cases are as
// in git. Works on bytes, in the C locale.

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::snapshot {

// Whether a character belongs to a class of a glob. `at` is the position of '['; it is moved to the
// character after the closing ']'. nullopt: the class is malformed and matches nothing.
std::optional<bool> match_class(std::string_view glob, std::size_t& at, char c);

}  // namespace lockstep::snapshot
