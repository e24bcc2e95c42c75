// A recorded journal folds to the same state whatever the launcher would decide today: this program
// has the state and its facts, and in place of the placement one that always says no and counts who
// asks. A fold that asks it nothing is the fold under the real one.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "common/domain/why/why.h"
#include "launcher/core/placement/placement.h"
#include "launcher/sqlite/database.h"
#include "launcher/store/journal.h"

namespace lockstep::launcher {

namespace {
int asked_placement = 0;
}

// What the fold must not ask. A call from State would be linked to these.
Shape shape_of(const JobSpec&) {
  ++asked_placement;
  Shape nothing;
  nothing.cpus = 0;
  return nothing;
}
Placement place(const Cluster&, const Job&) {
  ++asked_placement;
  return Impossible{told("no")};
}

namespace {

namespace fs = std::filesystem;

std::vector<StampedFact> facts_of(const fs::path& landing) {
  char name[] = "/tmp/lockstep-replay-XXXXXX";
  const fs::path directory = ::mkdtemp(name);
  std::vector<StampedFact> facts;
  {
    const std::string path = directory / "journal.db";
    std::ostringstream sql;
    sql << std::ifstream(landing / "journal.sql").rdbuf();
    auto db = Database::open(path);
    EXPECT_TRUE(db && db->execute(sql.str().c_str()));
    auto journal = Journal::open(path);
    EXPECT_TRUE(journal) << journal.error().message;
    const auto replayed = journal->replay([&](const StampedFact& fact) { facts.push_back(fact); });
    EXPECT_TRUE(replayed) << replayed.error().message;
  }
  fs::remove_all(directory);
  return facts;
}

std::vector<fs::path> landings() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE) / "tests/data"))
    if (entry.is_directory()) all.push_back(entry.path());
  return all;
}

bool asks_for_whole(const Job& job) {
  const ResourceRequest& asked = job.spec.resources;
  return !asked.cpus && !asked.memory && !asked.gpus;
}

// How many parts that run on the node have it as a whole, by what their jobs asked for.
int wholes_of(const State& state, const Node& node) {
  int wholes = 0;
  for (const auto& [id, rank] : node.parts) {
    const bool runs = !state.attempt(id)->parts[static_cast<std::size_t>(rank)].ended();
    if (runs && asks_for_whole(*state.job(id.job))) ++wholes;
  }
  return wholes;
}

// As the recording version, which had its own placement, wrote them down.
std::string recorded_jobs(const fs::path& landing) {
  std::ostringstream text;
  text << std::ifstream(landing / "jobs.txt").rdbuf();
  return text.str();
}

// Newest first.
std::string jobs_of(const State& state) {
  std::ostringstream text;
  for (auto it = state.submitted().rbegin(); it != state.submitted().rend(); ++it) {
    const Job& job = *state.job(it->second);
    text << job.spec.name << " " << to_string(job.status()) << " " << job.attempts.size() << "\n";
  }
  return text.str();
}

TEST(Replay, of_every_recorded_journal_needs_no_placement) {
  ASSERT_FALSE(landings().empty());
  for (const fs::path& landing : landings()) {
    State state;
    int held = 0;
    for (const StampedFact& fact : facts_of(landing)) {
      state.apply(fact.at, fact.fact);
      for (const auto& [id, node] : state.nodes()) {
        ASSERT_EQ(node.use.wholes, wholes_of(state, node)) << landing << " " << node.name;
        held += node.use.wholes;
      }
    }
    EXPECT_GT(held, 0) << landing << " has no job that takes whole nodes";
    EXPECT_EQ(jobs_of(state), recorded_jobs(landing)) << landing;
    EXPECT_EQ(asked_placement, 0) << landing;
  }
}

TEST(Replay, takes_what_a_placement_took_from_its_fact) {
  State state;
  JobSpec spec;
  spec.name = "job";
  spec.resources.cpus = 1;
  const AttemptId id{JobId("job"), 1};
  state.apply({1}, NodeJoined{NodeId(1), "n1", {}, {}});
  JobSubmitted submitted;
  submitted.job = JobId("job");
  submitted.spec = spec;
  state.apply({2}, submitted);
  state.apply({3}, AttemptPlaced{id, {{NodeId(1), {}, 0, true}}, {}});
  EXPECT_EQ(state.node(NodeId(1))->use.wholes, 1) << "whatever the job asked for";
  state.apply({4}, PartGone{id, NodeId(1), Cause::node_lost, told("lost")});
  EXPECT_EQ(state.node(NodeId(1))->use.wholes, 0);
}

}  // namespace
}  // namespace lockstep::launcher
