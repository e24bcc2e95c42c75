#pragma once
// Who may do what: one function over who asks, what for, and whose it is. Deny by default: a role
// has exactly what its row of the table says, and knowing a name or a digest gives nothing. Pure;
// the core asks it before it changes anything, launcher/api before it shows anything.

#include <string>
#include <variant>

#include "launcher/core/principals.h"

namespace lockstep::launcher {

// The caller. Determined by the shell from the key that signed the message, never from a field of
// it.
struct Nobody {
  friend bool operator==(const Nobody&, const Nobody&) = default;
};
struct LauncherItself {  // what nobody asked for: limits of what is kept
  friend bool operator==(const LauncherItself&, const LauncherItself&) = default;
};
struct UserCaller {
  std::string name;
  friend bool operator==(const UserCaller&, const UserCaller&) = default;
};
struct NodeCaller {
  NodeId node;
  friend bool operator==(const NodeCaller&, const NodeCaller&) = default;
};
// A job's running attempt, for itself and its children; its owner's rights and no more.
struct AttemptCaller {
  AttemptId attempt;
  std::string owner;
  friend bool operator==(const AttemptCaller&, const AttemptCaller&) = default;
};
using Caller = std::variant<Nobody, LauncherItself, UserCaller, NodeCaller, AttemptCaller>;
std::string name_of(const Caller& caller);  // "alice", "node 7", "attempt train.1"

enum class Permission {
  see_cluster,     // nodes, status, names of projects
  see_job,         // name, state, place, resources
  read_job,        // command, logs, outputs, events
  read_values,     // of its variables, unmasked
  submit,          // into a project
  choose_account,  // another than one's own for a job
  cancel_job,
  delete_job,
  share_job,
  read_blobs,   // reachable from the object
  write_blobs,  // for a submission of one's own
  see_names,    // of environments
  write_names,  // of environments: new ones, and versions
  prune_environments,
  drain_nodes,
  admit_nodes,      // tokens, approval
  manage_computes,  // create, change and delete targets
  remove_nodes,
  revoke_nodes,
  manage_users,  // users, keys, roles, projects, quotas
  use_secrets,   // set, list and remove one's own
  shut_down,     // end the launcher; backup
  read_audit,
};
inline constexpr int kPermissions = static_cast<int>(Permission::read_audit) + 1;
std::string_view to_string(Permission permission);  // in words, for refusals: "cancel this job"

// The owner and project of the object of a request.
struct Object {
  std::string owner;       // a user's name; "": it has none
  std::string project;     // "": none
  bool shared = false;     // its owner lets the project read it
  AttemptId attempt = {};  // it is this attempt, or a child of it; no job: neither
  friend bool operator==(const Object&, const Object&) = default;
};

struct Decision {
  bool allowed = false;
  bool audited = false;  // allowed, but somebody else's: written down even though it only reads
  std::string why;       // not allowed: in words, with what would change it
};

Decision may(const Principals& principals, const Caller& caller, Permission permission,
             const Object& object);
// The same, without the words.
bool is_allowed(const Principals& principals, const Caller& caller, Permission permission,
                const Object& object);

}  // namespace lockstep::launcher
