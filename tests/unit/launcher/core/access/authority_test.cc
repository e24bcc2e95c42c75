// Who may do what: DESIGN's table spelled out once more, as text, for every permission, role and
// kind of object. A permission that is missing here fails the test.

#include "launcher/core/access/authority.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace lockstep::launcher {
namespace {

// Columns: whose the object is, and where. "own": the caller's, in the project of its role;
// "moved": the caller's, in another project; "near": another's in that project; "lent": the same,
// and shared; "far": another's in another project. Letters: y yes, a yes and audited, - no.
constexpr const char* kExpected = R"(
permission          role       own moved near lent far
see_cluster         admin      y   y     y    y    y
see_cluster         operator   y   y     y    y    y
see_cluster         submitter  y   y     y    y    y
see_cluster         viewer     y   y     y    y    y
see_job             admin      y   y     y    y    y
see_job             operator   y   y     y    y    y
see_job             submitter  y   -     y    y    -
see_job             viewer     y   -     y    y    -
read_job            admin      y   y     a    a    a
read_job            operator   -   -     -    -    -
read_job            submitter  y   -     -    y    -
read_job            viewer     -   -     -    y    -
read_values         admin      y   y     -    -    -
read_values         operator   -   -     -    -    -
read_values         submitter  y   -     -    -    -
read_values         viewer     -   -     -    -    -
submit              admin      y   y     y    y    y
submit              operator   -   -     -    -    -
submit              submitter  y   -     y    y    -
submit              viewer     -   -     -    -    -
choose_account      admin      y   y     y    y    y
choose_account      operator   -   -     -    -    -
choose_account      submitter  -   -     -    -    -
choose_account      viewer     -   -     -    -    -
cancel_job          admin      y   y     y    y    y
cancel_job          operator   y   y     y    y    y
cancel_job          submitter  y   -     -    -    -
cancel_job          viewer     -   -     -    -    -
update_job          admin      y   y     y    y    y
update_job          operator   y   y     y    y    y
update_job          submitter  y   -     -    -    -
update_job          viewer     -   -     -    -    -
delete_job          admin      y   y     y    y    y
delete_job          operator   -   -     -    -    -
delete_job          submitter  y   -     -    -    -
delete_job          viewer     -   -     -    -    -
share_job           admin      y   y     -    -    -
share_job           operator   -   -     -    -    -
share_job           submitter  y   -     -    -    -
share_job           viewer     -   -     -    -    -
attach_job          admin      y   y     -    -    -
attach_job          operator   -   -     -    -    -
attach_job          submitter  y   -     -    -    -
attach_job          viewer     -   -     -    -    -
annotate_job        admin      y   y     y    y    y
annotate_job        operator   -   -     -    -    -
annotate_job        submitter  y   -     -    -    -
annotate_job        viewer     -   -     -    -    -
read_blobs          admin      y   y     a    a    a
read_blobs          operator   -   -     -    -    -
read_blobs          submitter  y   -     -    y    -
read_blobs          viewer     -   -     -    y    -
write_blobs         admin      y   y     y    y    y
write_blobs         operator   -   -     -    -    -
write_blobs         submitter  y   y     y    y    y
write_blobs         viewer     -   -     -    -    -
see_names           admin      y   y     y    y    y
see_names           operator   -   -     -    -    -
see_names           submitter  y   -     y    y    -
see_names           viewer     y   -     y    y    -
create_names        admin      y   y     y    y    y
create_names        operator   -   -     -    -    -
create_names        submitter  y   -     y    y    -
create_names        viewer     -   -     -    -    -
write_names         admin      y   y     y    y    y
write_names         operator   -   -     -    -    -
write_names         submitter  y   -     -    y    -
write_names         viewer     -   -     -    -    -
manage_names        admin      y   y     y    y    y
manage_names        operator   -   -     -    -    -
manage_names        submitter  y   -     -    -    -
manage_names        viewer     -   -     -    -    -
prune_environments  admin      y   y     y    y    y
prune_environments  operator   y   y     y    y    y
prune_environments  submitter  -   -     -    -    -
prune_environments  viewer     -   -     -    -    -
drain_nodes         admin      y   y     y    y    y
drain_nodes         operator   y   y     y    y    y
drain_nodes         submitter  -   -     -    -    -
drain_nodes         viewer     -   -     -    -    -
admit_nodes         admin      y   y     y    y    y
admit_nodes         operator   -   -     -    -    -
admit_nodes         submitter  -   -     -    -    -
admit_nodes         viewer     -   -     -    -    -
manage_computes     admin      y   y     y    y    y
manage_computes     operator   -   -     -    -    -
manage_computes     submitter  -   -     -    -    -
manage_computes     viewer     -   -     -    -    -
remove_nodes        admin      y   y     y    y    y
remove_nodes        operator   -   -     -    -    -
remove_nodes        submitter  -   -     -    -    -
remove_nodes        viewer     -   -     -    -    -
revoke_nodes        admin      y   y     y    y    y
revoke_nodes        operator   y   y     y    y    y
revoke_nodes        submitter  -   -     -    -    -
revoke_nodes        viewer     -   -     -    -    -
manage_users        admin      y   y     y    y    y
manage_users        operator   -   -     -    -    -
manage_users        submitter  -   -     -    -    -
manage_users        viewer     -   -     -    -    -
use_secrets         admin      y   y     -    -    -
use_secrets         operator   -   -     -    -    -
use_secrets         submitter  y   -     -    -    -
use_secrets         viewer     -   -     -    -    -
shut_down           admin      y   y     y    y    y
shut_down           operator   -   -     -    -    -
shut_down           submitter  -   -     -    -    -
shut_down           viewer     -   -     -    -    -
read_audit          admin      y   y     y    y    y
read_audit          operator   -   -     -    -    -
read_audit          submitter  -   -     -    -    -
read_audit          viewer     -   -     -    -    -
operate_computes    admin      y   y     y    y    y
operate_computes    operator   y   y     y    y    y
operate_computes    submitter  -   -     -    -    -
operate_computes    viewer     -   -     -    -    -
revoke_tokens       admin      y   y     y    y    y
revoke_tokens       operator   y   y     y    y    y
revoke_tokens       submitter  -   -     -    -    -
revoke_tokens       viewer     -   -     -    -    -
raise_priority      admin      y   y     y    y    y
raise_priority      operator   y   y     y    y    y
raise_priority      submitter  -   -     -    -    -
raise_priority      viewer     -   -     -    -    -
delete_all_jobs     admin      y   y     y    y    y
delete_all_jobs     operator   -   -     -    -    -
delete_all_jobs     submitter  -   -     -    -    -
delete_all_jobs     viewer     -   -     -    -    -
)";

