// `lockstep completion SHELL`: prints the script that makes a shell complete our words.

#include <CLI/CLI.hpp>

#include "launcher/cli/all_verbs.h"
#include "launcher/cli/completion.h"

namespace lockstep::cli {

void add_completion_verb(VerbTable table) {
  CLI::App* const verb =
      table.add("completion", "print the script that completes words in bash, zsh or fish");
  if (verb == nullptr) return;
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::Validator(
          [](std::string& word) {
            return completion_script(word) ? "" : "'" + word + "' is not bash, zsh or fish";
          },
          ""));
  verb->footer(
      "\n  source <(lockstep completion bash)            now, in this shell\n"
      "  lockstep completion fish > ~/.config/fish/completions/lockstep.fish\n"
      "Names of jobs, nodes and targets come from the launcher, if one is running.");
  verb->callback([table, shell] {
    table.action = [shell](Context& context) {
      context.terminal.out(completion_script(*shell).value_or(""));
      return 0;
    };
  });
}

}  // namespace lockstep::cli
