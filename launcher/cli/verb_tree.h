#pragma once
// All verbs with all their options, for what describes them: completion and manual pages. It parses
// nothing and runs nothing.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

class VerbTree {
 public:
  VerbTree();
  VerbTree(const VerbTree&) = delete;
  VerbTree& operator=(const VerbTree&) = delete;

  const CLI::App& app() const { return app_; }

 private:
  Action action_;
  std::vector<std::string> command_;
  CLI::App app_;
};

std::vector<const CLI::App*> verbs_below(const CLI::App& group);
// The options that a person may write, without hidden ones.
std::vector<const CLI::Option*> options_of(const CLI::App& verb);
bool takes_value(const CLI::Option& option);
// The words that an option's type lists, as in "table|json"; empty: any text.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace lockstep::cli