constexpr const char* kNames[] = {
    "see_cluster",    "see_job",         "read_job",     "read_values",        "submit",
    "choose_account", "cancel_job",      "update_job",   "delete_job",         "share_job",
    "attach_job",     "annotate_job",    "read_blobs",   "write_blobs",        "see_names",
    "create_names",   "write_names",     "manage_names", "prune_environments", "drain_nodes",
    "admit_nodes",    "manage_computes", "remove_nodes", "revoke_nodes",       "manage_users",
    "use_secrets",    "shut_down",       "read_audit",   "operate_computes",   "revoke_tokens",
    "raise_priority", "delete_all_jobs"};
static_assert(std::size(kNames) == kPermissions, "each permission has its rows above");

Principals with_user(const std::string& name, const Grant& grant) {
  Principals principals;
  principals.apply({}, ProjectCreated{"vision", ""});
  principals.apply({}, ProjectCreated{"speech", ""});
  principals.apply({}, UserAdded{name, name, ""});
  principals.apply({}, RoleGranted{name, grant, ""});
  return principals;
}

char letter(const Decision& decision) {
  if (!decision.allowed) return '-';
  return decision.audited ? 'a' : 'y';
}

TEST(Authority, IsTheTableForEveryPermissionRoleAndObject) {
  const NameGrants grants{false, {"me"}};
  const Object objects[] = {{"me", "vision"},
                            {"me", "speech"},
                            {"you", "vision"},
                            {"you", "vision", true, {}, {}, &grants},
                            {"you", "speech", true, {}, {}, &grants}};
  std::istringstream table(kExpected);
  std::string name, role_word, cell;
  std::string header;
  std::getline(table, header);
  std::getline(table, header);
  int rows = 0;
  while (table >> name >> role_word) {
    const auto at = std::find_if(std::begin(kNames), std::end(kNames),
                                 [&](const char* one) { return name == one; });
    ASSERT_NE(at, std::end(kNames)) << name;
    const auto permission = static_cast<Permission>(at - std::begin(kNames));
    const Role role = *role_from(role_word);
    const auto principals = with_user("me", {role, is_of_project(role) ? "vision" : ""});
    for (const Object& object : objects) {
      ASSERT_TRUE(table >> cell);
      const Decision decision = may(principals, UserCaller{"me"}, permission, object);
      EXPECT_EQ(letter(decision), cell[0]) << name << " as " << role_word << " on " << object.owner
                                           << "'s in " << object.project << ": " << decision.why;
      EXPECT_EQ(decision.why.empty(), decision.allowed) << name;
    }
    ++rows;
  }
  EXPECT_EQ(rows, kPermissions * 4);
}

