#pragma once
// Finds the programs of others that providers run, and recognises what those say.

#include <initializer_list>
#include <string>
#include <string_view>

namespace lockstep::compute {

// The executable `name` in the absolute folders of `path` (in the format of PATH); "": none has it.
std::string find_on_path(const std::string& name, const std::string& path);

// Whether one of `signs`, which are in lower case, is in the text, in whatever case.
bool has_any(std::string_view text, std::initializer_list<std::string_view> signs);

}  // namespace lockstep::compute
