#include "launcher/core/names/environment_requests.h"

#include <fmt/format.h>
#include <algorithm>

#include "launcher/core/access/users.h"
#include "launcher/core/names/name_requests.h"
#include "launcher/core/names/objects.h"

namespace lockstep::launcher {

void react(Context& core, const CreateEnvironmentInput& input) {
  RegisteredEnvironment environment = input.environment;
  EnvironmentSpec& spec = environment.spec;
  if (spec.name.empty())
    return core.refuse(input.reply, ErrorCode::invalid_argument,
                       "environment.name: an environment that is registered needs a name");
  if (const Status valid = validate(spec); !valid)
    return core.refuse(input.reply, valid.error().code, valid.error().message);
  const NameKey key{NameKind::environment, spec.name};
  const OwnedName* known = core.state.names().find(key.kind, key.name);
  std::string project = project_of_new(core.state.principals(), input.caller, input.project);
  if (auto error = why_not_registered(core.state, input.caller, key, input.project, project))
    return core.refuse(input.reply, error->code, std::move(error->message));
  if (known != nullptr) project = known->project;
  const EnvironmentVersion* newest = core.state.registered(spec.name, "");
  const Digest definition = digest_of(spec.definition);
  // The client asks again because the answer was lost: the newest version has this definition
  // already.
  if (spec.version.empty() && newest != nullptr && newest->definition == definition)
    spec.version = newest->environment.spec.version;
  if (spec.version.empty()) spec.version = next_version(core.state, key);
  const EnvironmentVersion* same = core.state.registered(spec.name, spec.version);
  if (same != nullptr && same->definition != definition)
    return core.refuse(
        input.reply, ErrorCode::already_exists,
        fmt::format(
            "environment {}:{} already exists with another definition, and a version cannot be "
            "changed; choose another version, or leave the version out to get the next one",
            spec.name, spec.version));
  ReplyEnvironment reply{input.reply, spec.name, spec.version};
  if (same == nullptr) {
    const std::int64_t bytes = version_bytes(environment);
    const Bytes files = counted_files(input.files);
    if (auto error = why_no_room(core.cluster(), input.caller, key, project, bytes, files))
      return core.refuse(input.reply, error->code, std::move(error->message));
    const std::string by = name_of(input.caller);
    core.emit(EnvironmentRegistered{std::move(environment), by, project,
                                    known != nullptr ? known->owner : by, false, files});
  }
  core.act(std::move(reply));
}

void react(Context& core, const ArchiveEnvironmentInput& input) {
  const ArchiveEnvironment& ask = input.ask;
  const NameKey key{NameKind::environment, ask.name};
  const OwnedName* name = name_to_manage(core, input.reply, input.caller, key);
  if (name == nullptr || !expect_version(core, input.reply, key, ask.version)) return;
  const auto& registered = core.state.registered();
  const auto known = registered.find(ask.name);
  const auto is_other = [&](const EnvironmentVersion& one) {
    return one.archived != ask.archived &&
           (ask.version.empty() || one.environment.spec.version == ask.version);
  };
  const bool changes = known != registered.end() &&
                       std::any_of(known->second.begin(), known->second.end(), is_other);
  const std::string what = ask.version.empty()
                               ? fmt::format("all versions of environment {}", ask.name)
                               : fmt::format("environment {}:{}", ask.name, ask.version);
  if (!changes)
    return core.act(ReplyDone{
        input.reply, fmt::format("{}: already {}archived", what, ask.archived ? "" : "not ")});
  core.emit(EnvironmentArchived{ask.name, ask.version, ask.archived});
  core.act(ReplyDone{input.reply, fmt::format("{}: {}", what,
                                              ask.archived ? "archived; jobs that name a version "
                                                             "still get it"
                                                           : "restored")});
}

void react(Context& core, const PruneEnvironmentsInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::prune_environments)) return;
  core.emit(EnvironmentsPruned{core.now - input.unused_for, name_of(input.caller)});
  core.act(ReplyDone{input.reply, fmt::format("nodes remove the environments that were not used "
                                              "for {}; disconnected nodes do so when they are back",
                                              format_duration(input.unused_for))});
}

void rebuild_environment(Context& core, const JobId& job, const std::string& by) {
  if (const auto& id = core.state.job(job)->environment)
    core.emit(EnvironmentReset{id->definition, static_cast<std::uint64_t>(core.now.ns), by,
                               id->account, id->family});
}

void inherit_locks(Context& core, const JobId& job) {
  const auto& id = core.state.job(job)->environment;
  if (!id || id->family == 0 || !core.state.environment(*id)->locks.empty()) return;
  const Environment* accounts = core.state.environment({id->definition, id->account});
  if (accounts == nullptr) return;
  const auto locks = accounts->locks;
  for (const auto& [platform, lock] : locks)
    core.emit(EnvironmentLocked{id->definition,
                                accounts->generation,
                                {platform, lock.tree},
                                lock.attempt,
                                lock.node,
                                id->account,
                                id->family});
}

void drop_locks_of(Context& core, NodeId node, const std::string& by) {
  std::vector<EnvironmentId> solved;
  for (const auto& [id, environment] : core.state.environments())
    if (std::any_of(environment.locks.begin(), environment.locks.end(),
                    [&](const auto& lock) { return lock.second.node == node; }))
      solved.push_back(id);
  for (const EnvironmentId& id : solved)
    core.emit(EnvironmentReset{id.definition, static_cast<std::uint64_t>(core.now.ns), by,
                               id.account, id.family});
}

}  // namespace lockstep::launcher
