// The journal on a disk that says no, at every call that would change it: what append() returned
// for is there afterwards, what is there is a prefix of what was asked for, and the error says on
// which file and why.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "common/domain/why/jobs/orders.h"
#include "launcher/sqlite/database.h"
#include "launcher/state/state.h"
#include "launcher/store/journal.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr int kJobs = 6, kCompactedAfter = 4;

class JournalFaults : public testing::Test {
 protected:
  JournalFaults() {
    State state;
    states_.push_back(state);
    for (int i = 0; i < kJobs; ++i) {
      for (const auto& fact : life(i)) state.apply(fact.at, fact.fact);
      states_.push_back(state);
    }
  }

  static std::vector<StampedFact> life(int i) {
    const JobId job("job" + std::to_string(i));
    JobSpec spec;
    spec.name = job.value;
    spec.tags["text"] = std::string(3'000, 'x');  // so that the WAL and the database grow
    const Instant at{1'000 + i};
    ExitReport report;
    report.cause = Cause::canceled;
    std::vector<StampedFact> facts{{at, JobSubmitted{job, "s" + job.value, spec, 0, 0}},
                                   {at, CancelRequested{job, AskedBy{"ann"}}},
                                   {at, JobFinished{job, JobStatus::canceled, report}}};
    if (i < 3) facts.push_back({at, JobDeleted{job, "ann", "s" + job.value, 5}});
    return facts;
  }

  // A daemon's life with it, up to the first error after which a daemon leaves.
  Status live(const std::string& path) {
    TRY_ASSIGN(auto journal, Journal::open(path));
    TRY(journal.replay([](const StampedFact&) {}));
    for (int i = 0; i < kJobs; ++i) {
      ++attempted_;
      TRY(journal.append(life(i)));
      ++acknowledged_;
      if (i != kCompactedAfter) continue;
      const auto compacted = compact_journal(path);
      if (!compacted) {
        compaction_error_ = compacted.error().message;
        continue;
      }
      const Status adopted = journal.replace_with(*compacted);
      if (!adopted && adopted.error().code != ErrorCode::unavailable) return adopted;
    }
    return {};
  }

  // How many jobs' lives are in it; -1: something that never was.
  int read_back(const std::string& path, std::string* why) {
    auto journal = Journal::open(path);
    if (!journal) {
      *why = journal.error().message;
      return -1;
    }
    State state;
    const auto done = journal->replay([&](const StampedFact& f) { state.apply(f.at, f.fact); });
    if (!done) *why = done.error().message;
    for (int i = 0; done && i <= kJobs; ++i)
      if (state == states_[static_cast<std::size_t>(i)]) return i;
    return -1;
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string& directory_ = dir_.path();
  std::string compaction_error_;
  std::vector<State> states_;  // after so many jobs
  int attempted_ = 0, acknowledged_ = 0;
};

TEST_F(JournalFaults, NothingThatWasAcknowledgedIsLostWhereverTheDiskSaysNo) {
  const int runs = test::each_fault([this](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    attempted_ = acknowledged_ = 0;
    const std::string home = directory_ + "/home";
    std::filesystem::create_directory(home);
    Status lived;
    {
      const io::disk::InFront front(faults);
      lived = live(home + "/journal.db");
    }
    if (!lived) {
      EXPECT_THAT(lived.error().message, HasSubstr(home));
      EXPECT_THAT(lived.error().message,
                  AnyOf(HasSubstr("No space left"), HasSubstr("Input/output error"),
                        HasSubstr("Read-only file system")));
      EXPECT_NE(lived.error().code, ErrorCode::corrupt);
    } else {
      EXPECT_EQ(acknowledged_, kJobs);
    }
    std::string why;
    const int found = read_back(home + "/journal.db", &why);
    EXPECT_GE(found, acknowledged_) << why;
    EXPECT_LE(found, attempted_);
    // And it goes on from there.
    auto journal = Journal::open(home + "/journal.db");
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(journal->replay([](const StampedFact&) {}));
    EXPECT_TRUE(journal->append(life(90)));
    std::filesystem::remove_all(home);
  });
  EXPECT_GT(runs, 150);
}

// A checkpoint that has no room leaves the facts where they are: in the WAL.
TEST_F(JournalFaults, AFullDiskKeepsNobodyFromReadingTheJournal) {
  const std::string path = directory_ + "/journal.db";
  const std::string copy = directory_ + "/copy.db";
  {
    auto journal = Journal::open(path);
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->replay([](const StampedFact&) {}));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(journal->append(life(i)));
    for (const char* end : {"", "-wal"}) std::filesystem::copy_file(path + end, copy + end);
  }
  auto weather = test::all_disk_weather()[1];
  weather.calls = {io::disk::Call::write};
  test::DiskFaults faults(weather, 1);
  const io::disk::InFront front(faults);
  std::string why;
  EXPECT_EQ(read_back(copy, &why), 3) << why;
  EXPECT_TRUE(faults.struck());
}

}  // namespace
}  // namespace lockstep::launcher
