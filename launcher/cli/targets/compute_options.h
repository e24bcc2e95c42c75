#pragma once
// The options of the verbs of `lockstep compute`, and the target or the hosts that the flags and
// the file describe.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/targets/compute.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/targets/machine_wait.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

// Hosts that are named on the command line, with their common settings.
struct HostFlags {
  std::vector<std::string> hosts;  // [USER@]ADDRESS[:PORT], also several with commas
  std::string user, port, key, password_secret, jump, directory, share;
  std::string tunnel;
};

struct ComputeOptions {
  std::string name;
  std::string file;
  std::vector<std::string> overrides;
  std::string type;
  std::string node_source;
  std::optional<std::string> description;
  std::optional<std::string> location;
  std::vector<std::string> tags;  // K=V
  HostFlags hosts;
  std::vector<std::pair<std::string, std::string>> cluster;  // key of a file, value: "size", …
  bool upgrade = false;
  bool check = true;  // ask the provider whether the settings work
  bool history = false;
  bool force = false;
  bool yes = false;
  MachineWait wait;
  Format format = Format::table;
};

Error bad_compute(std::string message);

// "a,b" and "c" are a, b and c.
std::vector<std::string> split_at_commas(const std::vector<std::string>& words);
// The hosts that `flags` list. Each gets its default name, and the user, port and key of `flags` if
// it gives none of its own. `option`: the flag that lists the hosts, for messages.
Result<std::vector<SshHost>> hosts_from(const std::string& option, const HostFlags& flags);
// The target that the file or the flags describe. `verb` is for messages.
Result<ComputeSpec> spec_to_create(const std::string& verb, const ComputeOptions& options);
// The known spec, changed as the flags or the file say.
Result<ComputeSpec> spec_to_update(const ComputeSpec& known, const ComputeOptions& options);

// Adds -f, --set, --description, --location, --tags.
void add_texts(CLI::App& verb, ComputeOptions& options);
void add_hosts(CLI::App& verb, HostFlags& flags);
// Adds az ml's flags of clusters: --size, --tier, --min-instances, …
void add_cluster(CLI::App& verb, ComputeOptions& options);
void add_no_check(CLI::App& verb, ComputeOptions& options);
void add_wait(CLI::App& verb, MachineWait& wait, const char* until);
CLI::App* add_name(CLI::App* verb, ComputeOptions& options, bool is_required);

}  // namespace lockstep::cli
