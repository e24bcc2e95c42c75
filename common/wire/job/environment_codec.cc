#include "common/wire/job/environment_codec.h"

#include "common/base/match.h"
#include "common/wire/data/name_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

namespace {

using Step = lockstep::EnvironmentReport::Step;

static_assert(is_wire_of(Step::wants_lock, ENVIRONMENT_STEP_WANTS_LOCK));
static_assert(is_wire_of(Step::solved, ENVIRONMENT_STEP_SOLVED));
static_assert(is_wire_of(Step::ready, ENVIRONMENT_STEP_READY));
static_assert(is_wire_of(Step::not_solved, ENVIRONMENT_STEP_NOT_SOLVED));

constexpr std::size_t kMaxTags = 1'000;
constexpr std::size_t kMaxEnvironmentsInReply = 100'000;

void write_conda(const lockstep::CondaEnvironment& from, CondaEnvironment* to) {
  write_texts(from.channels, to->mutable_channels());
  to->set_strict_priority(from.strict_priority);
  write_texts(from.dependencies, to->mutable_dependencies());
  for (const auto& [platform, packages] : from.locked) {
    auto* wire = to->add_locked();
    wire->set_platform(platform);
    write_texts(packages, wire->mutable_packages());
  }
  write_texts(from.options, to->mutable_options());
  write_texts(from.requirements, to->mutable_requirements());
  write_texts(from.constraints, to->mutable_constraints());
  write_map(from.variables, to->mutable_variables());
}

// One list of a definition.
Status read_lines(const TextList& from, const char* field, std::vector<std::string>* to) {
  return read_texts(from, kMaxEnvironmentLines, field, to);
}

Status read_venv(const VenvEnvironment& from, lockstep::VenvEnvironment* to) {
  TRY(read_text(from.python(), "environment.python", &to->python));
  TRY(read_lines(from.options(), "environment.options", &to->options));
  TRY(read_lines(from.requirements(), "environment.requirements", &to->requirements));
  return read_lines(from.constraints(), "environment.constraints", &to->constraints);
}

Status read_conda(const CondaEnvironment& from, lockstep::CondaEnvironment* to) {
  TRY(read_lines(from.channels(), "environment.channels", &to->channels));
  to->strict_priority = from.strict_priority();
  TRY(read_lines(from.dependencies(), "environment.dependencies", &to->dependencies));
  TRY(check_count(from.locked_size(), kMaxEnvironmentPlatforms, "environment.locked"));
  for (const auto& wire : from.locked()) {
    std::string platform;
    TRY(read_text(wire.platform(), "environment.locked", &platform));
    TRY(read_lines(wire.packages(), "environment.locked", &to->locked[platform]));
  }
  TRY(read_lines(from.options(), "environment.options", &to->options));
  TRY(read_lines(from.requirements(), "environment.requirements", &to->requirements));
  TRY(read_lines(from.constraints(), "environment.constraints", &to->constraints));
  return read_map(from.variables(), kMaxActivationEntries, "environment.variables", &to->variables);
}

void write_docker(const lockstep::DockerEnvironment& from, DockerEnvironment* to) {
  to->set_image(from.image);
  if (from.build) {
    to->mutable_build()->set_context(std::string(from.build->context.view()));
    to->mutable_build()->set_dockerfile(from.build->dockerfile);
  }
  if (from.conda) write_conda(*from.conda, to->mutable_conda());
}

Status read_docker(const DockerEnvironment& from, lockstep::DockerEnvironment* to) {
  TRY(read_text(from.image(), "environment.image", &to->image));
  if (from.has_build()) {
    auto& build = to->build.emplace();
    TRY(read_digest(from.build().context(), "environment.build.context", &build.context));
    TRY(read_text(from.build().dockerfile(), "environment.build.dockerfile", &build.dockerfile));
  }
  if (from.has_conda()) TRY(read_conda(from.conda(), &to->conda.emplace()));
  return {};
}

}  // namespace

