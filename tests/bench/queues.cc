// One queue of 500 jobs, made from a seed like those that clusters record (few wide and long jobs,
// many narrow and short ones, limits that are too high), run through the launcher's core in
// simulated time: with the limits (backfill), and without them (strict order). For comparison the
// same queue through EASY as textbooks have it, which counts whole free nodes. Prints utilisation
// and waits; fails if backfill waits longer than EASY by more than a tenth.
//   queues [SEED] [--jobs]     --jobs: prints the queue as CSV, for other schedulers

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/core/core.h"
#include "launcher/state/state.h"
#include "tests/sim/random.h"

namespace lockstep::launcher {
namespace {

constexpr int kJobs = 500, kNodes = 32;
constexpr double kLoad = 1.1;  // work that arrives, in parts of what the nodes can do
constexpr Instant kStart{1'700'000'000'000'000'000};
constexpr Duration kPreparing = seconds(10), kGrace = seconds(10);

struct QueuedJob {
  int number = 0;
  Duration arrives{0}, runs{0}, limit{0};
  int nodes = 1;
};

double normal(sim::Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * M_PI * random.unit());
}

// Sizes are powers of two, times are log-normal; people ask for round limits.
std::vector<QueuedJob> draw_queue(std::uint64_t seed) {
  sim::Random random(seed);
  static constexpr int kLimitsM[] = {5, 15, 30, 60, 120, 240, 480, 1440};
  std::vector<QueuedJob> jobs;
  double work_s = 0;
  for (int i = 0; i < kJobs; ++i) {
    QueuedJob job;
    job.number = i;
    while (job.nodes < kNodes && random.chance(0.45)) job.nodes *= 2;
    const double run_s = std::clamp(std::exp(6.5 + 1.3 * normal(random)), 20.0, 20'000.0);
    job.runs = seconds(static_cast<int>(run_s));
    const double asked_s = run_s * (1.1 + 3 * random.unit());
    job.limit = minutes(kLimitsM[std::size(kLimitsM) - 1]);
    for (const int limit : kLimitsM)
      if (minutes(limit) >= seconds(static_cast<int>(asked_s))) {
        job.limit = minutes(limit);
        break;
      }
    work_s += run_s * job.nodes;
    jobs.push_back(job);
  }
  const double mean_gap_s = work_s / (kNodes * kLoad) / kJobs;
  double at_s = 0;
  for (QueuedJob& job : jobs) {
    at_s -= mean_gap_s * std::log(1 - random.unit());
    job.arrives = seconds(static_cast<int>(at_s));
  }
  return jobs;
}

struct Result {
  double utilisation = 0, mean_wait_s = 0, max_wait_s = 0;
};

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// `starts`: of each job, since the beginning.
Result measure(const std::vector<QueuedJob>& jobs, const std::vector<Duration>& starts) {
  Result result;
  double work = 0, end = 0;
  for (const QueuedJob& job : jobs) {
    const Duration start = starts[static_cast<std::size_t>(job.number)];
    const double wait = in_seconds(start - job.arrives);
    result.mean_wait_s += wait / kJobs;
    result.max_wait_s = std::max(result.max_wait_s, wait);
    work += in_seconds(job.runs) * job.nodes;
    end = std::max(end, in_seconds(start + job.runs));
  }
  result.utilisation = work / (end * kNodes);
  return result;
}

// ---- EASY, as Lifka (1995) has it
// ----------------------------------------------------------------

struct Running {
  Duration ends, ends_at_most;
  int nodes = 0;
};

// When the head can start at the latest, and how many nodes are free besides then.
std::pair<Duration, int> shadow_of(std::vector<Running> running, int free, int wanted) {
  std::sort(running.begin(), running.end(),
            [](const Running& a, const Running& b) { return a.ends_at_most < b.ends_at_most; });
  Duration at{0};
  for (const Running& job : running) {
    if (free >= wanted) break;
    free += job.nodes;
    at = job.ends_at_most;
  }
  return {at, free - wanted};
}

std::vector<Duration> easy(const std::vector<QueuedJob>& jobs) {
  std::vector<Duration> starts(jobs.size());
  std::vector<Running> running;
  std::vector<const QueuedJob*> queue;
  int free = kNodes;
  std::size_t next = 0;
  while (next < jobs.size() || !queue.empty()) {
    Duration now = next < jobs.size() ? jobs[next].arrives : Duration::max();
    for (const Running& job : running) now = std::min(now, job.ends);
    std::erase_if(running, [&](const Running& job) {
      if (job.ends <= now) free += job.nodes;
      return job.ends <= now;
    });
    while (next < jobs.size() && jobs[next].arrives <= now) queue.push_back(&jobs[next++]);
    const auto start = [&](const QueuedJob& job) {
      starts[static_cast<std::size_t>(job.number)] = now;
      free -= job.nodes;
      running.push_back({now + job.runs, now + job.limit, job.nodes});
    };
    while (!queue.empty() && queue.front()->nodes <= free) {
      start(*queue.front());
      queue.erase(queue.begin());
    }
    if (queue.empty()) continue;
    auto [shadow, extra] = shadow_of(running, free, queue.front()->nodes);
    for (std::size_t i = 1; i < queue.size();) {
      const QueuedJob& job = *queue[i];
      const bool ends_before = now + job.limit <= shadow;
      if (job.nodes > free || (!ends_before && job.nodes > extra)) {
        ++i;
        continue;
      }
      if (!ends_before) extra -= job.nodes;
      start(job);
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return starts;
}

// ---- the launcher's core
// -------------------------------------------------------------------------

class Cluster {
 public:
  explicit Cluster(const std::vector<QueuedJob>& jobs, bool with_limits)
      : jobs_(jobs), with_limits_(with_limits), core_(config()), starts_(jobs.size()) {
    core_.recovered(now_);
    const Digest token = sha256("token");
    handle(TokenInput{{}, token, now_ + minutes(60), kNodes, LauncherItself{}});
    for (std::uint64_t i = 1; i <= kNodes; ++i) {
      const PublicKey key("key" + std::to_string(i));
      handle(JoinInput{{}, token, key, "n" + std::to_string(i)});
      Inventory inventory;
      inventory.cpus = {0, 1, 2, 3};
      inventory.memory = gibibytes(8);
      inventory.network = "lan";
      handle(SessionInput{key, {NodeId(i), BootId("boot"), SessionId(i), "", inventory, {}}});
    }
  }

  std::vector<Duration> run() {
    std::size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      const bool ends_first =
          !ends_.empty() &&
          (next == jobs_.size() || ends_.begin()->first <= kStart + jobs_[next].arrives);
      if (ends_first) {
        const auto [at, job] = *ends_.begin();
        ends_.erase(ends_.begin());
        now_ = at;
        report(job, PartState::finished);
      } else {
        now_ = std::max(now_, kStart + jobs_[next].arrives);
        submit(jobs_[next++]);
      }
      start_placed();
    }
    return starts_;
  }

 private:
  // Nodes send no heartbeats here.
  static CoreConfig config() {
    CoreConfig config;
    config.heartbeat_interval = minutes(1'000'000);
    config.node_lost_timeout = minutes(4'000'000);
    config.prepare_timeout = minutes(1'000'000);
    return config;
  }
  void handle(const Input& input) {
    for (const Fact& fact : core_.handle(now_, input).facts)
      if (const auto* placed = std::get_if<AttemptPlaced>(&fact))
        placed_.push_back(placed->attempt.job);
  }
  void submit(const QueuedJob& job) {
    JobSpec spec;
    spec.name = std::to_string(job.number);
    spec.command = Argv{{"true"}};
    spec.submitter = "ann";
    spec.resources.instance_count = job.nodes;
    // The time that the launcher reckons for the preparation is a part of the job's time here.
    if (with_limits_)
      spec.timeout = std::max<Duration>(job.limit - kPreparing - kGrace, seconds(1));
    handle(SubmitInput{{}, "s" + spec.name, spec, "", false, LauncherItself{}});
  }
  // What was placed is prepared and runs at once.
  void start_placed() {
    while (!placed_.empty()) {
      const JobId job = placed_.back();
      placed_.pop_back();
      const QueuedJob& known = jobs_[std::stoul(job.value)];
      starts_[static_cast<std::size_t>(known.number)] = now_ - kStart;
      ends_.emplace(now_ + known.runs, job);
      report(job, PartState::prepared);
      report(job, PartState::running);
    }
  }
  void report(const JobId& job, PartState state) {
    const Attempt attempt = *core_.state().job(job)->last_attempt();
    for (int rank = 0; rank < attempt.size(); ++rank) {
      PartReport report;
      report.attempt = attempt.id;
      report.state = state;
      if (state != PartState::prepared) report.started = attempt.placed;
      if (state == PartState::finished) report.exit = NodeExitReport{};
      if (report.exit) report.exit->ranks.emplace_back().rank = rank;
      const NodeId node = attempt.parts[static_cast<std::size_t>(rank)].node;
      handle(ObservedInput{PublicKey("key" + std::to_string(node.value)),
                           {node, SessionId(node.value), ++sequences_[node], {report}, {}}});
    }
  }

  const std::vector<QueuedJob>& jobs_;
  bool with_limits_;
  Instant now_ = kStart;
  Core core_;
  std::vector<JobId> placed_;
  std::set<std::pair<Instant, JobId>> ends_;
  std::map<NodeId, std::uint64_t> sequences_;
  std::vector<Duration> starts_;
};

void print(const char* name, const Result& result) {
  fmt::print("{:<24} utilisation {:5.1f} %   mean wait {:7.1f} min   longest {:7.1f} min\n", name,
             result.utilisation * 100, result.mean_wait_s / 60, result.max_wait_s / 60);
}

}  // namespace
}  // namespace lockstep::launcher

int main(int count, char** words) {
  using namespace lockstep::launcher;
  const std::uint64_t seed = count > 1 ? std::stoull(words[1]) : 1;
  const auto jobs = draw_queue(seed);
  if (count > 2 && std::string(words[2]) == "--jobs") {
    fmt::print("job,arrives_s,nodes,runs_s,limit_s\n");
    for (const auto& job : jobs)
      fmt::print("{},{:.0f},{},{:.0f},{:.0f}\n", job.number, in_seconds(job.arrives), job.nodes,
                 in_seconds(job.runs), in_seconds(job.limit));
    return 0;
  }
  const Result strict = measure(jobs, Cluster(jobs, false).run());
  const Result textbook = measure(jobs, easy(jobs));
  const Result ours = measure(jobs, Cluster(jobs, true).run());
  fmt::print("{} jobs on {} nodes, seed {}\n", kJobs, kNodes, seed);
  print("strict order", strict);
  print("EASY, whole nodes", textbook);
  print("the launcher's core", ours);
  return ours.mean_wait_s > 1.1 * textbook.mean_wait_s ? 1 : 0;
}
