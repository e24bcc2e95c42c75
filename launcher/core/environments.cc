#include "launcher/core/environments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "common/base/version.h"
#include "launcher/core/reactor.h"

namespace lockstep::launcher {

namespace {

// The part of its last attempt that asked first, if it may still solve.
const Part* first_asking(const Job& job, const std::string& platform) {
  if (job.phase != Job::Phase::placed || job.cancel_by) return nullptr;
  const Attempt& attempt = job.attempts.back();
  if (attempt.doomed || attempt.ended) return nullptr;
  const Part* first = nullptr;
  for (const Part& part : attempt.parts) {
    const bool asks = part.assigned() && !part.ended() && !part.at_least(PartState::prepared) &&
                      part.wants_lock == platform;
    if (asks && (first == nullptr || part.asked < first->asked)) first = &part;
  }
  return first;
}

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

struct VirtualPackage {
  std::string_view name;
  std::string Inventory::*version;
};
constexpr std::array<VirtualPackage, 2> kVirtualPackages{
    {{"__cuda", &Inventory::cuda}, {"__glibc", &Inventory::glibc}}};

bool has_nodes_elsewhere(const State& state) {
  const auto& nodes = state.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& entry) {
    return entry.second.inventory.host_id != nodes.begin()->second.inventory.host_id;
  });
}

// "": one of the nodes has none.
std::string lowest_of(const State& state, const std::vector<PartPlacement>& parts,
                      std::string Inventory::*version) {
  std::string lowest;
  for (const PartPlacement& part : parts) {
    const std::string& here = state.node(part.node)->inventory.*version;
    const auto numbers = version_numbers(here);
    if (!numbers) return "";
    if (lowest.empty() || *numbers < *version_numbers(lowest)) lowest = here;
  }
  return lowest;
}

}  // namespace

std::optional<Solver> solver_of(const State& state, const Digest& definition,
                                const std::string& platform) {
  const Environment* environment = state.environment(definition);
  if (environment == nullptr || environment->locks.count(platform) != 0) return std::nullopt;
  std::optional<Solver> solver;
  const Part* first = nullptr;
  for (const std::uint64_t order : environment->live) {
    const Job& job = *state.job(state.submitted().at(order));
    const Part* part = first_asking(job, platform);
    if (part == nullptr || (first != nullptr && first->asked <= part->asked)) continue;
    first = part;
    const Attempt& attempt = job.attempts.back();
    solver = Solver{attempt.id, static_cast<int>(part - attempt.parts.data())};
  }
  return solver;
}

bool has_asked(const Job& job) {
  if (!job.environment || job.attempts.empty()) return false;
  const std::vector<Part>& parts = job.attempts.back().parts;
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return !part.wants_lock.empty(); });
}

std::vector<std::string> virtual_packages_of(const State& state, const Job& job,
                                             const std::vector<PartPlacement>& parts) {
  const auto& environment = job.spec.environment;
  if (!environment) return {};
  const auto* docker = std::get_if<DockerEnvironment>(&environment->definition);
  const bool is_conda = std::holds_alternative<CondaEnvironment>(environment->definition);
  if (!is_conda && (docker == nullptr || !docker->conda)) return {};
  std::vector<std::string> all;
  for (const auto& [name, version] : kVirtualPackages)
    // In a container the C library is its image's.
    if (docker == nullptr || version != &Inventory::glibc)
      if (const std::string lowest = lowest_of(state, parts, version); !lowest.empty())
        all.push_back(fmt::format("{}={}", name, lowest));
  return all;
}

EnvironmentPlan plan_of(const State& state, const Job& job, const Attempt& attempt, int node_rank) {
  EnvironmentPlan plan;
  if (!job.environment) return plan;
  const Environment& environment = *state.environment(*job.environment);
  plan.generation = environment.generation;
  plan.virtual_packages = attempt.virtual_packages;
  for (const auto& [platform, lock] : environment.locks)
    plan.locks.push_back({platform, lock.tree});
  plan.share = has_nodes_elsewhere(state);
  const Part& part = attempt.parts[static_cast<std::size_t>(node_rank)];
  plan.solve = !part.wants_lock.empty() &&
               solver_of(state, *job.environment, part.wants_lock) == Solver{attempt.id, node_rank};
  return plan;
}

// ---- what nodes say -----------------------------------------------------------------------------

void Reactor::take_environment(NodeId node, const PartReport& report) {
  if (!report.environment) return;
  const EnvironmentReport& news = *report.environment;
  const Job& job = *state_.job(report.attempt.job);
  const Part* part = state_.assigned_part(report.attempt, node);
  if (!job.environment || part == nullptr || news.platform.empty()) return;
  using Step = EnvironmentReport::Step;
  if (news.step == Step::wants_lock && part->wants_lock != news.platform)
    emit(EnvironmentWanted{report.attempt, node, news.platform});
  const Environment& environment = *state_.environment(*job.environment);
  const bool is_first = environment.generation == news.generation &&
                        environment.locks.count(news.platform) == 0 &&
                        environment.locks.size() < kMaxEnvironmentPlatforms;
  if (news.step == Step::solved && news.lock && is_first)
    emit(EnvironmentLocked{
        *job.environment, news.generation, {news.platform, *news.lock}, report.attempt, node});
}

// ---- what people ask for ------------------------------------------------------------------------

void Reactor::on(const CreateEnvironmentInput& input) {
  RegisteredEnvironment environment = input.environment;
  EnvironmentSpec& spec = environment.spec;
  if (spec.name.empty())
    return refuse(input.reply, ErrorCode::invalid_argument,
                  "environment.name: an environment that is registered needs a name");
  if (const Status valid = validate(spec); !valid)
    return refuse(input.reply, valid.error().code, valid.error().message);
  const Digest definition = digest_of(spec.definition);
  // Asked again, because the answer was lost: it is the newest, and no further one is made.
  const EnvironmentVersion* newest = state_.registered(spec.name, "");
  if (spec.version.empty() && newest != nullptr && newest->definition == definition)
    spec.version = newest->environment.spec.version;
  const auto known = state_.registered().find(spec.name);
  if (spec.version.empty())
    spec.version = next_version(known == state_.registered().end() ? nullptr : &known->second);
  if (const EnvironmentVersion* same = state_.registered(spec.name, spec.version)) {
    if (same->definition != definition)
      return refuse(input.reply, ErrorCode::already_exists,
                    fmt::format("environment {}:{} exists already and is another definition; a "
                                "version never changes: choose another version, or leave it out "
                                "to get the next one",
                                spec.name, spec.version));
  } else {
    emit(EnvironmentRegistered{environment, input.by});
  }
  act(ReplyEnvironment{input.reply, spec.name, spec.version});
}

void Reactor::on(const PruneEnvironmentsInput& input) {
  emit(EnvironmentsPruned{now_ - input.unused_for, input.by});
  act(ReplyDone{input.reply,
                fmt::format("nodes remove the environments that were not used for {}; those that "
                            "are away do when they are back",
                            format_duration(input.unused_for))});
}

void Reactor::rebuild_environment(const JobId& job, const std::string& by) {
  if (const auto& definition = state_.job(job)->environment)
    emit(EnvironmentReset{*definition, static_cast<std::uint64_t>(now_.ns), by});
}

}  // namespace lockstep::launcher
