#pragma once
// The tree below $LOCKSTEP_HOME (default ~/.lockstep), as far as the command line uses it. The
// launcher owns launcher/, and each local agent owns its folder in nodes/.
//
//   keys/user.key                     our CURVE key pair, 0600
//   up.lock                           held while a launcher or agents are started or stopped
//   local_nodes                       the wanted number of local nodes, as text
//   launcher/endpoint.json            0600, by the daemon: its addresses and public key
//   launcher/started.json             by the daemon: how and by whom it was started, when it ended
//   launcher/keys/authorized_users    one "NAME PUBLICKEY" per line
//   launcher/lockstepd.log            the daemon's output
//   nodes/local-K/agent.pid           "pid ticks", by the agent
//   nodes/local-K/identity.json, keys by the agent: its node id and its keys
//   nodes/local-K/started.pid         "pid ticks" of the agent that we started last
//   nodes/local-K/agent.log, join.token (0600)
//   datastores.yml                    by the person: launcher/files/data/datastores_file.h
//   datastores/NAME/                  workspaceblobstore, workspaceartifactstore: by the launcher
//   stat-cache/                       one file per captured directory
//   components/DIGEST/                files of a registered component, as they were fetched

#include <string>

namespace lockstep::cli {

class LocalHome {
 public:
  explicit LocalHome(std::string path) : path_(std::move(path)) {}
  // The home in $LOCKSTEP_HOME, else $HOME/.lockstep; absolute.
  static LocalHome from_environment();

  const std::string& path() const { return path_; }
  std::string keys() const { return path_ + "/keys"; }
  std::string user_key() const { return keys() + "/user.key"; }
  // The name of the attempt with this key. Only in the home of an attempt's ranks, where the agent
  // writes it.
  std::string key_of_attempt() const { return keys() + "/attempt"; }
  std::string up_lock() const { return path_ + "/up.lock"; }
  std::string local_nodes() const { return path_ + "/local_nodes"; }
  std::string launcher() const { return path_ + "/launcher"; }
  std::string endpoint() const { return launcher() + "/endpoint.json"; }
  std::string launcher_started() const { return launcher() + "/started.json"; }
  std::string journal() const { return launcher() + "/journal.db"; }
  std::string launcher_keys() const { return launcher() + "/keys"; }
  std::string authorized_users() const { return launcher_keys() + "/authorized_users"; }
  std::string launcher_log() const { return launcher() + "/lockstepd.log"; }
  std::string stat_cache() const { return path_ + "/stat-cache"; }
  std::string components() const { return path_ + "/components"; }
  std::string datastores() const { return path_ + "/datastores.yml"; }
  std::string workspace_datastores() const { return path_ + "/datastores"; }
  std::string nodes() const { return path_ + "/nodes"; }
  // Packages that the local nodes fetched for environments; they share this folder.
  std::string packages() const { return path_ + "/packages"; }
  std::string node(const std::string& name) const { return nodes() + "/" + name; }
  std::string agent_pid(const std::string& name) const { return node(name) + "/agent.pid"; }
  std::string agent_identity(const std::string& name) const {
    return node(name) + "/identity.json";
  }
  std::string agent_keys(const std::string& name) const { return node(name) + "/keys"; }
  std::string attempts(const std::string& name) const { return node(name) + "/attempts"; }
  std::string started_pid(const std::string& name) const { return node(name) + "/started.pid"; }
  std::string agent_log(const std::string& name) const { return node(name) + "/agent.log"; }
  std::string join_token(const std::string& name) const { return node(name) + "/join.token"; }

  static std::string node_name(int index) { return "local-" + std::to_string(index); }

 private:
  std::string path_;
};

}  // namespace lockstep::cli
