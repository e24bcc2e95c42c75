#pragma once
// Prepares one run of a target's provider: looks up the target and its hosts, brings passwords from
// the secrets, and writes the request. A password is in the request alone: never in an argument, a
// variable or a log.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/people/secrets.h"
#include "common/domain/targets/size.h"
#include "common/domain/why/why.h"
#include "launcher/daemon/providers/contract_text.h"
#include "launcher/home/layout.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

// The values that are equal in all runs.
struct ProviderSetup {
  const LauncherHome& home;
  ProviderIdentity identity;
  // The command of the target's provider, to which the verb is appended; an error: why it cannot be
  // started.
  std::function<Result<std::vector<std::string>>(const ComputeSpec&)> program;
  std::function<Result<std::string>()> bundle;  // path of the node archive
  // null: the target does not exist
  std::function<const ComputeSpec*(const std::string& target)> spec;
  // Null: the machine does not exist.
  std::function<const SshHost*(const std::string& target, const std::string& machine)> host;
  // The values of the `names` that the owner has set.
  std::function<Result<SecretValues>(const std::string& owner, const std::set<std::string>& names)>
      secrets;
  // Null: the catalogue does not have the size.
  std::function<const Size*(const std::string& name)> size = nullptr;
  // The accounts of users who may submit jobs.
  std::function<std::set<std::string>()> accounts = nullptr;
};

// Takes the secrets of one run out of texts that others read.
class Redactor {
 public:
  void hide(const std::string& password);
  std::string clean(std::string_view text) const;
  // Removes secrets from a reason. Each text in it becomes one line of at most kMaxEventTextBytes.
  Why clean(const Why& why) const;

 private:
  std::set<std::string> passwords_;
};

struct PreparedRun {
  std::vector<std::string> words;      // the provider's command, without the verb
  std::string request;                 // JSON, "" if no machine is left
  Why why_none;                        // why there is no request; none: there is one
  std::vector<ProviderEvent> refused;  // an error for each machine that is not in the request
  Redactor redactor;
};

// Prepares a run. `verb` is of the contract. `tokens`: the machines, with the token of each; "":
// this verb needs none. Only `list` may be for no machine.
PreparedRun prepare_run(const ProviderSetup& setup, const std::string& target,
                        std::string_view verb, const std::map<std::string, std::string>& tokens);
// Prepares a `check` of settings that no target has yet. `state`: a directory for this run alone.
PreparedRun prepare_check(const ProviderSetup& setup, const ComputeSpec& spec,
                          const std::string& state);

// The command line that starts this target's provider: `ours` (the path of lockstep-provider) and
// the kind, or the target's own program. That must be a file in the folder "providers" of the
// launcher's home or in /etc/lockstep/providers, so that only people who may write there decide
// what runs under the launcher's account.
Result<std::vector<std::string>> provider_words(const LauncherHome& home, const std::string& ours,
                                                const ComputeSpec& spec);

// A target's kubeconfig, found and checked in the same way, because it can name programs.
Result<std::string> site_kubeconfig(const LauncherHome& home, const std::string& name);

// The archive of scripts/bundle: `chosen`, or if that is "", the first one beside our program.
// Returns not_found with the places that were searched, and how to make it.
Result<std::string> find_node_bundle(const std::string& chosen);

}  // namespace lockstep::launcher
