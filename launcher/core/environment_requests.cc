#include "launcher/core/environment_requests.h"

#include <fmt/format.h>
#include <algorithm>

#include "launcher/core/users.h"

namespace lockstep::launcher {

namespace {

// The next number that no version has.
std::string next_version(const std::vector<EnvironmentVersion>* versions) {
  std::uint64_t highest = 0;
  if (versions != nullptr)
    for (const EnvironmentVersion& known : *versions) {
      const std::string& version = known.environment.spec.version;
      const bool digits = !version.empty() && version.size() < 19 &&
                          version.find_first_not_of("0123456789") == std::string::npos;
      if (digits) highest = std::max<std::uint64_t>(highest, std::stoull(version));
    }
  return std::to_string(highest + 1);
}

// Names are unique in the launcher, so that NAME@latest means one thing in every project. Of a name
// that somebody may not see they learn only that it is taken.
std::optional<Error> not_for_this_project(const State& state, const CreateEnvironmentInput& input,
                                          const EnvironmentVersion& known) {
  const std::string& name = known.environment.spec.name;
  if (!may_see(state.principals(), input.caller, known))
    return make_error(ErrorCode::permission_denied,
                      fmt::format("the name '{}' is taken: names of environments are unique in "
                                  "the launcher; choose another with --name",
                                  name));
  const std::string project = known.project.empty() ? std::string(kDefaultProject) : known.project;
  if (input.project.empty() || input.project == project) return std::nullopt;
  return make_error(ErrorCode::conflict,
                    fmt::format("environment '{}' belongs to project {} and cannot move to another "
                                "one; leave --project {} out, or choose another name with --name",
                                name, project, input.project));
}

// False: refused. `project`: of the name if it is new.
bool may_write_name(Context& core, const CreateEnvironmentInput& input,
                    const EnvironmentVersion* known, const std::string& project) {
  const Principals& principals = core.state.principals();
  const bool is_seen = known != nullptr && may_see(principals, input.caller, *known);
  const Object object = is_seen ? object_of(*known) : Object{"", project};
  if (!permitted(core, input.reply, input.caller, Permission::write_names, object)) return false;
  if (known != nullptr) {
    const auto error = not_for_this_project(core.state, input, *known);
    if (error) core.refuse(input.reply, error->code, error->message);
    return !error;
  }
  if (principals.has_project(project)) return true;
  core.refuse(
      input.reply, ErrorCode::not_found,
      fmt::format("there is no project '{}'; `lockstep project list` shows yours", project));
  return false;
}

}  // namespace

std::string project_of_new(const Principals& principals, const Caller& caller,
                           const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::string only;
  if (const auto* attempt = std::get_if<AttemptCaller>(&caller)) only = attempt->project;
  const auto* asker = std::get_if<UserCaller>(&caller);
  const User* user = asker != nullptr ? principals.user(asker->name) : nullptr;
  if (user == nullptr) return only.empty() ? std::string(kDefaultProject) : only;
  for (const Grant& grant : user->grants) {
    if (grant.role != Role::submitter) continue;
    if (!only.empty()) return std::string(kDefaultProject);
    only = grant.project;
  }
  return only.empty() ? std::string(kDefaultProject) : only;
}

Object object_of(const EnvironmentVersion& version) { return {"", version.project, false, {}}; }

bool may_see(const Principals& principals, const Caller& caller,
             const EnvironmentVersion& version) {
  return is_allowed(principals, caller, Permission::see_names, object_of(version));
}

bool sees_context(const State& state, const Caller& caller, const Digest& tree) {
  const auto is_built_from_it = [&](const EnvironmentVersion& version) {
    const Digest* context = context_of(version.environment.spec.definition);
    return context != nullptr && *context == tree;
  };
  return std::any_of(state.registered().begin(), state.registered().end(), [&](const auto& name) {
    const std::vector<EnvironmentVersion>& versions = name.second;
    return may_see(state.principals(), caller, versions.front()) &&
           std::any_of(versions.begin(), versions.end(), is_built_from_it);
  });
}

void react(Context& core, const CreateEnvironmentInput& input) {
  RegisteredEnvironment environment = input.environment;
  EnvironmentSpec& spec = environment.spec;
  if (spec.name.empty())
    return core.refuse(input.reply, ErrorCode::invalid_argument,
                       "environment.name: an environment that is registered needs a name");
  if (const Status valid = validate(spec); !valid)
    return core.refuse(input.reply, valid.error().code, valid.error().message);
  const EnvironmentVersion* newest = core.state.registered(spec.name, "");
  const std::string project = project_of_new(core.state.principals(), input.caller, input.project);
  if (!may_write_name(core, input, newest, project)) return;
  const Digest definition = digest_of(spec.definition);
  // Asked again, because the answer was lost: it is the newest, and no further one is made.
  if (spec.version.empty() && newest != nullptr && newest->definition == definition)
    spec.version = newest->environment.spec.version;
  const auto known = core.state.registered().find(spec.name);
  if (spec.version.empty())
    spec.version = next_version(known == core.state.registered().end() ? nullptr : &known->second);
  if (const EnvironmentVersion* same = core.state.registered(spec.name, spec.version)) {
    if (same->definition != definition)
      return core.refuse(
          input.reply, ErrorCode::already_exists,
          fmt::format(
              "environment {}:{} already exists with another definition, and a version cannot be "
              "changed; choose another version, or leave the version out to get the next one",
              spec.name, spec.version));
  } else {
    core.emit(EnvironmentRegistered{environment, name_of(input.caller),
                                    newest != nullptr ? newest->project : project});
  }
  core.act(ReplyEnvironment{input.reply, spec.name, spec.version});
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
    core.emit(
        EnvironmentReset{id->definition, static_cast<std::uint64_t>(core.now.ns), by, id->account});
}

}  // namespace lockstep::launcher
