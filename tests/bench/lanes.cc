// What the launcher's decisions cost with 10,000 nodes, 100 targets and 10,000 queued jobs: a
// placement, a pass that changes nothing, and a pass after one job has ended. Once with the nodes
// shared out evenly, and once with all of them in one target, where each decision has the most to
// look at. The core alone: no journal, no messages. Times are of CPU.
//   lanes [NODES [TARGETS [QUEUED]]]

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "launcher/core/core.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {
namespace {

constexpr Instant kStart{1'700'000'000'000'000'000};
constexpr int kUsers = 20, kKinds = 200, kEnds = 500;

// Of this thread: others may be using the machine.
double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Times {
  std::vector<double> ms;
  template <typename Work>
  void time(Work work) {
    const double begun = cpu_ms();
    work();
    ms.push_back(cpu_ms() - begun);
  }
  void print(const char* what, const char* mark) {
    std::sort(ms.begin(), ms.end());
    double sum = 0;
    for (const double one : ms) sum += one;
    const auto at = [&](double share) {
      return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
    };
    fmt::print("  {:<36} mean {:8.4f} ms   p99 {:8.4f}   longest {:8.4f}   ({})\n", what,
               sum / static_cast<double>(ms.size()), at(0.99), at(1), mark);
  }
};

class Lanes {
 public:
  // All nodes are in the first of the targets, or as many in each.
  Lanes(int nodes, int targets, bool in_one) : targets_(targets), core_(config()) {
    core_.recovered(now_);
    for (int i = 0; i < targets; ++i) add_target(name_of(i));
    for (int i = 0; i < nodes; ++i) join(i, in_one ? 0 : i % targets);
  }

  void measure(int queued, bool in_one) {
    Times placements, quiet, ends;
    const int nodes = static_cast<int>(sessions_.size());
    int job = 0;
    for (; job < nodes; ++job) placements.time([&] { submit(job, in_one ? 0 : job % targets_); });
    for (; job < nodes + queued; ++job) submit(job, in_one ? 0 : job % targets_);
    for (int i = 0; i < kEnds; ++i) quiet.time([&] { handle(TickInput{}); });
    for (int i = 0; i < kEnds; ++i) {
      const auto input = end_on(static_cast<std::size_t>(i * 7919 % nodes));
      if (input) ends.time([&] { handle(*input); });
    }
    fmt::print("{} nodes {}, {} targets, {} jobs queued\n", nodes,
               in_one ? "in one target" : "shared out", targets_, core_.state().queue().size());
    placements.print("a placement", "mark 1 ms");
    quiet.print("a pass that changes nothing", "mark: nothing");
    ends.print("a pass after one job has ended", "mark 10 ms");
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
  static std::string name_of(int target) { return fmt::format("pool-{:03}", target); }
  static PublicKey key_of(std::size_t node) { return PublicKey("key" + std::to_string(node)); }

  void handle(const Input& input) { core_.handle(now_, input); }
  void add_target(const std::string& name) {
    ComputeSpec spec;
    spec.name = name;
    spec.type = ComputeType::virtualmachine;
    spec.source = NodeSource::join;
    handle(ComputeInput{{}, CreateCompute{spec}, LauncherItself{}});
    handle(TokenInput{
        {}, sha256(name), now_ + minutes(60), 100'000, LauncherItself{}, Approval::waived, name});
  }
  void join(int node, int target) {
    const PublicKey key = key_of(sessions_.size());
    handle(JoinInput{{}, sha256(name_of(target)), key, fmt::format("n{}", node)});
    Inventory inventory;
    inventory.host_id = inventory.hostname = fmt::format("n{}", node);
    for (int cpu = 0; cpu < 4; ++cpu) inventory.cpus.push_back(cpu);
    inventory.memory = gibibytes(8);
    inventory.network = "lan";
    const NodeId id(sessions_.size() + 1);
    handle(SessionInput{key, {id, BootId("boot"), SessionId(id.value), "", inventory, {}}});
    sessions_.push_back(0);
  }
  // Whole nodes, with one of `kKinds` time limits.
  void submit(int number, int target) {
    JobSpec spec;
    spec.name = fmt::format("job{}", number);
    spec.compute = name_of(target);
    spec.command = Argv{{"true"}};
    spec.submitter = fmt::format("user{}", number % kUsers);
    spec.timeout = minutes(60 + number % kKinds);
    handle(SubmitInput{{}, "s" + spec.name, spec, "", false, LauncherItself{}});
  }
  // The report that ends the job on this node.
  std::optional<Input> end_on(std::size_t node) {
    const NodeId id(node + 1);
    const auto& parts = core_.state().node(id)->parts;
    if (parts.empty()) return std::nullopt;
    PartReport report;
    report.attempt = parts.begin()->first;
    report.state = PartState::finished;
    report.exit = NodeExitReport{};
    report.exit->ranks.emplace_back();
    return ObservedInput{key_of(node), {id, SessionId(id.value), ++sessions_[node], {report}, {}}};
  }

  const int targets_;
  const Instant now_ = kStart;
  Core core_;
  std::vector<std::uint64_t> sessions_;  // the number of the newest report of each node
};

}  // namespace
}  // namespace lockstep::launcher

int main(int count, char** words) {
  const auto number = [&](int at, int otherwise) {
    return count > at ? std::stoi(words[at]) : otherwise;
  };
  for (const bool in_one : {false, true})
    lockstep::launcher::Lanes(number(1, 10'000), number(2, 100), in_one)
        .measure(number(3, 10'000), in_one);
  return 0;
}