void to_wire(const lockstep::EnvironmentSpec& from, EnvironmentSpec* to) {
  to->set_name(from.name);
  to->set_version(from.version);
  std::visit(Match{[to](const lockstep::HostEnvironment& host) {
                     to->mutable_host()->set_interpreter(host.interpreter);
                   },
                   [to](const lockstep::VenvEnvironment& venv) {
                     auto* wire = to->mutable_venv();
                     wire->set_python(venv.python);
                     write_texts(venv.options, wire->mutable_options());
                     write_texts(venv.requirements, wire->mutable_requirements());
                     write_texts(venv.constraints, wire->mutable_constraints());
                   },
                   [to](const lockstep::DockerEnvironment& docker) {
                     write_docker(docker, to->mutable_docker());
                   },
                   [to](const lockstep::CondaEnvironment& conda) {
                     write_conda(conda, to->mutable_conda());
                   }},
             from.definition);
}

Status from_wire(const EnvironmentSpec& from, lockstep::EnvironmentSpec* to) {
  TRY(read_text(from.name(), "environment.name", &to->name));
  TRY(read_text(from.version(), "environment.version", &to->version));
  switch (from.definition_case()) {
    case EnvironmentSpec::kHost:
      return read_text(from.host().interpreter(), "environment.interpreter",
                       &to->definition.emplace<lockstep::HostEnvironment>().interpreter);
    case EnvironmentSpec::kVenv:
      return read_venv(from.venv(), &to->definition.emplace<lockstep::VenvEnvironment>());
    case EnvironmentSpec::kConda:
      return read_conda(from.conda(), &to->definition.emplace<lockstep::CondaEnvironment>());
    case EnvironmentSpec::kDocker:
      return read_docker(from.docker(), &to->definition.emplace<lockstep::DockerEnvironment>());
    case EnvironmentSpec::DEFINITION_NOT_SET: break;
  }
  return bad_field("environment", "is of a kind that this version does not know");
}

void to_wire(const lockstep::RegisteredEnvironment& from, RegisteredEnvironment* to) {
  to_wire(from.spec, to->mutable_spec());
  to->set_description(from.description);
  write_map(from.tags, to->mutable_tags());
}

Status from_wire(const RegisteredEnvironment& from, lockstep::RegisteredEnvironment* to) {
  TRY(from_wire(from.spec(), &to->spec));
  TRY(read_text(from.description(), "environment.description", &to->description));
  return read_map(from.tags(), kMaxTags, "environment.tags", &to->tags);
}

void to_wire(const lockstep::EnvironmentLock& from, EnvironmentLock* to) {
  to->set_platform(from.platform);
  to->set_tree(std::string(from.tree.view()));
}

Status from_wire(const EnvironmentLock& from, lockstep::EnvironmentLock* to) {
  TRY(read_text(from.platform(), "lock.platform", &to->platform));
  return read_digest(from.tree(), "lock.tree", &to->tree);
}

void to_wire(const lockstep::EnvironmentPlan& from, EnvironmentPlan* to) {
  to->set_generation(from.generation);
  write_list(from.locks, to->mutable_locks());
  to->set_solve(from.solve);
  write_texts(from.virtual_packages, to->mutable_virtual_packages());
  to->set_share(from.share);
  to->set_others_may_solve(from.others_may_solve);
}

Status from_wire(const EnvironmentPlan& from, lockstep::EnvironmentPlan* to) {
  to->generation = from.generation();
  to->solve = from.solve();
  to->share = from.share();
  to->others_may_solve = from.others_may_solve();
  TRY(read_texts(from.virtual_packages(), kMaxVirtualPackages, "environment.virtual_packages",
                 &to->virtual_packages));
  return read_list(from.locks(), kMaxEnvironmentPlatforms, "environment.locks", &to->locks);
}

