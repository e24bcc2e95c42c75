// Who may ask what: every message of the clients' protocol, for every kind of caller, about what is
// theirs, a colleague's and another project's. What is expected is DESIGN section 13, written out
// by hand. A message without a row fails; one that is new does not compile until it has a name
// here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "common/wire/messages/control.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/launcher/api/permission_world.h"

namespace lockstep::launcher {
namespace {

// A cell: the caller's own, a colleague's, another project's. y yes; v with values of variables,
// m with their names alone, o name, state, place and resources; - refused, or not shown. One
// letter: there is no such difference.
constexpr const char* kExpected = R"(
row                    nobody admin operator submitter viewer stranger node attempt
Submit                 ---    yyy   ---      yy-       ---    y--      ---  yy-
Submit/asset           ---    yyy   ---      yy-       ---    y--      ---  yy-
Submit/high            ---    yyy   ---      ---       ---    ---      ---  ---
CancelJob              ---    yyy   yyy      y--       ---    y--      ---  y--
DeleteJobs             ---    yyy   ---      y--       ---    y--      ---  ---
DeleteJobs/all         -      y     y        y         y      y        -    y
DeleteJobs/everybody   -      y     -        -         -      -        -    -
ListJobs               ---    vmm   ooo      vo-       oo-    v--      ---  m--
ShowJob                ---    vmm   ooo      vo-       oo-    v--      ---  m--
ExplainJob             ---    vmm   ooo      vo-       oo-    v--      ---  m--
ListEvents             ---    yyy   ---      y--       ---    y--      ---  y--
WatchJob               ---    vmm   ooo      vo-       oo-    v--      ---  m--
ListJobs/shared        ---    vmm   ooo      vm-       mm-    v--      ---  m--
ShowJob/shared         ---    vmm   ooo      vm-       mm-    v--      ---  m--
ExplainJob/shared      ---    vmm   ooo      vm-       mm-    v--      ---  m--
ListEvents/shared      ---    yyy   ---      yy-       yy-    y--      ---  y--
WatchJob/shared        ---    vmm   ooo      vm-       mm-    v--      ---  m--
ShareJob               ---    y--   ---      y--       ---    y--      ---  ---
ShareJob/undo          ---    y--   ---      y--       ---    y--      ---  ---
UpdateJob              ---    yyy   yyy      y--       ---    y--      ---  ---
UpdateJob/high         ---    yyy   yyy      ---       ---    ---      ---  ---
ArchiveJob             ---    yyy   ---      y--       ---    y--      ---  ---
ArchiveJob/undo        ---    yyy   ---      y--       ---    y--      ---  ---
AnnotateJob            ---    yyy   ---      y--       ---    y--      ---  ---
ListNodes              -      y     y        y         y      y        -    y
ShowNode               -      y     y        y         y      y        -    y
CreateToken            -      y     -        -         -      -        -    -
ListTokens             -      y     y        -         -      -        -    -
RevokeToken            -      y     y        -         -      -        -    -
ApproveNode            -      y     -        -         -      -        -    -
CreateCompute          -      y     -        -         -      -        -    -
UpdateCompute          -      y     -        -         -      -        -    -
DeleteCompute          -      y     -        -         -      -        -    -
AttachHosts            -      y     -        -         -      -        -    -
DetachHosts            -      y     -        -         -      -        -    -
ReadComputeLog         -      y     -        -         -      -        -    -
StartCompute           -      y     y        -         -      -        -    -
StopCompute            -      y     y        -         -      -        -    -
RestartCompute         -      y     y        -         -      -        -    -
ListComputes           -      y     y        y         y      y        -    y
DefineSizes            -      y     -        -         -      -        -    -
RemoveSize             -      y     -        -         -      -        -    -
GrantSize              -      y     -        -         -      -        -    -
ListSizes              -      y     y        y         y      y        -    y
LabelNode              -      y     y        -         -      -        -    -
DrainNode              -      y     y        -         -      -        -    -
RemoveNode             -      y     -        -         -      -        -    -
RemoveNode/now         -      y     y        -         -      -        -    -
CreateEnvironment      ---    yyy   ---      y--       ---    y--      ---  ---
CreateEnvironment/with ---    yyy   ---      yy-       ---    y--      ---  ---
CreateEnvironment/new  -      y     -        y         -      y        -    -
CreateEnvironment/in   ---    yyy   ---      yy-       ---    y--      ---  ---
ShowEnvironment        ---    yyy   ---      yy-       yy-    y--      ---  yy-
ListEnvironments       ---    yyy   ---      yy-       yy-    y--      ---  yy-
PruneEnvironments      -      y     y        -         -      -        -    -
GetStatus              -      y     y        y         y      y        -    y
Shutdown               -      y     -        -         -      -        -    -
WhoAmI                 -      y     y        y         y      y        -    y
ListUsers              -      y     -        -         -      -        -    -
ListProjects           -      y     y        y         y      y        -    y
AddUser                -      y     -        -         -      -        -    -
RemoveUser             ---    -yy   ---      ---       ---    ---      ---  ---
SetAccount             ---    yyy   ---      ---       ---    ---      ---  ---
ChangeRole             ---    yyy   ---      ---       ---    ---      ---  ---
AddKey                 ---    yyy   y--      y--       y--    y--      ---  ---
RevokeKey              ---    -yy   y--      y--       y--    y--      ---  ---
CreateProject          -      y     -        -         -      -        -    -
RemoveProject          -      y     -        -         -      -        -    -
QueryAudit             -      y     -        -         -      -        -    -
VerifyAudit            -      y     -        -         -      -        -    -
SetSecret              -      y     -        y         -      y        -    -
RemoveSecret           -      y     -        y         -      y        -    -
ListSecrets            -      y     -        y         -      y        -    -
SetQuota               -      y     -        -         -      -        -    -
CheckJobFile           -      y     -        y         -      y        -    y
ListQuotas             -      y     y        y         y      y        -    y
GetUsage               -      y     y        y         y      y        -    y
GetMetrics             ---    yyy   ---      y--       ---    y--      ---  y--
GetMetrics/shared      ---    yyy   ---      yy-       yy-    y--      ---  y--
GetLatest              ---    yyy   ---      y--       ---    y--      ---  y--
GetLatest/shared       ---    yyy   ---      yy-       yy-    y--      ---  y--
CreateAsset            ---    yyy   ---      y--       ---    y--      ---  ---
CreateAsset/with       ---    yyy   ---      yy-       ---    y--      ---  ---
CreateAsset/new        -      y     -        y         -      y        -    -
CreateAsset/in         ---    yyy   ---      yy-       ---    y--      ---  ---
ListAssets             ---    yyy   ---      yy-       yy-    y--      ---  yy-
ShowAsset              ---    yyy   ---      yy-       yy-    y--      ---  yy-
ArchiveAsset           ---    yyy   ---      y--       ---    y--      ---  ---
ArchiveAsset/with      ---    yyy   ---      y--       ---    y--      ---  ---
ShareName              ---    yyy   ---      y--       ---    y--      ---  ---
ShareName/data         ---    yyy   ---      y--       ---    y--      ---  ---
ShareName/undo         ---    yyy   ---      y--       ---    y--      ---  ---
DeleteVersions         ---    yyy   ---      y--       ---    y--      ---  ---
DeleteVersions/data    ---    yyy   ---      y--       ---    y--      ---  ---
DeleteVersions/with    ---    yyy   ---      y--       ---    y--      ---  ---
ArchiveEnvironment     ---    yyy   ---      y--       ---    y--      ---  ---
AnnotateVersion        ---    yyy   ---      y--       ---    y--      ---  ---
AnnotateVersion/with   ---    yyy   ---      y--       ---    y--      ---  ---
ListDatastores         -      y     y        y         y      y        -    y
)";

// The rows of each message, in the order of ClientRequest.
const std::vector<std::vector<std::string>> kRows = {
    {"Submit", "Submit/asset", "Submit/high"},
    {"CancelJob"},
    {"DeleteJobs", "DeleteJobs/all", "DeleteJobs/everybody"},
    {"ListJobs", "ListJobs/shared"},
    {"ShowJob", "ShowJob/shared"},
    {"ExplainJob", "ExplainJob/shared"},
    {"ListEvents", "ListEvents/shared"},
    {"WatchJob", "WatchJob/shared"},
    {"ListNodes"},
    {"ShowNode"},
    {"CreateToken"},
    {"DrainNode"},
    {"RemoveNode", "RemoveNode/now"},
    {"CreateEnvironment", "CreateEnvironment/new", "CreateEnvironment/in",
     "CreateEnvironment/with"},
    {"ShowEnvironment"},
    {"ListEnvironments"},
    {"PruneEnvironments"},
    {"GetStatus"},
    {"Shutdown"},
    {"WhoAmI"},
    {"ListUsers"},
    {"ListProjects"},
    {"AddUser", "RemoveUser", "SetAccount", "ChangeRole", "AddKey", "RevokeKey", "CreateProject",
     "RemoveProject", "SetQuota"},
    {"QueryAudit"},
    {"VerifyAudit"},
    {"SetSecret"},
    {"RemoveSecret"},
    {"ListSecrets"},
    {"ListQuotas"},
    {"ApproveNode"},
    {"ShareJob", "ShareJob/undo"},
    {"UpdateJob", "UpdateJob/high"},
    {"CheckJobFile"},
    {"CreateCompute"},
    {"UpdateCompute"},
    {"DeleteCompute"},
    {"ListComputes"},
    {"AttachHosts"},
    {"DetachHosts"},
    {"ReadComputeLog"},
    {"DefineSizes"},
    {"RemoveSize"},
    {"GrantSize"},
    {"ListSizes"},
    {"LabelNode"},
    {"GetUsage"},
    {"StartCompute"},
    {"StopCompute"},
    {"RestartCompute"},
    {"CreateAsset", "CreateAsset/new", "CreateAsset/in", "CreateAsset/with"},
    {"ListAssets"},
    {"ShowAsset"},
    {"ArchiveAsset", "ArchiveAsset/with"},
    {"ListDatastores"},
    {"ArchiveJob", "ArchiveJob/undo"},
    {"AnnotateJob"},
    {"ShareName", "ShareName/data", "ShareName/undo"},
    {"DeleteVersions", "DeleteVersions/data", "DeleteVersions/with"},
    {"ListTokens"},
    {"RevokeToken"},
    {"ArchiveEnvironment"},
    {"AnnotateVersion", "AnnotateVersion/with"},
    {"GetMetrics", "GetMetrics/shared"},
    {"GetLatest", "GetLatest/shared"},
};
constexpr std::size_t kMessages = 64;
static_assert(kMessages == std::variant_size_v<ClientRequest>,
              "who may send the new message? give it a row above, and a question below");

using World = PermissionWorld;
using Make = std::function<ClientRequest(World&, Whose)>;

Submit submit_to(const std::string& project) {
  Submit submit;
  submit.submission = "a-new-one";
  submit.spec.command = ShellCommand{"true"};
  submit.spec.project = project;
  return submit;
}

ClientRequest change_of(decltype(ChangePrincipals::change) change) {
  return ChangePrincipals{std::move(change)};
}

const std::map<std::string, Make>& questions() {
  static const PublicKey kNew(std::string(40, 'z'));
  static const std::map<std::string, Make> kAll = {
      {"Submit", [](World& w, Whose of) { return submit_to(w.project(of)); }},
      {"Submit/high",
       [](World& w, Whose of) {
         Submit submit = submit_to(w.project(of));
         submit.spec.queue.priority = Priority::high;
         return submit;
       }},
      {"Submit/asset",
       [](World& w, Whose of) {
         Submit submit = submit_to(w.project(Whose::own));
         DataInput input;
         input.name = "d";
         input.source = "azureml:" + w.asset(of);
         input.is_type_open = true;
         submit.spec.data.push_back(input);
         return submit;
       }},
      {"CreateAsset",
       [](World& w, Whose of) {
         return CreateAsset{World::files(w.asset(of)), ""};
       }},
      {"CreateAsset/new",
       [](World&, Whose) {
         return CreateAsset{World::files("another"), ""};
       }},
      {"CreateAsset/in",
       [](World& w, Whose of) {
         return CreateAsset{World::files("another"), w.project(of)};
       }},
      {"ListAssets", [](World&, Whose) { return ListAssets{}; }},
      {"ListDatastores", [](World&, Whose) { return ListDatastores{}; }},
      {"ShowAsset",
       [](World& w, Whose of) {
         return ShowAsset{AssetKind::data, w.asset(of), ""};
       }},
      {"ArchiveAsset",
       [](World& w, Whose of) {
         return ArchiveAsset{AssetKind::data, w.asset(of), "1", true};
       }},
      {"ArchiveAsset/with",
       [](World& w, Whose of) {
         w.share_names();
         return ArchiveAsset{AssetKind::data, w.asset(of), "1", true};
       }},
      {"CreateAsset/with",
       [](World& w, Whose of) {
         w.share_names();
         return CreateAsset{World::files(w.asset(of)), ""};
       }},
      {"CreateEnvironment/with",
       [](World& w, Whose of) {
         w.share_names();
         return CreateEnvironment{World::definition(w.environment(of), "busybox:2"), ""};
       }},
      {"ShareName",
       [](World& w, Whose of) {
         return ShareName{NameKind::environment, w.environment(of), "", true};
       }},
      {"ShareName/data",
       [](World& w, Whose of) {
         return ShareName{NameKind::data, w.asset(of), "", true};
       }},
      {"ShareName/undo",
       [](World& w, Whose of) {
         w.share_names();
         return ShareName{NameKind::environment, w.environment(of), "", false};
       }},
      {"ArchiveEnvironment",
       [](World& w, Whose of) {
         return ArchiveEnvironment{w.environment(of), "1", true};
       }},
      {"AnnotateVersion",
       [](World& w, Whose of) {
         AnnotateVersion ask{NameKind::environment, w.environment(of), "1"};
         ask.set_tags["stage"] = kCanaryValue;
         return ask;
       }},
      {"AnnotateVersion/with",
       [](World& w, Whose of) {
         w.share_names();
         AnnotateVersion ask{NameKind::data, w.asset(of), "1"};
         ask.description = kCanaryValue;
         return ask;
       }},
      {"DeleteVersions",
       [](World& w, Whose of) {
         return DeleteVersions{NameKind::environment, w.environment(of), "1"};
       }},
      {"DeleteVersions/data",
       [](World& w, Whose of) {
         return DeleteVersions{NameKind::data, w.asset(of), ""};
       }},
      {"DeleteVersions/with",
       [](World& w, Whose of) {
         w.share_names();
         return DeleteVersions{NameKind::data, w.asset(of), "1"};
       }},
      {"CancelJob", [](World& w, Whose of) { return CancelJob{w.job(of)}; }},
      {"DeleteJobs",
       [](World& w, Whose of) {
         w.end_jobs();
         return DeleteJobs{{w.job(of)}, false, {}};
       }},
      {"DeleteJobs/all",
       [](World&, Whose) {
         return DeleteJobs{{}, true, {}};
       }},
      {"DeleteJobs/everybody",
       [](World& w, Whose) {
         w.end_jobs();
         return DeleteJobs{{}, true, {}, true};
       }},
      {"ListJobs", [](World&, Whose) { return ListJobs{}; }},
      {"ShowJob", [](World& w, Whose of) { return ShowJob{w.job(of)}; }},
      {"ExplainJob", [](World& w, Whose of) { return ExplainJob{w.job(of)}; }},
      {"ListEvents",
       [](World& w, Whose of) {
         return ListEvents{w.job(of), {}};
       }},
      {"WatchJob", [](World& w, Whose of) { return WatchJob{w.job(of)}; }},
      {"ListJobs/shared",
       [](World& w, Whose) {
         w.share_jobs();
         return ListJobs{};
       }},
      {"ShowJob/shared",
       [](World& w, Whose of) {
         w.share_jobs();
         return ShowJob{w.job(of)};
       }},
      {"ExplainJob/shared",
       [](World& w, Whose of) {
         w.share_jobs();
         return ExplainJob{w.job(of)};
       }},
      {"ListEvents/shared",
       [](World& w, Whose of) {
         w.share_jobs();
         return ListEvents{w.job(of), {}};
       }},
      {"WatchJob/shared",
       [](World& w, Whose of) {
         w.share_jobs();
         return WatchJob{w.job(of)};
       }},
      {"ShareJob",
       [](World& w, Whose of) {
         return ShareJob{w.job(of), true};
       }},
      {"ShareJob/undo",
       [](World& w, Whose of) {
         w.share_jobs();
         return ShareJob{w.job(of), false};
       }},
      {"UpdateJob",
       [](World& w, Whose of) {
         return UpdateJob{w.job(of), Priority::low};
       }},
      {"UpdateJob/high",
       [](World& w, Whose of) {
         return UpdateJob{w.job(of), Priority::high};
       }},
      {"ArchiveJob",
       [](World& w, Whose of) {
         return ArchiveJob{w.job(of), true};
       }},
      {"ArchiveJob/undo",
       [](World& w, Whose of) {
         return ArchiveJob{w.job(of), false};
       }},
      {"AnnotateJob",
       [](World& w, Whose of) {
         AnnotateJob change;
         change.job = w.job(of);
         change.set_tags["owner"] = "ada";
         return change;
       }},
      {"ListNodes", [](World&, Whose) { return ListNodes{}; }},
      {"ShowNode", [](World&, Whose) { return ShowNode{World::node()}; }},
      {"CreateToken", [](World&, Whose) { return CreateToken{}; }},
      {"ListTokens", [](World&, Whose) { return ListTokens{}; }},
      {"RevokeToken", [](World&, Whose) { return RevokeToken{World::token()}; }},
      {"ApproveNode", [](World&, Whose) { return ApproveNode{World::node()}; }},
      {"CreateCompute",
       [](World&, Whose) {
         return CreateCompute{
             {"new-one", ComputeType::local, "", "", {}, NodeSource::none, {}}};
       }},
      {"UpdateCompute",
       [](World&, Whose) {
         return UpdateCompute{{World::compute(),
                               ComputeType::virtualmachine,
                               "changed",
                               "",
                               {},
                               NodeSource::ssh,
                               {}}};
       }},
      {"DefineSizes",
       [](World&, Whose) {
         Size size;
         size.name = "lab-a100";
         size.memory = gibibytes(1);
         return DefineSizes{{size}};
       }},
      {"RemoveSize", [](World&, Whose) { return RemoveSize{World::size()}; }},
      {"GrantSize",
       [](World&, Whose) {
         return GrantSize{World::size(), 2};
       }},
      {"ListSizes", [](World&, Whose) { return ListSizes{}; }},
      {"LabelNode",
       [](World&, Whose) {
         return LabelNode{World::node(), {{"rack", "7"}}, {}};
       }},
      {"DeleteCompute", [](World&, Whose) { return DeleteCompute{World::compute()}; }},
      {"StartCompute", [](World&, Whose) { return StartCompute{World::instance()}; }},
      {"StopCompute",
       [](World&, Whose) {
         return StopCompute{World::instance(), false};
       }},
      {"RestartCompute",
       [](World&, Whose) {
         return RestartCompute{World::instance(), false};
       }},
      {"ListComputes", [](World&, Whose) { return ListComputes{}; }},
      {"AttachHosts",
       [](World&, Whose) {
         return AttachHosts{World::compute(), {}};
       }},
      {"DetachHosts",
       [](World&, Whose) {
         return DetachHosts{World::compute(), {}, false};
       }},
      {"ReadComputeLog",
       [](World&, Whose) {
         return ReadComputeLog{World::compute(), 0};
       }},
      {"GetUsage", [](World&, Whose) { return GetUsage{}; }},
      {"GetMetrics", [](World& w, Whose of) { return GetMetrics{w.job(of)}; }},
      {"GetMetrics/shared",
       [](World& w, Whose of) {
         w.share_jobs();
         return GetMetrics{w.job(of)};
       }},
      {"GetLatest", [](World& w, Whose of) { return GetLatest{{w.job(of)}, {"loss"}}; }},
      {"GetLatest/shared",
       [](World& w, Whose of) {
         w.share_jobs();
         return GetLatest{{w.job(of)}, {"loss"}};
       }},
      {"DrainNode",
       [](World&, Whose) {
         return DrainNode{World::node(), true, ""};
       }},
      {"RemoveNode",
       [](World&, Whose) {
         return RemoveNode{World::node(), false};
       }},
      {"RemoveNode/now",
       [](World&, Whose) {
         return RemoveNode{World::node(), true};
       }},
      {"CreateEnvironment",
       [](World& w, Whose of) {
         return CreateEnvironment{World::definition(w.environment(of), "busybox:2"), ""};
       }},
      {"CreateEnvironment/new",
       [](World&, Whose) {
         return CreateEnvironment{World::definition("another", "busybox:2"), ""};
       }},
      {"CreateEnvironment/in",
       [](World& w, Whose of) {
         return CreateEnvironment{World::definition("another", "busybox:2"), w.project(of)};
       }},
      {"ShowEnvironment", [](World& w, Whose of) { return ShowEnvironment{w.environment(of)}; }},
      {"ListEnvironments", [](World&, Whose) { return ListEnvironments{}; }},
      {"PruneEnvironments", [](World&, Whose) { return PruneEnvironments{minutes(1)}; }},
      {"GetStatus", [](World&, Whose) { return GetStatus{}; }},
      {"Shutdown", [](World&, Whose) { return Shutdown{true}; }},
      {"WhoAmI", [](World&, Whose) { return WhoAmI{}; }},
      {"ListUsers", [](World&, Whose) { return ListUsers{}; }},
      {"ListProjects", [](World&, Whose) { return ListProjects{}; }},
      {"AddUser",
       [](World&, Whose) {
         return change_of(AddUser{"new", "new", kNew, {Role::viewer, "default"}});
       }},
      {"RemoveUser",
       [](World& w, Whose of) {
         w.end_jobs();
         return change_of(RemoveUser{w.user(of)});
       }},
      {"SetAccount",
       [](World& w, Whose of) {
         return change_of(SetAccount{w.user(of), "x"});
       }},
      {"ChangeRole",
       [](World& w, Whose of) {
         return change_of(ChangeRole{w.user(of), {Role::operator_, ""}, false});
       }},
      {"AddKey",
       [](World& w, Whose of) {
         return change_of(AddKey{w.user(of), kNew, {}});
       }},
      {"RevokeKey", [](World& w, Whose of) { return change_of(RevokeKey{w.key(of)}); }},
      {"CreateProject", [](World&, Whose) { return change_of(CreateProject{"new"}); }},
      {"RemoveProject", [](World&, Whose) { return change_of(RemoveProject{"empty"}); }},
      {"QueryAudit", [](World&, Whose) { return QueryAudit{}; }},
      {"VerifyAudit", [](World&, Whose) { return VerifyAudit{}; }},
      {"SetSecret",
       [](World&, Whose) {
         return SetSecret{"TOKEN", kCanaryValue};
       }},
      {"RemoveSecret", [](World&, Whose) { return RemoveSecret{"TOKEN"}; }},
      {"ListSecrets", [](World&, Whose) { return ListSecrets{}; }},
      {"SetQuota",
       [](World&, Whose) {
         return change_of(
             SetQuota{{QuotaHolder::Kind::user, "mate"}, {{QuotaLimit::running_jobs, 3}}, {}});
       }},
      {"ListQuotas", [](World&, Whose) { return ListQuotas{}; }},
      {"CheckJobFile", [](World&, Whose) { return CheckJobFile{"job.yml", "command: true\n"}; }},
  };
  return kAll;
}

// What is shown of a job, by what is in it.
char letter_of(const JobView& job) {
  const auto& variables = job.spec.environment_variables;
  const auto* command = std::get_if<ShellCommand>(&job.spec.command);
  if (command == nullptr || command->text != kCanaryCommand) return variables.empty() ? 'o' : '!';
  const auto value = variables.find("TOKEN");
  if (value == variables.end()) return '!';
  return value->second == kCanaryValue ? 'v' : 'm';
}

struct LetterOf {
  const World& world;
  Whose whose;

