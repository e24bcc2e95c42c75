#include "launcher/core/queue/quotas.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/placement/new_machines.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/words/quota_nouns.h"

namespace lockstep::launcher {
namespace {

constexpr QuotaLimit kHeld[] = {QuotaLimit::running_jobs, QuotaLimit::nodes, QuotaLimit::cpus,
                                QuotaLimit::gpus};

std::uint64_t amount_of(const Demand& demand, QuotaLimit limit) {
  std::int64_t value = 0;
  switch (limit) {
    case QuotaLimit::running_jobs: value = 1; break;
    case QuotaLimit::nodes: value = demand.nodes; break;
    case QuotaLimit::cpus: value = demand.cpus; break;
    case QuotaLimit::gpus: value = demand.gpus; break;
    case QuotaLimit::queued_jobs:
    case QuotaLimit::snapshot_bytes:
    case QuotaLimit::spec_bytes:
    case QuotaLimit::versions:
    case QuotaLimit::version_bytes:
    case QuotaLimit::version_files:
    case QuotaLimit::job_files:
    case QuotaLimit::kept_jobs: break;
  }
  return static_cast<std::uint64_t>(value);
}

// The least that any of the nodes would give of a resource for which no number was asked.
template <typename CountOf>
std::int64_t least_of_nodes(PoolNodes nodes, CountOf count_of) {
  std::optional<std::size_t> least;
  for (const Node& node : nodes)
    if (node.session && !node.lost)
      least = std::min(least.value_or(SIZE_MAX), count_of(node.inventory));
  return static_cast<std::int64_t>(least.value_or(0));
}

// The quota that was set for the holder. Defaults are left out, because they limit submissions
// only.
std::optional<std::uint64_t> set_limit(const State& state, const QuotaHolder& holder,
                                       QuotaLimit limit) {
  const auto quota = state.principals().quotas().find(holder);
  if (quota == state.principals().quotas().end()) return std::nullopt;
  const auto value = quota->second.find(limit);
  if (value == quota->second.end()) return std::nullopt;
  return value->second;
}

std::string who_may_change(const QuotaHolder& holder, QuotaLimit limit) {
  return fmt::format("; an admin may raise it with `lockstep quota set --{} {} --{} {}`",
                     to_string(holder.kind), holder.name, to_string(limit),
                     is_in_bytes(limit) ? "SIZE" : "N");
}

Error exhausted(std::string message) {
  return make_error(ErrorCode::resource_exhausted, std::move(message));
}

std::optional<Error> too_much_waits(const Cluster& cluster, const QuotaHolder& holder) {
  constexpr QuotaLimit kLimit = QuotaLimit::queued_jobs;
  const auto most = limit_of(cluster, holder, kLimit);
  const std::uint64_t used = of(cluster.state.usage().of(holder), kLimit);
  if (!most || used < *most) return std::nullopt;
  return exhausted(fmt::format(
      "quota: {} has {} queued jobs, and {} are allowed; submit again when some have started, or "
      "cancel some{}",
      to_string(holder), used, *most, who_may_change(holder, kLimit)));
}

std::optional<Error> too_large_spec(const Cluster& cluster, const QuotaHolder& holder,
                                    std::uint64_t more) {
  constexpr QuotaLimit kLimit = QuotaLimit::spec_bytes;
  const auto most = limit_of(cluster, holder, kLimit);
  const std::uint64_t used = of(cluster.state.usage().of(holder), kLimit);
  if (!most || more == 0 || used + more <= *most) return std::nullopt;
  return exhausted(fmt::format(
      "quota: the variables, commands and texts of the jobs of {} use {} (the first {} of each job "
      "are free), this job would add {}, and {} are allowed; put large values into a file of the "
      "job's code folder, or delete jobs that have ended (`lockstep job delete --all-final`){}",
      to_string(holder), amount(kLimit, used), amount(kLimit, kFreeSpecBytes), amount(kLimit, more),
      amount(kLimit, *most), who_may_change(holder, kLimit)));
}

// The bytes of the holder's job files, including the logs that running jobs have written so far.
std::uint64_t job_files_of(const Cluster& cluster, const QuotaHolder& holder) {
  return of(cluster.state.usage().of(holder), QuotaLimit::job_files) +
         cluster.watches.live_logs.of(holder);
}

constexpr const char* kMakeRoom =
    "delete jobs that have ended, after you have downloaded or registered what you need of them "
    "(`lockstep job delete NAME`, or `--all-final`)";

std::optional<Error> too_many_files(const Cluster& cluster, const QuotaHolder& holder,
                                    const std::vector<JobSource>& sources) {
  constexpr QuotaLimit kLimit = QuotaLimit::job_files;
  const auto most = limit_of(cluster, holder, kLimit);
  if (!most) return std::nullopt;
  std::uint64_t more = 0;
  for (const JobSource& source : sources)
    if (!cluster.state.sources().has(holder, source.tree))
      more += std::min(source.size.count, kMaxQuotaValue);
  const std::uint64_t used = job_files_of(cluster, holder);
  if (used < *most && more <= *most - used) return std::nullopt;
  return exhausted(fmt::format(
      "quota: the logs, outputs, checkpoints and sources of the jobs of {} take {}, {}and {} are "
      "allowed; {}{}",
      to_string(holder), amount(kLimit, used),
      more == 0 ? "" : fmt::format("the files of this job would add {}, ", amount(kLimit, more)),
      amount(kLimit, *most), kMakeRoom, who_may_change(holder, kLimit)));
}

std::optional<Error> too_large_snapshot(const State& state, const QuotaHolder& holder,
                                        Bytes snapshot) {
  constexpr QuotaLimit kLimit = QuotaLimit::snapshot_bytes;
  const auto most = set_limit(state, holder, kLimit);
  if (!most || snapshot.count <= *most) return std::nullopt;
  return exhausted(
      fmt::format("quota: the source of this job has {}, but {} may submit at most {}; list the "
                  "files that the job does not need in a .amlignore file{}",
                  amount(kLimit, snapshot.count), to_string(holder), amount(kLimit, *most),
                  who_may_change(holder, kLimit)));
}

// ", because it takes all cpus of its nodes, and each node of target 'local' has 2 or more".
std::string why_so_much(const JobSpec& spec, const Shape& shape, QuotaLimit limit) {
  const bool is_cpus = limit == QuotaLimit::cpus, is_gpus = limit == QuotaLimit::gpus;
  const bool is_whole = shape.isolated || (is_cpus && !shape.cpus) || (is_gpus && !shape.gpus);
  if ((!is_cpus && !is_gpus) || !is_whole) return "";
  return fmt::format(
      ", because it takes all {} of its nodes (every node of target '{}' that it "
      "may get has as many or more)",
      words::noun_of(limit), target_of(spec));
}

std::optional<Error> never_within(const State& state, const QuotaHolder& holder,
                                  const JobSpec& spec, const Demand& demand) {
  const Shape shape = shape_of(spec);
  for (const QuotaLimit limit : kHeld) {
    const auto most = set_limit(state, holder, limit);
    const std::uint64_t asked = amount_of(demand, limit);
    if (!most || asked <= *most) continue;
    const std::string why = why_so_much(spec, shape, limit);
    return exhausted(fmt::format(
        "quota: this job needs {} {}{}, but {} may use at most {} at once, so the job would never "
        "start; ask for less{}{}",
        asked, words::noun_of(limit), why, to_string(holder), *most,
        why.empty() || shape.isolated
            ? ""
            : fmt::format(" (--{} N, or lockstep.resources in a job file)", to_string(limit)),
        who_may_change(holder, limit)));
  }
  return std::nullopt;
}

bool limits_what_nodes_have(const State& state, const JobSpec& spec) {
  const auto holders = holders_of(spec);
  return std::any_of(holders.begin(), holders.end(), [&](const QuotaHolder& holder) {
    return set_limit(state, holder, QuotaLimit::cpus) || set_limit(state, holder, QuotaLimit::gpus);
  });
}

bool is_chosen(const State& state, const Node& node, const Shape& shape) {
  if (!node.session || node.lost || too_small(node.inventory, shape)) return false;
  const auto& names = shape.names;
  if (!names.empty() && std::find(names.begin(), names.end(), node.name) == names.end())
    return false;
  return std::all_of(shape.labels.begin(), shape.labels.end(), [&](const auto& label) {
    const std::string* has = state.label_of(node, label.first);
    return has != nullptr && *has == label.second;
  });
}

// The fewest cpus and gpus of any node that the job may get: of existing nodes, and of the one that
// its target may make. Zero: unknown.
Demand smallest_node(const Cluster& cluster, const JobSpec& spec, const Shape& shape) {
  const std::string pool = cluster.state.computes().pool_of(spec.compute);
  std::optional<Demand> least;
  const auto consider = [&](std::size_t cpus, std::size_t gpus) {
    const auto c = static_cast<std::int64_t>(cpus), g = static_cast<std::int64_t>(gpus);
    least = least ? Demand{1, std::min(least->cpus, c), std::min(least->gpus, g)} : Demand{1, c, g};
  };
  for (const Node& node : cluster.state.nodes_of(pool))
    if (is_chosen(cluster.state, node, shape))
      consider(node.inventory.cpus.size(), node.inventory.gpus.size());
  const Compute* compute = cluster.state.computes().find(pool);
  if (compute != nullptr && is_elastic(compute->spec)) {
    const Inventory* sample = cluster.samples == nullptr ? nullptr : cluster.samples->of(pool);
    const Size* size = size_of_target(cluster, pool);
    if (sample != nullptr)
      consider(sample->cpus.size(), sample->gpus.size());
    else if (size != nullptr)
      consider(static_cast<std::size_t>(size->vcpus), static_cast<std::size_t>(size->gpus));
    else
      return {};
  }
  return least.value_or(Demand{});
}

// The least that the job can ever hold. A request without a number takes all of its nodes, so the
// smallest node decides.
Demand least_ever(const Cluster& cluster, const JobSpec& spec) {
  const Shape shape = shape_of(spec);
  Demand of_node{1, shape.cpus.value_or(0), shape.gpus.value_or(shape.gpus_at_least)};
  const bool is_open = shape.isolated || !shape.cpus || !shape.gpus;
  if (is_open && limits_what_nodes_have(cluster.state, spec)) {
    const Demand smallest = smallest_node(cluster, spec, shape);
    if (shape.isolated || !shape.cpus) of_node.cpus = std::max(of_node.cpus, smallest.cpus);
    if (shape.isolated || !shape.gpus) of_node.gpus = std::max(of_node.gpus, smallest.gpus);
  }
  return {shape.nodes, shape.nodes * of_node.cpus, shape.nodes * of_node.gpus};
}

}  // namespace

Demand least_demand(const State& state, const JobSpec& spec) {
  const Shape shape = shape_of(spec);
  const PoolNodes nodes = state.nodes_of(state.computes().pool_of(spec.compute));
  Demand demand{shape.nodes, 0, 0};
  const auto cpus = [](const Inventory& inventory) { return inventory.cpus.size(); };
  const auto gpus = [](const Inventory& inventory) { return inventory.gpus.size(); };
  demand.cpus =
      shape.nodes * (shape.cpus && !shape.isolated ? *shape.cpus : least_of_nodes(nodes, cpus));
  demand.gpus = shape.nodes *
                (shape.gpus && !shape.isolated
                     ? *shape.gpus
                     : std::max<std::int64_t>(least_of_nodes(nodes, gpus), shape.gpus_at_least));
  return demand;
}

Demand demand_of(const Placed& placed) {
  Demand demand{static_cast<std::int64_t>(placed.parts.size()), 0, 0};
  for (const PartPlacement& part : placed.parts) {
    demand.cpus += static_cast<std::int64_t>(part.allotment.cpus.size());
    demand.gpus += static_cast<std::int64_t>(part.allotment.gpus.size());
  }
  return demand;
}

std::optional<std::uint64_t> limit_of(const Cluster& cluster, const QuotaHolder& holder,
                                      QuotaLimit limit) {
  if (auto set = set_limit(cluster.state, holder, limit)) return set;
  const CoreConfig& config = cluster.config;
  const bool is_user = holder.kind == QuotaHolder::Kind::user;
  if (limit == QuotaLimit::versions)
    return is_user ? config.versions_per_user : config.versions_per_project;
  if (limit == QuotaLimit::version_bytes)
    return (is_user ? config.version_bytes_per_user : config.version_bytes_per_project).count;
  if (limit == QuotaLimit::version_files)
    return (is_user ? config.version_files_per_user : config.version_files_per_project).count;
  if (is_user && limit == QuotaLimit::queued_jobs) return config.queued_jobs_per_user;
  if (is_user && limit == QuotaLimit::spec_bytes) return config.spec_bytes_per_user.count;
  // Whether space is shared: a user who is alone on the launcher takes space from nobody.
  const bool is_shared = cluster.state.principals().users().size() > 1;
  if (is_user && limit == QuotaLimit::job_files && is_shared && config.job_files_per_user.count > 0)
    return config.job_files_per_user.count;
  return std::nullopt;
}

std::string why_no_more_files(const Cluster& cluster, const JobSpec& spec, std::uint64_t more) {
  constexpr QuotaLimit kLimit = QuotaLimit::job_files;
  for (const QuotaHolder& holder : holders_of(spec)) {
    const auto most = limit_of(cluster, holder, kLimit);
    if (!most) continue;
    const std::uint64_t used = job_files_of(cluster, holder);
    if (used < *most && more < *most - used) continue;
    return fmt::format(
        "the files of the jobs of {} take {} of {} on the launcher (quota job-files); what does "
        "not fit waits on its node until there is room: {}{}",
        to_string(holder), amount(kLimit, used), amount(kLimit, *most), kMakeRoom,
        who_may_change(holder, kLimit));
  }
  return "";
}

std::optional<std::uint64_t> room_for_files(const Cluster& cluster, const JobSpec& spec) {
  std::optional<std::uint64_t> room;
  for (const QuotaHolder& holder : holders_of(spec)) {
    const auto most = limit_of(cluster, holder, QuotaLimit::job_files);
    if (!most) continue;
    const std::uint64_t free = *most - std::min(*most, job_files_of(cluster, holder));
    room = std::min(room.value_or(free), free);
  }
  return room;
}

std::string whose_files(const Cluster& cluster) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::pair<std::uint64_t, const std::string*>> users;
  for (const auto& [holder, usage] : cluster.state.usage().all()) {
    const bool is_user = holder.kind == QuotaHolder::Kind::user;
    const std::uint64_t files = is_user ? job_files_of(cluster, holder) : 0;
    if (files > 0) users.emplace_back(files, &holder.name);
  }
  std::sort(users.begin(), users.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(users.size(), kNamed); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", *users[i].second,
                        to_string(Bytes{users[i].first}));
  return text;
}

