#pragma once
// The words with which an error names a part of a job: a flag of `run`, or a key of a job file. An
// error that does not know which of them the user wrote names both: "(-N; resources.instance_count
// in a job file)". What is printed here knows it.

#include <string>

namespace lockstep::cli {

// Rewrites a text for a person who wrote flags: the key beside a flag is left out, and a key that
// `run` has a flag for becomes that flag.
std::string with_flags(std::string text);

// Rewrites a text for a person who wrote a job file: of "FLAGS; KEY in a job file", the key.
std::string with_keys(std::string text);

}  // namespace lockstep::cli
