// The archive behind a real journal: over restarts, compactions, restored and damaged files, and
// kill -9 at random. Whatever happens, it has what the journal folds to.

#include "launcher/archive/follower.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "launcher/archive/reader.h"
#include "launcher/archive/rebuild.h"
#include "launcher/archive/writer.h"
#include "launcher/state/state.h"
#include "launcher/store/journal.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/launcher/archive/facts.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::archive {
namespace {

using launcher::Journal;
using launcher::State;
using testing::HasSubstr;
using testing::Optional;

class FollowerTest : public testing::Test {
 protected:
  // What a daemon holds of both.
  struct Daemon {
    Journal journal;
    State state;
    Writer writer;
    Follower follower;
    std::optional<std::string> why_rebuild = {};
    std::map<JobId, std::size_t> facts = {};  // of each job
  };

  Result<Daemon> start() {
    TRY_ASSIGN(auto journal, Journal::open(journal_));
    TRY_ASSIGN(auto writer, Writer::open(archive_));
    Daemon daemon{std::move(journal), {}, std::move(writer), Follower({}, Fold()), {}, {}};
    daemon.follower = Follower(daemon.writer.mark(), Fold());
    TRY(daemon.journal.replay_placed(
        [&](const StampedFact& fact, const launcher::JournalPosition& at) {
          see(daemon, fact, at);
        }));
    daemon.why_rebuild = daemon.follower.end_replay(daemon.journal.position());
    TRY(write(daemon));
    return daemon;
  }
  static void see(Daemon& daemon, const StampedFact& fact, const launcher::JournalPosition& at) {
    daemon.state.apply(fact.at, fact.fact);
    SubmittedAs as;
    if (const auto* submitted = std::get_if<launcher::JobSubmitted>(&fact.fact))
      as = submitted_as(daemon.state, submitted->job);
    daemon.follower.see(fact, as, at);
    if (const JobId* job = launcher::job_of(fact.fact)) ++daemon.facts[*job];
  }
  static Status write(Daemon& daemon) {
    const auto batch = daemon.follower.take();
    return batch ? daemon.writer.apply(batch->changes, batch->mark) : Status();
  }
  // One fact after the other, so that a kill finds it between any two.
  static Status append(Daemon& daemon, const std::vector<StampedFact>& facts) {
    for (const StampedFact& fact : facts) {
      TRY(daemon.journal.append({fact}));
      see(daemon, fact, daemon.journal.position());
      TRY(write(daemon));
    }
    return {};
  }
  Daemon must_start() {
    auto daemon = start();
    EXPECT_TRUE(daemon) << daemon.error().message;
    return std::move(*daemon);
  }
  void must_append(Daemon& daemon, const std::vector<StampedFact>& facts) {
    const auto done = append(daemon, facts);
    ASSERT_TRUE(done) << done.error().message;
  }
  static Life life(int i, bool deleted = false) {
    Life life{"job" + std::to_string(i)};
    life.submitted = 100 * i + 10;
    life.placed = life.submitted + 5;
    life.ended = life.placed + 10 + i;
    life.owner = i % 2 == 0 ? "ann" : "bob";
    life.runs = i % 3 != 0;
    life.deleted = deleted;
    return life;
  }
  Rebuilt must_rebuild() {
    auto rebuilt = rebuild(journal_, archive_);
    EXPECT_TRUE(rebuilt) << rebuilt.error().message;
    return std::move(*rebuilt);
  }

