#include "launcher/core/access/authority.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::launcher {
namespace {

// How far a role's permission reaches.
enum class Reach {
  none,
  own,      // the caller owns it
  granted,  // the owner shares it with the project that the role is in
  shared,   // own, or granted
  invited,  // own, or its owner lets the caller add to it and the role is in its project
  project,  // the object is in the project that the role is in
  all,
  audited,  // every object; the audit log records it if the object is another user's
};

struct Row {
  Permission permission;
  std::string_view words;
  Reach admin, operator_, submitter, viewer;
  // For an attempt. own: its job and that job's children; project: the project of its job.
  Reach attempt;
};

using P = Permission;
using R = Reach;
// The permissions of each role: the table of DESIGN section 13, row by row. What a node may do is
// in may().
constexpr std::array<Row, kPermissions> kTable{{
    {P::see_cluster, "see the nodes", R::all, R::all, R::all, R::all, R::all},
    {P::see_job, "see this job", R::all, R::all, R::project, R::project, R::own},
    {P::read_job, "read this job's command, logs and outputs", R::audited, R::none, R::shared,
     R::granted, R::own},
    {P::read_values, "read the values of this job's variables", R::own, R::none, R::own, R::none,
     R::none},
    {P::submit, "submit jobs", R::all, R::none, R::project, R::none, R::own},
    {P::choose_account, "run jobs as another account", R::all, R::none, R::none, R::none, R::none},
    {P::cancel_job, "cancel this job", R::all, R::all, R::own, R::none, R::own},
    {P::update_job, "change this job's priority", R::all, R::all, R::own, R::none, R::none},
    {P::delete_job, "delete this job", R::all, R::none, R::own, R::none, R::none},
    {P::share_job, "share this job", R::own, R::none, R::own, R::none, R::none},
    {P::attach_job, "attach to the ranks of this job", R::own, R::none, R::own, R::none, R::none},
    {P::annotate_job, "archive this job or change its texts and tags", R::all, R::none, R::own,
     R::none, R::none},
    {P::read_blobs, "read these files", R::audited, R::none, R::shared, R::granted, R::own},
    {P::write_blobs, "upload files", R::all, R::none, R::all, R::none, R::all},
    {P::see_names, "see environments, data and models", R::all, R::none, R::project, R::project,
     R::project},
    {P::create_names, "create environments, data or models", R::all, R::none, R::project, R::none,
     R::none},
    {P::write_names, "add versions to this name", R::all, R::none, R::invited, R::none, R::none},
    {P::manage_names, "archive, restore, delete or share versions of this name", R::all, R::none,
     R::own, R::none, R::none},
    {P::prune_environments, "prune environments", R::all, R::all, R::none, R::none, R::none},
    {P::drain_nodes, "drain, resume or label nodes", R::all, R::all, R::none, R::none, R::none},
    {P::admit_nodes, "admit nodes", R::all, R::none, R::none, R::none, R::none},
    {P::manage_computes, "create, change or delete compute targets", R::all, R::none, R::none,
     R::none, R::none},
    {P::remove_nodes, "remove nodes", R::all, R::none, R::none, R::none, R::none},
    {P::revoke_nodes, "revoke nodes", R::all, R::all, R::none, R::none, R::none},
    {P::manage_users, "see or change all users, roles, projects and quotas", R::all, R::none,
     R::none, R::none, R::none},
    {P::use_secrets, "use secrets", R::own, R::none, R::own, R::none, R::none},
    {P::shut_down, "end the launcher", R::all, R::none, R::none, R::none, R::none},
    {P::read_audit, "read the audit log", R::all, R::none, R::none, R::none, R::none},
    {P::operate_computes, "start or stop compute instances", R::all, R::all, R::none, R::none,
     R::none},
    {P::revoke_tokens, "list or revoke join tokens", R::all, R::all, R::none, R::none, R::none},
    {P::raise_priority, "use the priority high", R::all, R::all, R::none, R::none, R::own},
    {P::delete_all_jobs, "delete the jobs of all users", R::all, R::none, R::none, R::none,
     R::none},
}};

constexpr bool rows_are_in_order() {
  for (int i = 0; i < kPermissions; ++i)
    if (static_cast<int>(kTable[static_cast<std::size_t>(i)].permission) != i) return false;
  return true;
}
static_assert(rows_are_in_order(), "each permission has one row, in the order of the enum");

const Row& row_of(Permission permission) { return kTable[static_cast<std::size_t>(permission)]; }

Reach reach_of(const Row& row, Role role) {
  switch (role) {
    case Role::admin: return row.admin;
    case Role::operator_: return row.operator_;
    case Role::submitter: return row.submitter;
    case Role::viewer: return row.viewer;
    case Role::priority: return row.permission == P::raise_priority ? Reach::project : Reach::none;
  }
  return Reach::none;
}

// Objects from before projects existed belong to the default project.
std::string project_of(const Object& object) {
  return object.project.empty() ? std::string(kDefaultProject) : object.project;
}

bool reaches(Reach reach, const User& user, const Grant& grant, const Object& object) {
  const bool owns = object.owner == user.name;
  const bool in_project = !is_of_project(grant.role) || grant.project == project_of(object);
  switch (reach) {
    case Reach::none: return false;
    case Reach::own: return owns && in_project;
    case Reach::granted: return in_project && object.shared;
    case Reach::shared: return in_project && (owns || object.shared);
    case Reach::invited:
      return in_project && (owns || (object.grants != nullptr && object.grants->has(user.name)));
    case Reach::project: return in_project;
    case Reach::all:
    case Reach::audited: return true;
  }
  return false;
}

// The roles that have the permission, so that a refused user knows which one to ask for.
std::string roles_that_may(const Row& row) {
  std::string text;
  for (const Role role : kRoles) {
    if (reach_of(row, role) == Reach::none) continue;
    if (!text.empty()) text += " or ";
    text += to_string(role);
  }
  return text;
}

std::string_view role_that_may(const Row& row) {
  return row.permission == P::raise_priority ? "priority" : "submitter";
}

std::string roles_of(const User& user) {
  std::string text;
  for (const Grant& grant : user.grants) text += (text.empty() ? "" : ", ") + to_string(grant);
  return text.empty() ? "no role" : text;
}

std::string how_invited(const Row& row, const User& user, const Object& object) {
  if (row.submitter != Reach::invited) return "";
  return fmt::format("; {} or an admin may allow it with `lockstep {} --with {}`", object.owner,
                     object.called, user.name);
}

// Names the user's projects in which the request may be allowed. Only for a request about the
// default project, as one that names no project is.
std::string other_projects(const Row& row, const User& user, const Object& object) {
  if (project_of(object) != kDefaultProject) return "";
  std::string names;
  for (const Grant& grant : user.grants)
    if (is_of_project(grant.role) && reach_of(row, grant.role) != Reach::none)
      names += (names.empty() ? "" : " or ") + ("--project " + grant.project);
  if (names.empty()) return "";
  return fmt::format("; or name a project of yours: {} (lockstep.project in a job file)", names);
}

Decision refused(const Row& row, const User& user, const Object& object) {
  const auto has = [&](Role role) { return user.has(role); };
  const bool could_elsewhere = std::any_of(std::begin(kRoles), std::end(kRoles), [&](Role role) {
    return has(role) && reach_of(row, role) != Reach::none;
  });
  const bool is_member =
      std::any_of(user.grants.begin(), user.grants.end(), [&](const Grant& grant) {
        return !is_of_project(grant.role) || grant.project == project_of(object);
      });
  const bool is_foreign = !object.owner.empty() && object.owner != user.name;
  Decision decision;
  if (could_elsewhere && is_foreign && !is_member)
    decision.why =
        fmt::format("user '{}' may not {}: it belongs to a project in which {} has no role",
                    user.name, row.words, user.name);
  else if (could_elsewhere && is_foreign)
    decision.why =
        fmt::format("user '{}' may not {}: it belongs to user '{}' (project {}){}", user.name,
                    row.words, object.owner, project_of(object), how_invited(row, user, object));
  else if (could_elsewhere)
    decision.why =
        fmt::format(
            "user '{}' may not {} in project {}; an admin may allow it with `lockstep user role {} "
            "{} --project {}`",
            user.name, row.words, project_of(object), user.name, role_that_may(row),
            project_of(object)) +
        other_projects(row, user, object);
  else
    decision.why = fmt::format("user '{}' ({}) may not {}: that needs the role {}", user.name,
                               roles_of(user), row.words, roles_that_may(row));
  return decision;
}

struct Judge {
  const Principals& principals;
  const Row& row;
  const Object& object;
  bool in_words = true;

