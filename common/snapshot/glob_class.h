#pragma once
// A bracket expression of a glob: [abc], [a-z], [!x], [^x], [[:alpha:]], with git's reading of the
// odd cases. Bytes, in the C locale.

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::snapshot {

// `at` is the position of '['; it is moved behind the closing ']'. nullopt: the class is malformed
// and matches nothing.
std::optional<bool> match_class(std::string_view glob, std::size_t& at, char c);

}  // namespace lockstep::snapshot
