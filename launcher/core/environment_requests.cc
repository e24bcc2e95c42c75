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

}  // namespace

void react(Context& core, const CreateEnvironmentInput& input) {
  RegisteredEnvironment environment = input.environment;
  EnvironmentSpec& spec = environment.spec;
  if (spec.name.empty())
    return core.refuse(input.reply, ErrorCode::invalid_argument,
                       "environment.name: an environment that is registered needs a name");
  if (const Status valid = validate(spec); !valid)
    return core.refuse(input.reply, valid.error().code, valid.error().message);
  const EnvironmentVersion* newest = core.state.registered(spec.name, "");
  const Object name{newest == nullptr ? name_of(input.caller) : newest->owner,
                    newest == nullptr ? input.project : newest->project};
  if (!permitted(core, input.reply, input.caller, Permission::write_names, name)) return;
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
          fmt::format("environment {}:{} exists already and is another definition; a "
                      "version never changes: choose another version, or leave it out "
                      "to get the next one",
                      spec.name, spec.version));
  } else {
    core.emit(EnvironmentRegistered{environment, name_of(input.caller), name.project});
  }
  core.act(ReplyEnvironment{input.reply, spec.name, spec.version});
}

void react(Context& core, const PruneEnvironmentsInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::prune_environments)) return;
  core.emit(EnvironmentsPruned{core.now - input.unused_for, name_of(input.caller)});
  core.act(
      ReplyDone{input.reply,
                fmt::format("nodes remove the environments that were not used for {}; those that "
                            "are away do when they are back",
                            format_duration(input.unused_for))});
}

void rebuild_environment(Context& core, const JobId& job, const std::string& by) {
  if (const auto& definition = core.state.job(job)->environment)
    core.emit(EnvironmentReset{*definition, static_cast<std::uint64_t>(core.now.ns), by});
}

}  // namespace lockstep::launcher