void to_wire(const lockstep::EnvironmentReport& from, EnvironmentReport* to) {
  to->set_step(wire_enum<EnvironmentStep>(from.step));
  to->set_platform(from.platform);
  if (from.lock) to->set_lock(std::string(from.lock->view()));
  to->set_key(std::string(from.key.view()));
  to->set_how(fitting_text(from.how));
  to->set_generation(from.generation);
  if (from.why) to_wire(from.why, to->mutable_why_data());
}

Status from_wire(const EnvironmentReport& from, lockstep::EnvironmentReport* to) {
  to->generation = from.generation();
  TRY(read_enum(from.step(), Step::not_solved, "environment.step", &to->step));
  TRY(read_text(from.platform(), "environment.platform", &to->platform));
  if (from.has_lock()) TRY(read_digest(from.lock(), "environment.lock", &to->lock.emplace()));
  TRY(read_digest(from.key(), "environment.key", &to->key));
  TRY(read_text(from.how(), "environment.how", &to->how));
  return read_why(to->step == Step::not_solved ? to->how : "", from.has_why_data(), from.why_data(),
                  "environment.how", &to->why);
}

void to_wire(const lockstep::Container& from, Container* to) {
  to->set_engine(from.engine);
  to->set_is_podman(from.is_podman);
  to->set_is_rootless(from.is_rootless);
  to->set_image(from.image);
  to->set_shell(from.shell);
  to->set_limits_memory(from.limits_memory);
  to->set_unlimited_memlock(from.unlimited_memlock);
  to->set_memlock_is_unlimited(from.memlock_is_unlimited);
  to->set_gpus(from.gpus);
  write_map(from.variables, to->mutable_variables());
}

Status from_wire(const Container& from, lockstep::Container* to) {
  TRY(read_text(from.engine(), "container.engine", &to->engine));
  TRY(read_text(from.image(), "container.image", &to->image));
  TRY(read_text(from.shell(), "container.shell", &to->shell));
  TRY(read_text(from.gpus(), "container.gpus", &to->gpus));
  to->is_podman = from.is_podman();
  to->is_rootless = from.is_rootless();
  to->limits_memory = from.limits_memory();
  to->unlimited_memlock = from.unlimited_memlock();
  to->memlock_is_unlimited = from.memlock_is_unlimited();
  return read_map(from.variables(), kMaxActivationEntries, "container.variables", &to->variables);
}

void to_wire(const lockstep::Activation& from, Activation* to) {
  to->set_interpreter(from.interpreter);
  to->set_version(from.version);
  write_texts(from.path, to->mutable_path());
  write_map(from.variables, to->mutable_variables());
  if (from.container) to_wire(*from.container, to->mutable_container());
}

Status from_wire(const Activation& from, lockstep::Activation* to) {
  TRY(read_text(from.interpreter(), "activation.interpreter", &to->interpreter));
  TRY(read_text(from.version(), "activation.version", &to->version));
  TRY(read_texts(from.path(), kMaxActivationEntries, "activation.path", &to->path));
  if (from.has_container()) TRY(from_wire(from.container(), &to->container.emplace()));
  return read_map(from.variables(), kMaxActivationEntries, "activation.variables", &to->variables);
}

void to_wire(const lockstep::EnvironmentView& from, EnvironmentView* to) {
  to_wire(from.environment, to->mutable_environment());
  to->set_created_ns(from.created.ns);
  to->set_created_by(from.created_by);
  to->set_definition(std::string(from.definition.view()));
  for (const auto& lock : from.locks) {
    auto* wire = to->add_locks();
    to_wire(lock.lock, wire->mutable_lock());
    wire->set_solved_ns(lock.solved.ns);
    wire->set_node_name(lock.node_name);
    wire->set_job(lock.job.value);
  }
  to->set_last_job(from.last_job.value);
  to->set_project(from.project);
  to->set_owner(from.owner);
  to_wire(from.grants, to->mutable_grants());
  to->set_archived(from.archived);
}

