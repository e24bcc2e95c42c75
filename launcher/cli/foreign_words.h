#pragma once
// Maps commands and options of other tools (Slurm, docker, kubectl, az ml, git) to ours. It runs
// nothing: the answer is a command line that the user can type.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// The meaning of another tool's word. `group` is "" for the first word of a command line, else
// "job", "node", …. nullopt: no other tool that we know has this word. Example: ("", "squeue") ->
// "`lockstep job list` shows the jobs".
std::optional<std::string> meaning_of(std::string_view group, std::string_view word);

// The meaning of another tool's option of `run`, or of any verb ("--ntasks" -> "ranks per node is
// -n").
std::optional<std::string> meaning_of_option(std::string_view option);

// Rewrites `lockstep version` and `lockstep help job list` to the options that we have for them.
std::vector<std::string> with_options_for_words(std::vector<std::string> words);

}  // namespace lockstep::cli
