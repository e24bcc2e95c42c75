#pragma once
// Whether a line of a shell script calls a program, as far as that shows without running it. Pure.

#include <string_view>

namespace lockstep::cli {

// `program` is a bare name; the line may call it with a path. What stands in quotes, other than in
// "$(…)", counts for nothing.
bool calls(std::string_view line, std::string_view program);

}  // namespace lockstep::cli
