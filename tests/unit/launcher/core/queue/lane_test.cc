// The scheduler's own answers about its lanes.

#include "launcher/core/queue/scheduler.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

struct Lanes {
  State state;
  CoreConfig config;
  Scheduler scheduler{state, config};
  NodeWatches watches;
  Instant now{1'700'000'000'000'000'000};

  void submit(JobSpec spec) {
    const JobId id{spec.name};
    state.apply(now, JobSubmitted{id, "", std::move(spec)});
    scheduler.add(*state.job(id));
  }
  void run() {
    Scheduler::Moves moves;
    moves.place = [](const Job&, Placed) {};
    moves.at_head = [](const Job&) {};
    moves.waits = [](const Job&) {};
    scheduler.run({state, watches, config, now, {}}, moves);
  }
  std::vector<std::string> visited(std::size_t most) const {
    std::vector<std::string> names;
    scheduler.visit("local", [&](const Job& job) {
      names.push_back(job.id.value);
      return names.size() < most;
    });
    return names;
  }
};

TEST(Lane, VisitsTheJobsThatWaitForNodesInTheirOrder) {
  Lanes lanes;
  for (int i = 1; i <= 6; ++i) lanes.submit(job_spec("job" + std::to_string(i), 1 + i % 3));
  lanes.run();  // there are no nodes: all are parked, by shape
  lanes.submit(job_spec("job7"));
  using ::testing::ElementsAre;
  EXPECT_THAT(lanes.visited(100),
              ElementsAre("job1", "job2", "job3", "job4", "job5", "job6", "job7"));
  EXPECT_THAT(lanes.visited(2), ElementsAre("job1", "job2"));
}

}  // namespace
}  // namespace lockstep::launcher
