#pragma once
// Authorization: one function over the caller, the permission, and the object with its owner. It
// denies by default: a role has exactly the permissions in its row of the table, and knowing a name
// or a digest grants nothing. Pure. The core calls it before it changes anything, and launcher/api
// before it shows anything.

#include <set>
#include <string>
#include <variant>

#include "common/domain/data/name_grants.h"
#include "launcher/core/base/caller.h"
#include "launcher/state/people/principals.h"

namespace lockstep::launcher {

enum class Permission {
  see_cluster,     // nodes, status, names of projects
  see_job,         // see a job's name, state, place and resources
  read_job,        // read a job's command, logs, outputs and events
  read_values,     // values of its variables, unmasked
  submit,          // submit into a project
  choose_account,  // run a job as an account other than one's own
  cancel_job,
  update_job,  // change a job's priority
  delete_job,
  share_job,
  attach_job,    // programs in its ranks, their terminal, signals, stacks
  annotate_job,  // change a job's texts and tags, and whether it is archived
  read_blobs,    // blobs reachable from the object
  write_blobs,   // blobs for one's own submission
  see_names,     // names of environments, data, models and components
  create_names,  // register the first version of a new name
  write_names,   // add versions to a name
  manage_names,  // archive, restore and delete its versions, and share it
  prune_environments,
  drain_nodes,
  admit_nodes,      // make tokens, and approve nodes
  manage_computes,  // create, change and delete targets
  remove_nodes,
  revoke_nodes,
  manage_users,  // users, keys, roles, projects, quotas
  use_secrets,   // set, list and remove one's own secrets
  shut_down,     // end the launcher, and make backups
  read_audit,
  operate_computes,
  revoke_tokens,    // list the join tokens, and end their use
  raise_priority,   // give a job the priority high
  delete_all_jobs,  // delete the ended jobs of all users without naming each
};
inline constexpr int kPermissions = static_cast<int>(Permission::delete_all_jobs) + 1;
// The permission in words, for refusals: "cancel this job".
std::string_view to_string(Permission permission);

// The object of a request, with its owner.
struct Object {
  std::string owner;    // a user's name; "": the object has no owner
  std::string project;  // "": the object belongs to no project
  bool shared = false;  // the owner lets the members of the project read it
  JobId job = {};       // "": the object is not a job
  JobId child_of = {};  // see Job
  // The users who may add versions to a name. Must outlive the object.
  const NameGrants* grants = nullptr;
  // the name of the object in the verb that shares it: "environment share team"
  std::string called = {};
  friend bool operator==(const Object&, const Object&) = default;
};

struct Decision {
  bool allowed = false;
  // True if it is allowed, and the object is another user's: the audit log records it even if it is
  // only read.
  bool audited = false;
  std::string why;  // if not allowed: the reason, and what would allow it
};

Decision may(const Principals& principals, const Caller& caller, Permission permission,
             const Object& object);
// The same decision without its reason.
bool is_allowed(const Principals& principals, const Caller& caller, Permission permission,
                const Object& object);
// The accounts of all users who may submit jobs to any project. Ranks can run as no other accounts.
std::set<std::string> accounts_of_submitters(const Principals& principals);

}  // namespace lockstep::launcher