  char operator()(const Refused& m) const {
    if (m.code == ErrorCode::permission_denied) return '-';
    // The last admin's key, and the one who asks, cannot be taken away; nobody else comes so far.
    return m.code == ErrorCode::conflict ? '-' : '?';
  }
  char operator()(const JobReply& m) const { return letter_of(m.job); }
  char operator()(const ExplainReply& m) const { return letter_of(m.explain.job); }
  char operator()(const JobUpdate&) const { return '!'; }
  char operator()(const StillWatching&) const { return '!'; }
  char operator()(const WaitsForDisk&) const { return '!'; }
  char operator()(const WaitsForData&) const { return '!'; }
  char operator()(const JobsReply& m) const {
    for (const JobView& job : m.jobs)
      if (job.spec.name == world.job(whose).value) return letter_of(job);
    return '-';
  }
  char operator()(const JobsDeleted& m) const {
    return m.kept.empty() ? 'y' : m.kept[0].code == ErrorCode::permission_denied ? '-' : '?';
  }
  char operator()(const EnvironmentsReply& m) const {
    for (const auto& one : m.environments)
      if (one.environment.spec.name == world.environment(whose)) return 'y';
    return '-';
  }
  char operator()(const AssetsReply& m) const {
    for (const AssetView& one : m.assets)
      if (one.asset.name == world.asset(whose)) return 'y';
    return '-';
  }
  char operator()(const LatestReply& reply) const {
    return reply.jobs.count(world.job(whose)) > 0 ? 'y' : '-';
  }
  template <typename Answer>
  char operator()(const Answer&) const {
    return 'y';
  }
};

bool is_list(const std::string& row) {
  return row.starts_with("ListJobs") || row == "ListEnvironments" || row == "ListAssets" ||
         row.starts_with("GetLatest");
}

// Nothing of a refused request changes anything or shows a canary, and the audit log has it.
void look_at(const std::string& where, const std::string& row, World& world,
             const ClientReply& reply, char letter) {
  Envelope<ClientReply> envelope;
  envelope.body = reply;
  const std::string bytes = wire::encode(envelope);
  const bool may_show = letter == 'v' || is_list(row);
  EXPECT_TRUE(may_show || bytes.find(kCanaryValue) == std::string::npos) << where;
  if (letter == '-' && !is_list(row)) {
    EXPECT_EQ(world.facts(), 0u) << where << ": refused, and yet something changed";
    ASSERT_FALSE(world.entries().empty()) << where << ": the refusal is not in the audit log";
    EXPECT_EQ(world.entries()[0].outcome, AuditOutcome::refused) << where;
  }
  if (letter != '-' && world.facts() > 0) {
    ASSERT_FALSE(world.entries().empty()) << where << ": the change is not in the audit log";
    EXPECT_EQ(world.entries()[0].outcome, AuditOutcome::done) << where;
  }
  for (const AuditEntry& entry : world.entries()) {
    EXPECT_TRUE(entry.who.starts_with(owner_of(world.caller()))) << where;
    EXPECT_THAT(entry.who, ::testing::HasSubstr(name_of(world.caller()))) << where;
    EXPECT_EQ(entry.address, "10.0.0.9") << where;
    EXPECT_FALSE(entry.what.empty() || entry.object.empty() || entry.key.empty()) << where;
    EXPECT_EQ((entry.object + entry.detail).find(kCanaryValue), std::string::npos) << where;
  }
}

// By row and caller, the expected cell.
std::map<std::string, std::map<Kind, std::string>> expected() {
  std::istringstream table(kExpected);
  std::string line, word;
  std::getline(table, line);
  std::getline(table, line);
  std::map<std::string, std::map<Kind, std::string>> found;
  while (std::getline(table, line)) {
    std::istringstream cells(line);
    cells >> word;
    auto& row = found[word];
    for (const Kind kind : kKinds) cells >> row[kind];
  }
  return found;
}

TEST(Permissions, AreThoseOfTheTableForEveryMessageCallerAndObject) {
  const auto table = expected();
  ASSERT_EQ(kRows.size(), kMessages);
  std::set<std::string> asked;
  for (std::size_t message = 0; message < kRows.size(); ++message) {
    ASSERT_FALSE(kRows[message].empty());
    for (const std::string& row : kRows[message]) {
      asked.insert(row);
      ASSERT_EQ(table.count(row), 1u) << row << " has no row: who may send it?";
      ASSERT_EQ(questions().count(row), 1u) << row;
      for (const auto& [kind, cell] : table.at(row)) {
        ASSERT_TRUE(cell.size() == 1 || cell.size() == 3) << row;
        for (std::size_t i = 0; i < cell.size(); ++i) {
          World world(kind);
          const std::string where =
              row + " by " + std::string(to_string(kind)) + " [" + std::to_string(i) + "]";
          ClientRequest request = questions().at(row)(world, kWhose[i]);
          ASSERT_EQ(request.index(), message) << row << " asks something else";
          const auto reply = world.ask(std::move(request));
          ASSERT_TRUE(reply) << where << ": no answer";
          const char letter = std::visit(LetterOf{world, kWhose[i]}, *reply);
          EXPECT_EQ(letter, cell[i])
              << where
              << (std::holds_alternative<Refused>(*reply) ? ": " + std::get<Refused>(*reply).message
                                                          : "");
          look_at(where, row, world, *reply, letter);
        }
      }
    }
  }
  EXPECT_EQ(asked.size(), table.size()) << "a row is of no message";
}

TEST(Permissions, AnAdminWhoReadsWhatIsAnothersIsInTheAuditLog) {
  for (const char* row :
       {"ListJobs", "ShowJob", "ExplainJob", "WatchJob", "ListEvents", "GetLatest"})
    for (const Whose whose : kWhose) {
      World world(Kind::admin);
      ASSERT_TRUE(world.ask(questions().at(row)(world, whose)));
      const bool reads_others = whose != Whose::own || std::string(row) == "ListJobs";
      ASSERT_EQ(world.entries().size(), reads_others ? 1u : 0u) << row;
      for (const AuditEntry& entry : world.entries())
        EXPECT_EQ(entry.outcome, AuditOutcome::read) << row;
    }
  World world(Kind::submitter);
  ASSERT_TRUE(world.ask(ShowJob{world.job(Whose::own)}));
  EXPECT_TRUE(world.entries().empty()) << "one's own is nobody's business";
}

TEST(Permissions, TheAuditLogHasTheProjectOfTheObjectAndNotOfTheAsker) {
  const auto entry_after = [](World& world, ClientRequest request) {
    EXPECT_TRUE(world.ask(std::move(request)));
    return world.entries().empty() ? AuditEntry{} : world.entries().back();
  };
  for (const Whose whose : kWhose) {
    World admin(Kind::admin);
    EXPECT_EQ(entry_after(admin, CancelJob{admin.job(whose)}).project, admin.project(whose));
    World deleting(Kind::admin);
    deleting.end_jobs();
    EXPECT_EQ(entry_after(deleting, DeleteJobs{{deleting.job(whose)}, false, {}}).project,
              deleting.project(whose));
    World submitting(Kind::admin);
    const AuditEntry submitted = entry_after(submitting, submit_to(submitting.project(whose)));
    EXPECT_EQ(submitted.project, submitting.project(whose));
    EXPECT_EQ(submitted.detail, "in project " + submitting.project(whose));
  }
  // Who may submit in one project only need not name it.
  World stranger(Kind::stranger);
  const AuditEntry own = entry_after(stranger, submit_to(""));
  EXPECT_EQ(own.outcome, AuditOutcome::done) << own.detail;
  EXPECT_EQ(own.project, stranger.project(Whose::own));
  EXPECT_EQ(own.detail, "in project " + stranger.project(Whose::own));
}

TEST(Permissions, OfUsersAndNodesMessagesNoneIsReadFromTheOther) {
  test::for_each_alternative<ClientRequest>([](const ClientRequest& request) {
    const auto bytes = wire::encode(Envelope<ClientRequest>{kProtocolVersion, 7, 0, 0, request});
    const auto read = wire::decode_envelope<AgentMessage>(bytes);
    ASSERT_FALSE(read) << request.index();
    EXPECT_EQ(read.error().code, ErrorCode::permission_denied) << request.index();
  });
  test::for_each_alternative<AgentMessage>([](const AgentMessage& message) {
    const auto bytes = wire::encode(Envelope<AgentMessage>{kProtocolVersion, 7, 0, 0, message});
    const auto read = wire::decode_envelope<ClientRequest>(bytes);
    ASSERT_FALSE(read) << message.index();
    EXPECT_EQ(read.error().code, ErrorCode::permission_denied) << message.index();
  });
}

// Its steps are shown as a job of its own would be.
TEST(Permissions, StepsTellNoMoreThanJobs) {
  for (const Kind kind : {Kind::admin, Kind::submitter, Kind::viewer})
    for (const Whose whose : kWhose)
      for (const bool shared : {false, true}) {
        World world(kind);
        const JobId pipeline = world.add_pipeline(whose, shared);
        if (shared) world.share_jobs();
        const auto plain = world.ask(ShowJob{world.job(whose)});
        const auto reply = world.ask(ShowJob{pipeline, true});
        ASSERT_TRUE(plain && reply);
        const auto* job = std::get_if<JobReply>(&*plain);
        const auto* shown = std::get_if<JobReply>(&*reply);
        ASSERT_EQ(job == nullptr, shown == nullptr) << to_string(kind);
        if (job == nullptr) continue;
        JobView step;
        for (const PipelineStep& one : shown->job.spec.pipeline->steps) step.spec = one.spec;
        const bool is_outline = letter_of(job->job) == 'o';
        EXPECT_EQ(shown->job.spec.pipeline->steps.empty(), is_outline);
        if (!is_outline) {
          EXPECT_EQ(letter_of(step), letter_of(job->job)) << to_string(kind);
        }
        const auto without = world.ask(ShowJob{pipeline});
        EXPECT_TRUE(std::get<JobReply>(*without).job.spec.pipeline->steps.empty());
      }
}

// What a provider is given, and the jobs of other projects, are not for everybody who may see a
// target.
TEST(Permissions, ATargetTellsNoCredentialAndNoJobOfAnotherProject) {
  for (const Kind kind : {Kind::admin, Kind::submitter, Kind::viewer}) {
    World world(kind);
    world.add_cluster("pool");
    const auto reply = world.ask(ListComputes{"pool", true});
    ASSERT_TRUE(reply);
    const ComputeView view = std::get<ComputesReply>(*reply).computes.at(0);
    const bool is_admin = kind == Kind::admin;
    EXPECT_EQ(view.spec.settings.at("program").front(), "cloud");
    EXPECT_EQ(view.spec.settings.at("api_token").front(), is_admin ? kCanaryValue : "(hidden)");
    ASSERT_EQ(view.machines.size(), 1u);
    const std::string why =
        is_admin ? "job 'waits-for-pool' waits for it" : "a job of another project waits for it";
    EXPECT_EQ(view.machines[0].why, why) << to_string(kind);
    EXPECT_EQ(view.scaling.why, "pool-1 is wanted: " + why);
    EXPECT_EQ(view.history.back().text, "wanted: " + why);
  }
}

// Refusals are told to the audit log without what they may quote; a token's text never is.
TEST(Permissions, NoValueAndNoTokenIsInTheAuditLog) {
  World world(Kind::submitter);
  Submit submit = submit_to("default");
  submit.spec.environment_variables = {{"TOKEN", kCanaryValue}};
  submit.spec.resources.instance_count = 0;
  ASSERT_TRUE(world.ask(submit));
  ASSERT_EQ(world.entries().size(), 1u);
  EXPECT_EQ(world.entries()[0].detail, "invalid_argument");
  World admin(Kind::admin);
  ASSERT_TRUE(admin.ask(CreateToken{}));
  ASSERT_EQ(admin.entries().size(), 1u);
  EXPECT_EQ(admin.entries()[0].detail.find("token's text"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::launcher
