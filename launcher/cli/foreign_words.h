#pragma once
// Words that people know from other tools (Slurm, docker, kubectl, az ml, git), and what they are
// called here. It runs nothing: the answer is a line that can be typed.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// `group`: "" for the first word of a command line, else "job", "node", …. nullopt: the word is
// not known from elsewhere. Example: ("", "squeue") -> "`lockstep job list` shows the jobs".
std::optional<std::string> meaning_of(std::string_view group, std::string_view word);

// The same for an option of `run`, or of any verb ("--ntasks" -> "ranks per node is -n").
std::optional<std::string> meaning_of_option(std::string_view option);

// `lockstep version` and `lockstep help job list` as options, which is what they are here.
std::vector<std::string> with_options_for_words(std::vector<std::string> words);

}  // namespace lockstep::cli