std::optional<Error> refused_by_quota(const Cluster& cluster, const JobSpec& spec, Bytes snapshot,
                                      const std::vector<JobSource>& sources) {
  const auto more = static_cast<std::uint64_t>(spec_bytes(spec));
  for (const QuotaHolder& holder : holders_of(spec)) {
    if (auto error = too_much_waits(cluster, holder)) return error;
    if (auto error = too_large_spec(cluster, holder, more)) return error;
    if (auto error = too_large_snapshot(cluster.state, holder, snapshot)) return error;
    if (auto error = too_many_files(cluster, holder, sources)) return error;
  }
  if (cluster.state.principals().quotas().empty()) return std::nullopt;
  if (spec.is_pipeline()) return std::nullopt;  // each of its steps is checked by itself
  const Demand least = least_ever(cluster, spec);
  for (const QuotaHolder& holder : holders_of(spec))
    if (auto error = never_within(cluster.state, holder, spec, least)) return error;
  return std::nullopt;
}

std::optional<Error> refused_by_quota_of_texts(const Cluster& cluster, const JobSpec& before,
                                               const JobSpec& after) {
  const std::int64_t more = spec_bytes(after) - spec_bytes(before);
  if (more <= 0) return std::nullopt;
  for (const QuotaHolder& holder : holders_of(after))
    if (auto error = too_large_spec(cluster, holder, static_cast<std::uint64_t>(more)))
      return error;
  return std::nullopt;
}

Why over_quota(const State& state, const JobSpec& spec, const Demand& demand) {
  if (state.principals().quotas().empty()) return {};
  for (const QuotaHolder& holder : holders_of(spec)) {
    if (state.principals().quotas().count(holder) == 0) continue;
    const Usage usage = state.usage().of(holder);
    for (const QuotaLimit limit : kHeld) {
      const auto most = set_limit(state, holder, limit);
      const std::uint64_t asked = amount_of(demand, limit);
      if (!most || asked == 0 || of(usage, limit) + asked <= *most) continue;
      return WaitsForQuota{holder.kind, holder.name, limit, of(usage, limit), *most, asked};
    }
  }
  return {};
}

QuotaView quota_view(const Cluster& cluster, const QuotaHolder& holder) {
  QuotaView view{holder, {}};
  const Usage usage = cluster.state.usage().of(holder);
  for (const QuotaLimit limit : kQuotaLimits)
    view.lines.push_back(
        {limit, limit_of(cluster, holder, limit), !set_limit(cluster.state, holder, limit),
         limit == QuotaLimit::job_files ? job_files_of(cluster, holder) : of(usage, limit)});
  return view;
}

}  // namespace lockstep::launcher