TEST(Authority, NobodyWithoutARoleAndNoRemovedUserMayDoAnything) {
  Principals principals = with_user("me", {Role::admin, ""});
  principals.apply({}, RoleWithdrawn{"me", {Role::admin, ""}, ""});
  for (int i = 0; i < kPermissions; ++i) {
    const auto permission = static_cast<Permission>(i);
    const Object own{"me", "vision"};
    EXPECT_FALSE(may(principals, UserCaller{"me"}, permission, own).allowed) << kNames[i];
    EXPECT_FALSE(may(principals, UserCaller{"ghost"}, permission, {"ghost", "vision"}).allowed);
    EXPECT_FALSE(may(principals, NodeCaller{NodeId(1)}, permission, own).allowed) << kNames[i];
  }
}

TEST(Authority, AnAttemptReachesItsJobAndTheChildrenOfThis) {
  const Principals principals = with_user("me", {Role::submitter, "vision"});
  const AttemptCaller caller{{JobId("train"), 1}, "me", "vision"};
  const std::map<std::string, bool> own = {
      {"see_job", true},    {"read_job", true},    {"submit", true},    {"cancel_job", true},
      {"read_blobs", true}, {"write_blobs", true}, {"see_names", true}, {"see_cluster", true}};
  const std::set<std::string> everywhere = {"see_cluster", "write_blobs", "see_names"};
  for (int i = 0; i < kPermissions; ++i) {
    const auto permission = static_cast<Permission>(i);
    const Object itself{"me", "vision", false, caller.attempt.job};
    const Object child{"me", "vision", false, JobId("child"), caller.attempt.job};
    for (const Object& object : {itself, child})
      EXPECT_EQ(may(principals, caller, permission, object).allowed, own.count(kNames[i]) != 0)
          << kNames[i];
    const bool is_about_no_job = everywhere.count(kNames[i]) != 0;
    const Object owners_other{"me", "vision", true, JobId("other")};
    EXPECT_EQ(may(principals, caller, permission, owners_other).allowed, is_about_no_job)
        << kNames[i];
    EXPECT_EQ(may(principals, caller, permission, {"me", "vision"}).allowed, is_about_no_job)
        << kNames[i];
    const bool is_of_project = kNames[i] == std::string("see_names");
    EXPECT_EQ(may(principals, caller, permission, {"me", "speech"}).allowed,
              is_about_no_job && !is_of_project)
        << kNames[i];
    // Its owner was removed since.
    EXPECT_FALSE(may(Principals(), caller, permission, itself).allowed) << kNames[i];
  }
}

TEST(Authority, ANamesOwnerLetsAUserOrTheWholeProjectAddVersions) {
  const auto principals = with_user("me", {Role::submitter, "vision"});
  const auto adds = [&](const NameGrants& grants, const char* project = "vision") {
    const Object name{"you", project, false, {}, {}, &grants, "data share faces"};
    EXPECT_FALSE(may(principals, UserCaller{"me"}, Permission::manage_names, name).allowed);
    return may(principals, UserCaller{"me"}, Permission::write_names, name);
  };
  EXPECT_TRUE(adds({true, {}}).allowed);
  EXPECT_TRUE(adds({false, {"me"}}).allowed);
  EXPECT_FALSE(adds({true, {"me"}}, "speech").allowed) << "it is another project's";
  EXPECT_EQ(adds({false, {"somebody"}}).why,
            "user 'me' may not add versions to this name: it belongs to user 'you' (project "
            "vision); you or an admin may allow it with `lockstep data share faces --with me`");
}

TEST(Authority, RolesInTwoProjectsAddUpAndDoNotLeak) {
  Principals principals = with_user("me", {Role::submitter, "vision"});
  principals.apply({}, RoleGranted{"me", {Role::viewer, "speech"}, ""});
  const UserCaller me{"me"};
  EXPECT_TRUE(may(principals, me, Permission::see_job, {"you", "speech"}).allowed);
  EXPECT_FALSE(may(principals, me, Permission::submit, {"me", "speech"}).allowed);
  EXPECT_FALSE(may(principals, me, Permission::read_job, {"you", "speech"}).allowed);
  EXPECT_TRUE(may(principals, me, Permission::read_job, {"you", "speech", true}).allowed);
}