Status from_wire(const EnvironmentView& from, lockstep::EnvironmentView* to) {
  TRY(from_wire(from.environment(), &to->environment));
  TRY(read_instant(from.created_ns(), "environment.created", &to->created));
  TRY(read_text(from.created_by(), "environment.created_by", &to->created_by));
  TRY(read_digest(from.definition(), "environment.definition", &to->definition));
  TRY(check_count(from.locks_size(), kMaxEnvironmentPlatforms, "environment.locks"));
  for (const auto& wire : from.locks()) {
    auto& lock = to->locks.emplace_back();
    TRY(from_wire(wire.lock(), &lock.lock));
    TRY(read_instant(wire.solved_ns(), "lock.solved", &lock.solved));
    TRY(read_text(wire.node_name(), "lock.node_name", &lock.node_name));
    TRY(read_text(wire.job(), "lock.job", &lock.job.value, 1'024));
  }
  TRY(read_text(from.project(), "environment.project", &to->project, 256));
  TRY(read_text(from.owner(), "environment.owner", &to->owner, 256));
  TRY(from_wire(from.grants(), &to->grants));
  to->archived = from.archived();
  return read_text(from.last_job(), "environment.last_job", &to->last_job.value, 1'024);
}

void to_wire(const lockstep::CreateEnvironment& from, CreateEnvironment* to) {
  to_wire(from.environment, to->mutable_environment());
  to->set_project(from.project);
}
Status from_wire(const CreateEnvironment& from, lockstep::CreateEnvironment* to) {
  TRY(read_text(from.project(), "project", &to->project, 256));
  return from_wire(from.environment(), &to->environment);
}

void to_wire(const lockstep::ShowEnvironment& from, ShowEnvironment* to) {
  to->set_reference(from.reference);
}
Status from_wire(const ShowEnvironment& from, lockstep::ShowEnvironment* to) {
  return read_text(from.reference(), "reference", &to->reference);
}

void to_wire(const lockstep::ListEnvironments& from, ListEnvironments* to) {
  to->set_name(from.name);
  to->set_archived(wire_enum<ArchivedToo>(from.archived));
}
Status from_wire(const ListEnvironments& from, lockstep::ListEnvironments* to) {
  if (from.archived() != ARCHIVED_TOO_UNSPECIFIED)
    TRY(read_enum(from.archived(), lockstep::ArchivedToo::only, "archived", &to->archived));
  return read_text(from.name(), "name", &to->name);
}

void to_wire(const lockstep::ArchiveEnvironment& from, ArchiveEnvironment* to) {
  to->set_name(from.name);
  to->set_version(from.version);
  to->set_archived(from.archived);
}
Status from_wire(const ArchiveEnvironment& from, lockstep::ArchiveEnvironment* to) {
  TRY(read_text(from.name(), "name", &to->name));
  to->archived = from.archived();
  return read_text(from.version(), "version", &to->version);
}

void to_wire(const lockstep::PruneEnvironments& from, PruneEnvironments* to) {
  to->set_unused_for_ns(from.unused_for.count());
}
Status from_wire(const PruneEnvironments& from, lockstep::PruneEnvironments* to) {
  return read_duration(from.unused_for_ns(), "unused_for", &to->unused_for);
}

void to_wire(const lockstep::EnvironmentReply& from, EnvironmentReply* to) {
  to_wire(from.environment, to->mutable_environment());
}
Status from_wire(const EnvironmentReply& from, lockstep::EnvironmentReply* to) {
  return from_wire(from.environment(), &to->environment);
}

void to_wire(const lockstep::EnvironmentsReply& from, EnvironmentsReply* to) {
  write_list(from.environments, to->mutable_environments());
}
Status from_wire(const EnvironmentsReply& from, lockstep::EnvironmentsReply* to) {
  return read_list(from.environments(), kMaxEnvironmentsInReply, "environments", &to->environments);
}

}  // namespace lockstep::pb