  Decision operator()(const Nobody&) const {
    return {false, false, fmt::format("an unauthenticated caller may not {}", row.words)};
  }
  Decision operator()(const LauncherItself&) const { return {true, false, ""}; }
  Decision operator()(const UserCaller& caller) const {
    const User* user = principals.user(caller.name);
    if (user == nullptr)
      return {false, false, fmt::format("there is no user '{}' any more", caller.name)};
    Decision found;
    for (const Grant& grant : user->grants) {
      const Reach reach = reach_of(row, grant.role);
      if (!reaches(reach, *user, grant, object)) continue;
      const bool audited = reach == Reach::audited && object.owner != user->name;
      if (!audited) return {true, false, ""};
      found = {true, true, ""};
    }
    if (found.allowed || !in_words) return found;
    return refused(row, *user, object);
  }
  // Refuses nodes: they send other messages, each checked against the node's assignments.
  Decision operator()(const NodeCaller&) const {
    return {false, false, fmt::format("a node may not {}", row.words)};
  }
  // Decides for an attempt, which never has more permissions than its owner.
  Decision operator()(const AttemptCaller& caller) const {
    if (caller.is_ending && !is_for_the_end())
      return {false, false,
              fmt::format("attempt {} is being ended, so its credential may not {} any more",
                          to_string(caller.attempt), row.words)};
    const Decision of_owner = (*this)(UserCaller{caller.owner});
    if (is_within_reach(caller) && of_owner.allowed) return {true, false, ""};
    return {false, false,
            fmt::format("the credential of attempt {} may not {}{}", to_string(caller.attempt),
                        row.words,
                        row.attempt == Reach::own
                            ? ": it is for its own job and the jobs that this has submitted"
                            : "")};
  }
  // The permissions that a rank needs while it waits for its children to end.
  bool is_for_the_end() const {
    return row.permission == Permission::see_cluster || row.permission == Permission::see_job ||
           row.permission == Permission::read_job || row.permission == Permission::cancel_job;
  }
  bool is_within_reach(const AttemptCaller& caller) const {
    switch (row.attempt) {
      case Reach::all: return true;
      case Reach::project: return project_of(object) == project_of({"", caller.project});
      case Reach::own: {
        const JobId& job = caller.attempt.job;
        return !job.value.empty() && (object.job == job || object.child_of == job);
      }
      case Reach::none:
      case Reach::granted:
      case Reach::shared:
      case Reach::invited:
      case Reach::audited: break;
    }
    return false;
  }
};

}  // namespace

std::string_view to_string(Permission permission) { return row_of(permission).words; }

Decision may(const Principals& principals, const Caller& caller, Permission permission,
             const Object& object) {
  return std::visit(Judge{principals, row_of(permission), object}, caller);
}

bool is_allowed(const Principals& principals, const Caller& caller, Permission permission,
                const Object& object) {
  return std::visit(Judge{principals, row_of(permission), object, false}, caller).allowed;
}

std::set<std::string> accounts_of_submitters(const Principals& principals) {
  const Row& row = row_of(Permission::submit);
  std::set<std::string> accounts;
  for (const auto& [name, user] : principals.users()) {
    const bool may_submit =
        std::any_of(user.grants.begin(), user.grants.end(),
                    [&](const Grant& grant) { return reach_of(row, grant.role) != Reach::none; });
    if (may_submit) accounts.insert(user.account);
  }
  return accounts;
}

}  // namespace lockstep::launcher
