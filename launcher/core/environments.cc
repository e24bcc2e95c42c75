#include "launcher/core/environments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "common/base/cut.h"
#include "common/base/version.h"
#include "launcher/core/reactor.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxSaidBefore = 3;   // nodes, in a message
constexpr std::size_t kMaxSaidBytes = 300;  // of each

bool may_need_lock(const Part& part) {
  return part.assigned() && !part.ended() && !part.at_least(PartState::prepared);
}

// Whoever has not failed at it comes first.
bool is_before(const Environment& environment, const Part& part, const Part& other) {
  const bool failed = could_not_solve(environment, part);
  const bool other_failed = could_not_solve(environment, other);
  return failed != other_failed ? other_failed : part.asked < other.asked;
}

// The part of its last attempt that is the first to solve, if one of them may.
const Part* first_asking(const Environment& environment, const Job& job,
                         const std::string& platform) {
  if (job.phase != Job::Phase::placed || job.cancel_by) return nullptr;
  const Attempt& attempt = job.attempts.back();
  if (attempt.doomed || attempt.ended) return nullptr;
  const Part* first = nullptr;
  for (const Part& part : attempt.parts) {
    if (!may_need_lock(part) || part.wants_lock != platform) continue;
    if (could_not_solve(environment, part) && others_may_solve(environment, attempt, part))
      continue;
    if (first == nullptr || is_before(environment, part, *first)) first = &part;
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
    const Part* part = first_asking(*environment, job, platform);
    if (part == nullptr || (first != nullptr && !is_before(*environment, *part, *first))) continue;
    first = part;
    const Attempt& attempt = job.attempts.back();
    solver = Solver{attempt.id, static_cast<int>(part - attempt.parts.data())};
  }
  return solver;
}

bool could_not_solve(const Environment& environment, const Part& part) {
  return part.not_solved && part.not_solved->generation == environment.generation &&
         part.not_solved->platform == part.wants_lock;
}

bool others_may_solve(const Environment& environment, const Attempt& attempt, const Part& part) {
  return std::any_of(attempt.parts.begin(), attempt.parts.end(), [&](const Part& other) {
    if (&other == &part || !may_need_lock(other)) return false;
    return other.wants_lock.empty() ||
           (other.wants_lock == part.wants_lock && !could_not_solve(environment, other));
  });
}

std::string said_before(const State& state, const Attempt& attempt, const Part& part) {
  const Job& job = *state.job(attempt.id.job);
  if (!job.environment || part.wants_lock.empty()) return "";
  const Environment& environment = *state.environment(*job.environment);
  if (environment.locks.count(part.wants_lock) != 0) return "";
  std::string text;
  std::size_t said = 0;
  for (const Part& other : attempt.parts) {
    if (&other == &part || other.wants_lock != part.wants_lock ||
        !could_not_solve(environment, other) || ++said > kMaxSaidBefore)
      continue;
    text += fmt::format("; node {} said before: {}", state.node_name(other.node),
                        cut(other.not_solved->why, kMaxSaidBytes));
  }
  if (said > kMaxSaidBefore) text += fmt::format("; and {} more", said - kMaxSaidBefore);
  return text;
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
  plan.others_may_solve = plan.solve && others_may_solve(environment, attempt, part);
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
  const bool asks = news.step == Step::wants_lock || news.step == Step::not_solved;
  if (asks && part->wants_lock != news.platform)
    emit(EnvironmentWanted{report.attempt, node, news.platform});
  const Environment& environment = *state_.environment(*job.environment);
  const bool is_known = part->not_solved && part->not_solved->generation == news.generation &&
                        part->not_solved->platform == news.platform;
  if (news.step == Step::not_solved && environment.generation == news.generation && !is_known)
    emit(EnvironmentNotSolved{report.attempt, node, news.generation, news.platform,
                              cut(news.how, kMaxNotSolvedBytes)});
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
