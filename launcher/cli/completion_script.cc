// The scripts of the shells. They are short: `lockstep __complete` gives the words, so an update of
// it updates them as well.

#include "launcher/cli/completion.h"

namespace lockstep::cli {

namespace {

constexpr const char* kBash = R"(# Completion of lockstep for bash. To have it in each shell:
#   lockstep completion bash > ~/.local/share/bash-completion/completions/lockstep
_lockstep() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o bashdefault -o default -F _lockstep lockstep
)";

constexpr const char* kZsh = R"(#compdef lockstep
# Completion of lockstep for zsh. To have it in each shell, with ~/.zfunc in fpath:
#   lockstep completion zsh > ~/.zfunc/_lockstep
_lockstep() {
  local -a candidates
  local word about
  while IFS=$'\t' read -r word about; do
    candidates+=("${word//:/\\:}:$about")
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#candidates )); then
    _describe -V 'lockstep' candidates
  else
    _files
  fi
}
if [ "$funcstack[1]" = _lockstep ]; then
  _lockstep "$@"
else
  compdef _lockstep lockstep
fi
)";

constexpr const char* kFish = R"(# Completion of lockstep for fish. To have it in each shell:
#   lockstep completion fish > ~/.config/fish/completions/lockstep.fish
function __lockstep_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l found ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path "$typed"
  end
end
complete -c lockstep -f -a '(__lockstep_complete)'
)";

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return std::nullopt;
}

}  // namespace lockstep::cli