TEST(Authority, TheRolePriorityGivesThatOneRightInItsProject) {
  Principals principals = with_user("me", {Role::priority, "vision"});
  const UserCaller me{"me"};
  for (int i = 0; i < kPermissions; ++i) {
    const auto permission = static_cast<Permission>(i);
    EXPECT_EQ(may(principals, me, permission, {"me", "vision"}).allowed,
              permission == Permission::raise_priority)
        << kNames[i];
    EXPECT_FALSE(may(principals, me, permission, {"me", "speech"}).allowed) << kNames[i];
  }
  principals.apply({}, RoleGranted{"me", {Role::submitter, "vision"}, ""});
  EXPECT_TRUE(may(principals, me, Permission::submit, {"me", "vision"}).allowed);
  EXPECT_EQ(may(with_user("me", {Role::submitter, "vision"}), me, Permission::raise_priority,
                {"me", "vision"})
                .why,
            "user 'me' (submitter in vision) may not use the priority high: that needs the role "
            "priority or operator or admin");
}

// Containers get these accounts, and no others.
TEST(Authority, AccountsOfSubmittersAreThoseWhoseJobsMayRun) {
  Principals principals;
  const auto add = [&](const std::string& name, std::optional<Grant> grant) {
    principals.apply({}, UserAdded{name, name + "-account", ""});
    if (grant) principals.apply({}, RoleGranted{name, *grant, ""});
  };
  add("ann", Grant{Role::admin, ""});
  add("sam", Grant{Role::submitter, "vision"});
  add("olga", Grant{Role::operator_, ""});
  add("vic", Grant{Role::viewer, "vision"});
  add("prio", Grant{Role::priority, "vision"});
  add("none", std::nullopt);
  EXPECT_EQ(accounts_of_submitters(principals),
            (std::set<std::string>{"ann-account", "sam-account"}));
  principals.apply({}, RoleWithdrawn{"sam", {Role::submitter, "vision"}, ""});
  EXPECT_EQ(accounts_of_submitters(principals), std::set<std::string>{"ann-account"});
}

TEST(Authority, ThingsOfBeforeProjectsAreInTheDefaultOne) {
  const auto principals = with_user("me", {Role::submitter, "default"});
  EXPECT_TRUE(may(principals, UserCaller{"me"}, Permission::cancel_job, {"me", ""}).allowed);
  EXPECT_FALSE(may(principals, UserCaller{"me"}, Permission::cancel_job, {"you", ""}).allowed);
}

TEST(Authority, ARefusalSaysWhoseItIsAndWhichRoleWouldDo) {
  const auto principals = with_user("me", {Role::submitter, "vision"});
  const UserCaller me{"me"};
  EXPECT_EQ(may(principals, me, Permission::cancel_job, {"you", "vision"}).why,
            "user 'me' may not cancel this job: it belongs to user 'you' (project vision)");
  EXPECT_EQ(may(principals, me, Permission::cancel_job, {"you", "speech"}).why,
            "user 'me' may not cancel this job: it belongs to a project in which me has no role");
  EXPECT_EQ(may(principals, me, Permission::submit, {"me", "speech"}).why,
            "user 'me' may not submit jobs in project speech; an admin may allow it with "
            "`lockstep user role me submitter --project speech`")
      << "a project that the caller named";
  EXPECT_EQ(
      may(principals, me, Permission::drain_nodes, {}).why,
      "user 'me' (submitter in vision) may not drain, resume or label nodes: that needs the role "
      "operator or admin");
  Principals two = with_user("me", {Role::submitter, "vision"});
  two.apply({}, RoleGranted{"me", {Role::submitter, "speech"}, ""});
  EXPECT_EQ(may(two, me, Permission::submit, {"me", "default"}).why,
            "user 'me' may not submit jobs in project default; an admin may allow it with "
            "`lockstep user role me submitter --project default`; or name a project of yours: "
            "--project speech or --project vision (lockstep.project in a job file)");
  EXPECT_EQ(may(principals, me, Permission::submit, {"", "speech"}).why,
            "user 'me' may not submit jobs in project speech; an admin may allow it with "
            "`lockstep user role me submitter --project speech`");
}

}  // namespace
}  // namespace lockstep::launcher
