#pragma once
// Completes the word that is being typed. The shells' scripts call `lockstep __complete WORD…`; the
// last word is the one to complete.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/base/verb_context.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

inline constexpr std::string_view kCompleteVerb = "__complete";

struct Candidate {
  std::string word, about;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Things that have names on the launcher.
enum class Noun {
  job,
  archived_job,
  node,
  compute,
  data,
  model,
  component,
  environment,
  datastore
};
// `typed`: the beginning of the name, for jobs of a pipeline's steps.
using NamesOf = std::function<std::vector<Candidate>(Noun, const std::string& typed)>;

// The candidates; none: the shell offers files. `names` is called only where a name is expected.
std::vector<Candidate> candidates_for(const CLI::App& verbs, std::vector<std::string> words,
                                      const NamesOf& names);

// Prints one candidate per line: the word, and behind a tab its description. It starts no launcher
// and reports no error, because a person is typing.
int print_completions(Context& context, const std::vector<std::string>& words);

// The script for "bash", "zsh" or "fish".
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace lockstep::cli