  // All jobs that have ended in the state, and no others; their use is `use` when it is given.
  void expect_state(const State& state, std::optional<Use> use = {}) {
    auto reader = Reader::open(archive_);
    ASSERT_TRUE(reader) << reader.error().message;
    JobQuery query;
    query.visible.all = true;
    query.archived = ArchivedToo::yes;
    query.limit = kMaxPageJobs;
    const auto page = reader->list(query);
    ASSERT_TRUE(page) << page.error().message;
    std::set<std::string> got, want;
    for (const EndedJob& job : page->jobs) {
      EXPECT_TRUE(got.insert(job.job.value).second) << "a job is there twice";
      const launcher::Job* known = state.job(job.job);
      ASSERT_NE(known, nullptr) << job.job.value;
      EXPECT_EQ(job.status, known->status());
      EXPECT_EQ(job.order, known->order);
      EXPECT_EQ(job.ended, known->finish() ? known->finish()->at : Instant{});
    }
    for (const auto& [id, job] : state.jobs())
      if (job.finish()) want.insert(id.value);
    EXPECT_EQ(got, want);
    if (use) {
      EXPECT_EQ(sum_of_use(), *use);
    }
  }
  Use sum_of_use() {
    auto reader = Reader::open(archive_);
    EXPECT_TRUE(reader);
    const auto rows = reader->use({});
    EXPECT_TRUE(rows);
    return rows->empty() ? Use() : rows->front().use;
  }
  // Of lives 0 to `count`, by another way.
  static Use use_of_lives(int count) {
    Use sum;
    for (int i = 0; i < count; ++i) {
      const Life one = life(i);
      ++sum.jobs;
      sum.waited_ms += 1'000 * ((one.runs ? one.placed : one.ended) - one.submitted);
      if (!one.runs) continue;
      const std::int64_t held = one.ended - one.placed;
      ++sum.attempts;
      sum.cpu_ms += one.cpus * held * 1'000;
      sum.gpu_ms += one.gpus * held * 1'000;
      sum.memory_mib_s += static_cast<std::int64_t>(one.memory.count >> 20) * held;
      sum.used_cpu_ms += 3'000;
    }
    return sum;
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string journal_ = dir_ / "journal.db", archive_ = dir_ / "archive.db";
};

TEST_F(FollowerTest, FollowsOverRestarts) {
  {
    Daemon daemon = must_start();
    EXPECT_EQ(daemon.why_rebuild, std::nullopt);
    must_append(daemon, {node_joins()});
    for (int i = 0; i < 4; ++i) must_append(daemon, facts_of(life(i)));
    expect_state(daemon.state, use_of_lives(4));
  }
  for (int i = 4; i < 8; ++i) {
    Daemon daemon = must_start();
    EXPECT_EQ(daemon.why_rebuild, std::nullopt);
    expect_state(daemon.state, use_of_lives(i));
    must_append(daemon, facts_of(life(i)));
  }
  const Daemon daemon = must_start();
  expect_state(daemon.state, use_of_lives(8));
}

TEST_F(FollowerTest, CatchesUpWithWhatWasNotArchived) {
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    for (int i = 0; i < 3; ++i) must_append(daemon, facts_of(life(i)));
    // The process ends between the journal's commit and the archive's.
    for (int i = 3; i < 6; ++i) ASSERT_TRUE(daemon.journal.append(facts_of(life(i))));
  }
  const Daemon daemon = must_start();
  EXPECT_EQ(daemon.why_rebuild, std::nullopt);
  expect_state(daemon.state, use_of_lives(6));
}

TEST_F(FollowerTest, ACompactionMovesTheFactsAndNothingIsLostOrDoubled) {
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    for (int i = 0; i < 4; ++i) must_append(daemon, facts_of(life(i)));
    const auto compacted = launcher::compact_journal(journal_);
    ASSERT_TRUE(compacted) << compacted.error().message;
    for (int i = 4; i < 6; ++i) must_append(daemon, facts_of(life(i)));
    ASSERT_TRUE(daemon.journal.replace_with(*compacted));
  }
  // It was not told of the compaction: its mark is of the file before.
  for (int i = 0; i < 3; ++i) {
    Daemon daemon = must_start();
    EXPECT_EQ(daemon.why_rebuild, std::nullopt);
    expect_state(daemon.state, use_of_lives(6));
    const auto again = launcher::compact_journal(journal_);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(daemon.journal.replace_with(*again));
  }
  {
    Daemon daemon = must_start();
    must_append(daemon, facts_of(life(6)));
  }
  const Daemon daemon = must_start();
  EXPECT_EQ(daemon.why_rebuild, std::nullopt);
  expect_state(daemon.state, use_of_lives(7));
}

