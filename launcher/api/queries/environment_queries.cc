#include "launcher/api/queries/environment_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "common/base/match.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxVersionsNamed = 10;  // the most versions that a refusal names

// "there is no environment …", with the versions that exist instead.
Refused no_such_environment(const State& state, const EnvironmentName& wanted) {
  const auto known = state.registered().find(wanted.name);
  if (known == state.registered().end())
    return {ErrorCode::not_found,
            fmt::format("there is no environment '{}'; `lockstep environment list` shows all, "
                        "`lockstep environment create -f FILE` makes one",
                        wanted.name)};
  if (wanted.version.empty())
    return {ErrorCode::not_found,
            fmt::format("all versions of environment '{0}' are archived, or by others than its "
                        "owner and those whom the owner lets; name one, or restore it with "
                        "`lockstep environment restore -n {0}`",
                        wanted.name)};
  std::string versions;
  const auto& all = known->second;
  for (std::size_t i = all.size(); i > 0 && all.size() - i < kMaxVersionsNamed; --i)
    versions.append(versions.empty() ? "" : ", ").append(all[i - 1].environment.spec.version);
  if (all.size() > kMaxVersionsNamed) versions += ", …";
  return {ErrorCode::not_found, fmt::format("environment '{}' has no version '{}'; it has {}",
                                            wanted.name, wanted.version, versions)};
}

std::size_t rough_bytes(const EnvironmentView& view) {
  std::size_t bytes = 512 + view.environment.description.size();
  for (const auto& [key, value] : view.environment.tags) bytes += key.size() + value.size() + 8;
  return bytes + 128 * view.locks.size() + canonical_form(view.environment.spec.definition).size();
}

void leave_out_content(EnvironmentView& view) {
  RegisteredEnvironment& environment = view.environment;
  environment.description.clear();
  environment.tags.clear();
  std::visit(Match{[](HostEnvironment&) {}, [](VenvEnvironment& venv) { venv = {}; },
                   [](CondaEnvironment& conda) { conda = {}; },
                   [](DockerEnvironment& docker) {
                     if (docker.conda) docker.conda.emplace();
                   }},
             environment.spec.definition);
}

// The newest of the wanted versions, preferably one whose owner allows it. Null: no version is
// wanted.
template <typename IsWanted>
const EnvironmentVersion* newest_of(const State& state, const std::string& name,
                                    const std::vector<EnvironmentVersion>& versions,
                                    const IsWanted& is_wanted) {
  const OwnedName* owned = state.names().find(NameKind::environment, name);
  const EnvironmentVersion* any = nullptr;
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    if (!is_wanted(*it)) continue;
    if (owned == nullptr || counts(it->foreign, it->by, *owned)) return &*it;
    if (any == nullptr) any = &*it;
  }
  return any;
}

// "": the viewer may not see the job, or it was deleted.
JobId visible(const State& state, const Viewer& viewer, const JobId& id) {
  const Job* job = state.job(id);
  return job != nullptr && viewer.sees(*job) ? id : JobId();
}

// Adds locks, at most as many as one account may have for one definition, because clients accept no
// more.
void add_locks(const State& state, const Viewer& viewer, const Environment& known,
               std::vector<EnvironmentView::Lock>& locks) {
  for (const auto& [platform, lock] : known.locks) {
    if (locks.size() >= kMaxEnvironmentPlatforms) return;
    locks.push_back({{platform, lock.tree},
                     lock.at,
                     state.node_name(lock.node),
                     visible(state, viewer, lock.attempt.job)});
  }
}

}  // namespace

EnvironmentName parse_environment_name(const std::string& reference) {
  if (const auto colon = reference.find(':'); colon != std::string::npos)
    return {reference.substr(0, colon), reference.substr(colon + 1)};
  constexpr std::string_view kLatest = "@latest";
  if (reference.ends_with(kLatest))
    return {reference.substr(0, reference.size() - kLatest.size()), ""};
  return {reference, ""};
}

EnvironmentView view_of(const State& state, const Viewer& viewer,
                        const EnvironmentVersion& version) {
  EnvironmentView view{version.environment,
                       version.at,
                       version.by,
                       version.definition,
                       {},
                       {},
                       version.project.empty() ? std::string(kDefaultProject) : version.project};
  if (const OwnedName* name =
          state.names().find(NameKind::environment, version.environment.spec.name)) {
    view.owner = name->owner;
    view.grants = name->grants;
  }
  view.archived = version.archived;
  std::uint64_t newest = 0;
  for (const EnvironmentId& id : state.environments_of(version.definition)) {
    if (!viewer.sees_locks_of(id.account)) continue;
    const Environment& known = *state.environment(id);
    if (id.family == 0) add_locks(state, viewer, known, view.locks);
    if (!known.jobs.empty()) newest = std::max(newest, *known.jobs.rbegin());
  }
  if (const auto job = state.submitted().find(newest); job != state.submitted().end())
    view.last_job = visible(state, viewer, job->second);
  return view;
}

ClientReply show_environment(const State& state, const std::string& reference,
                             const Viewer& viewer) {
  const EnvironmentName wanted = parse_environment_name(reference);
  const EnvironmentVersion* found = state.registered(wanted.name, wanted.version);
  if (found == nullptr) return no_such_environment(state, wanted);
  return EnvironmentReply{view_of(state, viewer, *found)};
}

ClientReply list_environments(const State& state, const std::string& name, const Viewer& viewer,
                              ArchivedToo archived) {
  const auto is_wanted = [&](const EnvironmentVersion& version) {
    return archived == ArchivedToo::yes || version.archived == (archived == ArchivedToo::only);
  };
  EnvironmentsReply reply;
  std::size_t bytes = 0;
  const auto add = [&](const EnvironmentVersion& version) {
    EnvironmentView view = view_of(state, viewer, version);
    bytes += rough_bytes(view);
    if (bytes > kMaxPageBytes) leave_out_content(view);
    reply.environments.push_back(std::move(view));
  };
  if (name.empty()) {
    for (const auto& [known, versions] : state.registered())
      if (viewer.sees(versions.back()))
        if (const EnvironmentVersion* newest = newest_of(state, known, versions, is_wanted))
          add(*newest);
    return reply;
  }
  const auto known = state.registered().find(name);
  if (known == state.registered().end() || !viewer.sees(known->second.back()))
    return no_such_environment(state, {name, ""});
  for (auto it = known->second.rbegin(); it != known->second.rend(); ++it)
    if (is_wanted(*it)) add(*it);
  return reply;
}

}  // namespace lockstep::launcher
