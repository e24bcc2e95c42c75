#include "launcher/core/placement/machine_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/placement.h"
#include "common/grammar/slurm_time.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kLeastNotice = seconds(15), kMostNotice = seconds(60);
// The end is measured by the clock of another machine, and a loss is noticed late.
constexpr Duration kAboutTheEnd = seconds(30);

const Machine* machine_of(const State& state, const Node& node) {
  const Machine* machine = state.computes().find_machine(node.pool, node.machine);
  return machine == nullptr || machine->ends == Instant() ? nullptr : machine;
}

// The provider setting that limits how long a machine lives; null: there is none.
const char* setting_of_lifetime(NodeSource source) {
  switch (source) {
    case NodeSource::slurm: return "time";
    case NodeSource::kubernetes: return "active_deadline_seconds";
    case NodeSource::none:
    case NodeSource::join:
    case NodeSource::ssh:
    case NodeSource::docker:
    case NodeSource::command: break;
  }
  return nullptr;
}

// Reads a positive whole number of seconds; nullopt: the text is something else, which the provider
// will refuse.
std::optional<Duration> whole_seconds(const std::string& text) {
  constexpr std::int64_t kMost = std::int64_t{10} * 366 * 86'400;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_good = read.ec == std::errc() && read.ptr == text.data() + text.size() &&
                       number > 0 && number <= kMost;
  return is_good ? std::optional<Duration>(seconds(number)) : std::nullopt;
}

// Whether the machine's agent joined only a short time ago. A job that may run for nearly the whole
// life of a machine accepts such a machine: joining takes some time, and the next machine would not
// have more left.
bool has_just_joined(const Node& node, const Machine& machine, Instant now) {
  return now - node.joined <= std::min<Duration>(machine.lifetime / 8, minutes(2));
}

}  // namespace

std::optional<Duration> lifetime_of_new(const Compute& compute) {
  if (compute.lifetime != Duration(0)) return compute.lifetime;
  const char* key = setting_of_lifetime(compute.spec.source);
  const auto said = key == nullptr ? compute.spec.settings.end() : compute.spec.settings.find(key);
  if (said == compute.spec.settings.end() || said->second.empty()) return std::nullopt;
  const auto limit = compute.spec.source == NodeSource::slurm
                         ? parse_slurm_time(said->second.front())
                         : whole_seconds(said->second.front());
  return limit && *limit > Duration(0) ? limit : std::nullopt;  // 0: no limit
}

Why ends_before(const Cluster& cluster, const Node& node, const Shape& shape) {
  if (!shape.lasts || node.machine.empty()) return {};
  const Machine* machine = machine_of(cluster.state, node);
  if (machine == nullptr || cluster.now + *shape.lasts <= machine->ends) return {};
  const bool would_fit = *shape.lasts <= machine->lifetime;
  if (would_fit && has_just_joined(node, *machine, cluster.now)) return {};
  const Duration left = std::max<Duration>(machine->ends - cluster.now, Duration(0));
  return MachineEndsBeforeJob{std::chrono::floor<seconds>(left), *shape.lasts};
}

Why outlives_machines(const Compute& compute, const std::optional<Duration>& lasts) {
  const auto lifetime = lifetime_of_new(compute);
  if (!lasts || !lifetime || *lasts <= *lifetime) return {};
  JobOutlivesMachines reason{compute.spec.name, *lasts, *lifetime, "", false};
  const NodeSource source = compute.spec.source;
  if (const char* key = setting_of_lifetime(source); key != nullptr) {
    reason.setting = fmt::format("lockstep.{}.{}", to_string(source), key);
    reason.in_seconds = source != NodeSource::slurm;
  }
  return reason;
}

Duration ended_with_machine(const State& state, NodeId id, Instant at) {
  const Node* node = state.node(id);
  const Machine* machine = node == nullptr ? nullptr : machine_of(state, *node);
  if (machine == nullptr || at + kAboutTheEnd < machine->ends) return Duration(0);
  return machine->lifetime;
}

Duration notice_before_end(Duration lifetime) {
  return std::clamp<Duration>(lifetime / 20, kLeastNotice, kMostNotice);
}

Instant next_end(const Compute& compute, Instant now) {
  Instant next = Instant::never();
  for (const auto& [name, machine] : compute.machines) {
    if (machine.ends == Instant() || !machine.is_created()) continue;
    const Instant due = machine.ends - notice_before_end(machine.lifetime);
    if (due > now) next = std::min(next, due);
  }
  return next;
}

}  // namespace lockstep::launcher