TEST_F(FollowerTest, FactsThatWereCompactedUnseenNeedARebuild) {
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    must_append(daemon, facts_of(life(0)));
    for (int i = 1; i < 4; ++i) ASSERT_TRUE(daemon.journal.append(facts_of(life(i))));
    const auto compacted = launcher::compact_journal(journal_);
    ASSERT_TRUE(compacted);
    ASSERT_TRUE(daemon.journal.replace_with(*compacted));
  }
  {
    const Daemon daemon = must_start();
    EXPECT_THAT(daemon.why_rebuild, Optional(HasSubstr("compacted before")));
  }
  EXPECT_FALSE(must_rebuild().kept_accounting);
  const Daemon daemon = must_start();
  EXPECT_EQ(daemon.why_rebuild, std::nullopt);
  expect_state(daemon.state, use_of_lives(4));
}

TEST_F(FollowerTest, AJournalFromABackupNeedsARebuild) {
  const std::string backup = dir_ / "backup.db";
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    for (int i = 0; i < 2; ++i) must_append(daemon, facts_of(life(i)));
    ASSERT_TRUE(launcher::copy_journal(journal_, backup));
    for (int i = 2; i < 4; ++i) must_append(daemon, facts_of(life(i)));
  }
  for (const char* end : {"-wal", "-shm", ".least"}) std::filesystem::remove(journal_ + end);
  std::filesystem::rename(backup, journal_);
  {
    Daemon daemon = must_start();
    EXPECT_THAT(daemon.why_rebuild, Optional(HasSubstr("the archive was made of")));
  }
  EXPECT_FALSE(must_rebuild().kept_accounting) << "it has use that never was";
  {
    Daemon daemon = must_start();
    EXPECT_EQ(daemon.why_rebuild, std::nullopt);
    expect_state(daemon.state, use_of_lives(2));
  }
}

TEST_F(FollowerTest, OtherFactsOfTheSameNumberNeedARebuild) {
  const std::string backup = dir_ / "backup.db";
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    ASSERT_TRUE(launcher::copy_journal(journal_, backup));
    must_append(daemon, facts_of(life(1)));
  }
  for (const char* end : {"-wal", "-shm", ".least"}) std::filesystem::remove(journal_ + end);
  std::filesystem::rename(backup, journal_);
  {
    auto journal = Journal::open(journal_);
    ASSERT_TRUE(journal && journal->replay([](const StampedFact&) {}));
    for (int i = 2; i < 5; ++i) ASSERT_TRUE(journal->append(facts_of(life(i))));
  }
  {
    const Daemon daemon = must_start();
    EXPECT_THAT(daemon.why_rebuild, Optional(HasSubstr("is another one now")));
  }
  EXPECT_FALSE(must_rebuild().kept_accounting);
  const Daemon daemon = must_start();
  EXPECT_EQ(daemon.why_rebuild, std::nullopt);
  expect_state(daemon.state);
}

TEST_F(FollowerTest, WithoutAnArchiveOneIsMadeAndFollowedFromThere) {
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    for (int i = 0; i < 5; ++i) must_append(daemon, facts_of(life(i)));
    const auto open = facts_of(life(5));
    must_append(daemon, {open[0]});  // it is still open
  }
  std::filesystem::remove(archive_);
  {
    Daemon daemon = must_start();
    EXPECT_THAT(daemon.why_rebuild, Optional(std::string("there was none")));
  }
  Rebuilt rebuilt = must_rebuild();
  EXPECT_EQ(rebuilt.fold.open_jobs(), 1u);
  Daemon daemon = must_start();
  daemon.follower = Follower::after_rebuild(rebuilt.position, std::move(rebuilt.fold));
  auto rest = facts_of(life(5));
  rest.erase(rest.begin());
  must_append(daemon, rest);
  expect_state(daemon.state, use_of_lives(6));
}

