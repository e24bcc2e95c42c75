// A launcher's journal of 100,000 jobs: how long it takes to read, to compact on the worker, and to
// put the compacted one in its place, which is all that the launcher's loop waits for.
//   journal_bench --benchmark_filter=.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>

#include "common/domain/why/jobs/ends.h"
#include "launcher/core/core.h"
#include "launcher/state/state.h"
#include "launcher/store/journal.h"

namespace lockstep::launcher {
namespace {

constexpr int kJobs = 100'000;

// Solo jobs of two ranks on eight nodes, each with the four reports of its part.
class Life {
 public:
  void begin(Journal& journal) {
    std::vector<StampedFact> facts;
    for (std::uint64_t n = 1; n <= 8; ++n) {
      facts.push_back({{1},
                       NodeJoined{NodeId(n),
                                  "n" + std::to_string(n),
                                  PublicKey(std::string(39, 'k') + std::to_string(n)),
                                  {}}});
      Inventory inventory;
      inventory.hostname = "n" + std::to_string(n);
      for (int cpu = 0; cpu < 64; ++cpu) inventory.cpus.push_back(cpu);
      facts.push_back({{1}, NodeSessionStarted{NodeId(n), BootId{"b"}, SessionId(n), inventory}});
    }
    (void)journal.append(facts);
  }
  std::vector<StampedFact> job(int i) const {
    const AttemptId id{JobId("gray_pig_" + std::to_string(100'000 + i)), 1};
    const NodeId node(static_cast<std::uint64_t>(i % 8 + 1));
    const Instant at{1'000 + i};
    JobSpec spec;
    spec.name = id.job.value;
    spec.command = ShellCommand{"python train.py --epochs 10 --data /data/set"};
    spec.environment_variables = {{"MODE", "train"}, {"OMP_NUM_THREADS", "4"}};
    spec.snapshot = sha256(std::to_string(i % 100));
    JobSubmitted submitted;
    submitted.job = id.job;
    submitted.submission = "submission-" + std::to_string(i);
    submitted.spec = spec;
    AttemptPlaced placed;
    placed.attempt = id;
    placed.parts = {{node, {{0, 1}, gibibytes(1), {}}, 0}};
    placed.why = {told("it is free")};
    std::vector<StampedFact> facts;
    facts.push_back({at, std::move(submitted)});
    facts.push_back({at, std::move(placed)});
    PartReport report;
    report.attempt = id;
    for (const auto state : {PartState::staging, PartState::prepared, PartState::running}) {
      report.state = state;
      facts.push_back({at, PartChanged{id, node, report}});
    }
    report.state = PartState::finished;
    report.exit.emplace();
    for (int rank = 0; rank < 2; ++rank) {
      RankExit exit;
      exit.rank = exit.local_rank = rank;
      report.exit->ranks.push_back(exit);
      report.exit->logs.push_back({rank, 4'000, 100});
    }
    ExitReport end;
    end.why = AllRanksCompleted{};
    facts.push_back({at, PartChanged{id, node, report}});
    facts.push_back({at, AttemptEnded{id, end}});
    facts.push_back({at, PartReleased{id, node, false}});
    facts.push_back({at, JobFinished{id.job, JobStatus::completed, end}});
    return facts;
  }
};

struct Scratch {
  Scratch() {
    char name[] = "/tmp/lockstep-journal-bench-XXXXXX";
    path = std::string(mkdtemp(name)) + "/journal.db";
  }
  ~Scratch() { std::filesystem::remove_all(std::filesystem::path(path).parent_path()); }
  void fill() const {
    auto journal = Journal::open(path);
    (void)journal->replay([](const StampedFact&) {});
    Life life;
    life.begin(*journal);
    for (int i = 0; i < kJobs; i += 1'000) {
      std::vector<StampedFact> facts;
      for (int j = i; j < i + 1'000; ++j)
        for (auto& fact : life.job(j)) facts.push_back(std::move(fact));
      (void)journal->append(facts);
    }
  }
  std::string path;
};

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void read_compact_swap(benchmark::State& bench) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
  };
  for (auto _ : bench) {
    const Scratch scratch;
    scratch.fill();
    bench.counters["file_MiB"] =
        static_cast<double>(std::filesystem::file_size(scratch.path)) / 1048576;
    auto journal = Journal::open(scratch.path);
    State state;
    auto begun = Clock::now();
    (void)journal->replay([&](const StampedFact& fact) { state.apply(fact.at, fact.fact); });
    bench.counters["read_s"] = since(begun);
    bench.counters["state_peak_MiB"] = peak_mebibytes();
    begun = Clock::now();
    const auto compacted = compact_journal(scratch.path);
    bench.counters["compact_s"] = since(begun);
    bench.counters["compact_peak_MiB"] = peak_mebibytes();
    std::vector<StampedFact> meanwhile;
    for (int i = 0; i < 100; ++i)
      for (auto& fact : Life().job(kJobs + i)) meanwhile.push_back(std::move(fact));
    (void)journal->append(meanwhile);
    begun = Clock::now();
    const auto swapped = journal->replace_with(*compacted);
    const double swap = since(begun);
    bench.SetIterationTime(swap);
    bench.counters["swap_s"] = swap;
    bench.counters["compacted_MiB"] =
        static_cast<double>(std::filesystem::file_size(scratch.path)) / 1048576;
    if (!swapped) bench.SkipWithError(swapped.error().message.c_str());
  }
}
BENCHMARK(read_compact_swap)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lockstep::launcher

BENCHMARK_MAIN();