TEST_F(FollowerTest, ADamagedArchiveIsMadeAnewAndItsAccountingIsKept) {
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    for (int i = 0; i < 5; ++i) must_append(daemon, facts_of(life(i, i == 2 || i == 4)));
    const auto compacted = launcher::compact_journal(journal_);
    ASSERT_TRUE(compacted);
    ASSERT_TRUE(daemon.journal.replace_with(*compacted));
    must_append(daemon, facts_of(life(5)));
    expect_state(daemon.state, use_of_lives(6));
  }
  {
    auto db = launcher::Database::open(archive_);
    ASSERT_TRUE(db && db->execute("DROP TABLE tag; DROP TABLE job; CREATE TABLE job (x)"));
  }
  auto damaged = Writer::open(archive_);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(must_rebuild().kept_accounting);
  {
    Daemon daemon = must_start();
    EXPECT_EQ(daemon.why_rebuild, std::nullopt);
    expect_state(daemon.state, use_of_lives(6));
    must_append(daemon, facts_of(life(6)));
    expect_state(daemon.state, use_of_lives(7));
  }
  // Noise in place of the file: the use of deleted jobs that the journal has dropped is lost.
  dir_.file("archive.db", std::string(10'000, 'x'));
  EXPECT_FALSE(Writer::open(archive_));
  EXPECT_FALSE(must_rebuild().kept_accounting);
  const Daemon daemon = must_start();
  expect_state(daemon.state);
}

TEST_F(FollowerTest, ARebuildThatFailsLeavesTheOldFile) {
  {
    Daemon daemon = must_start();
    must_append(daemon, {node_joins()});
    must_append(daemon, facts_of(life(0)));
  }
  const std::string before = dir_.read("archive.db");
  EXPECT_FALSE(rebuild(dir_ / "no-folder/journal.db", archive_));
  EXPECT_EQ(dir_.read("archive.db"), before);
  EXPECT_FALSE(std::filesystem::exists(archive_ + ".rebuild"));
}

// A launcher is killed with -9, 20 times at random, in the middle of archiving.
TEST_F(FollowerTest, AfterKillsEachJobIsThereOnce) {
  std::mt19937_64 random(61);
  int next = 0;
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto daemon = start();
      if (!daemon || daemon->why_rebuild) ::_exit(1);
      if (daemon->state.nodes().empty() && !append(*daemon, {node_joins()})) ::_exit(2);
      // What was begun is ended first.
      for (int number = next;; ++number) {
        const auto facts = facts_of(life(number));
        const auto done = static_cast<std::ptrdiff_t>(daemon->facts[JobId(life(number).name)]);
        if (!append(*daemon, {facts.begin() + done, facts.end()})) ::_exit(3);
        if (::write(ends[1], &number, sizeof number) < 0) ::_exit(4);
      }
    }
    ::close(ends[1]);
    int acknowledged = -1;
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(::read(ends[0], &acknowledged, sizeof acknowledged),
                static_cast<ssize_t>(sizeof acknowledged))
          << "round " << round;
    ::usleep(static_cast<useconds_t>(random() % 5'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(ends[0], &acknowledged, sizeof acknowledged) > 0) {
    }
    ::close(ends[0]);
    next = acknowledged + 1;
    const Daemon daemon = must_start();
    EXPECT_EQ(daemon.why_rebuild, std::nullopt);
    expect_state(daemon.state);
    EXPECT_GE(daemon.state.jobs().size(), static_cast<std::size_t>(next));
  }
  Daemon daemon = must_start();
  int finished = 0;
  for (const auto& [id, job] : daemon.state.jobs()) finished += job.finish() ? 1 : 0;
  const Use use = sum_of_use();
  EXPECT_EQ(use.jobs, finished);
  // Of the last one, some of its use may be there already.
  EXPECT_GE(use.cpu_ms, use_of_lives(finished).cpu_ms);
  EXPECT_LE(use.cpu_ms, use_of_lives(finished + 1).cpu_ms);
}

}  // namespace
}  // namespace lockstep::archive
