// The journals of earlier landings: the archive has exactly the jobs that have ended in the state
// that the journal folds to, with the same words; also when it is rebuilt after a compaction.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "launcher/archive/reader.h"
#include "launcher/archive/rebuild.h"
#include "launcher/sqlite/database.h"
#include "launcher/state/targets/computes.h"
#include "launcher/store/journal.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::archive {
namespace {

using launcher::Job;
using launcher::State;

EndedJob row_of(const State& state, const Job& job) {
  const JobSpec& spec = job.spec;
  EndedJob row;
  row.order = job.order;
  row.job = job.id;
  row.status = job.status();
  row.owner = spec.submitter;
  row.project = spec.project;
  row.experiment = spec.experiment_name;
  row.title = spec.display_name;
  row.description = spec.description;
  row.tags = spec.tags;
  row.target = launcher::target_of(spec);
  row.parent = spec.is_child() ? job.child_of : spec.parent;
  row.step = spec.step;
  const Job* const pipeline = spec.step.empty() ? nullptr : state.job(spec.parent);
  row.archived = job.archived || (pipeline != nullptr && pipeline->archived);
  row.shared = job.shared;
  row.submitted = job.submitted;
  if (!job.attempts.empty()) row.started = job.attempts.front().placed;
  row.ended = job.finish()->at;
  row.nodes = spec.resources.instance_count;
  row.attempts = static_cast<int>(job.attempts.size());
  row.cause = to_string(job.finish()->report.cause);
  row.why = job.finish()->report.why;
  return row;
}

void expect_same(const std::string& journal, const std::string& archive) {
  State state;
  const auto read = launcher::read_journal(
      journal, [&](const launcher::StampedFact& fact, const launcher::JournalPosition&) -> Status {
        state.apply(fact.at, fact.fact);
        return {};
      });
  ASSERT_TRUE(read) << read.error().message;
  auto reader = Reader::open(archive);
  ASSERT_TRUE(reader) << reader.error().message;
  std::size_t ended = 0;
  for (const auto& [id, job] : state.jobs()) {
    SCOPED_TRACE(id.value);
    auto found = reader->find(id);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->has_value(), job.finish() != nullptr);
    if (!job.finish()) continue;
    ++ended;
    EXPECT_EQ(**found, row_of(state, job));
  }
  JobQuery all;
  all.visible.all = true;
  all.archived = ArchivedToo::yes;
  all.limit = kMaxPageJobs;
  const auto page = reader->list(all);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->jobs.size(), ended);
  EXPECT_EQ(page->next, "");
}

TEST(RecordedJournals, AreArchivedAsTheyFold) {
  int landings = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(LOCKSTEP_SOURCE) + "/tests/data")) {
    if (!std::filesystem::exists(entry.path() / "journal.sql")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++landings;
    const test::TempDir dir;
    const std::string journal = dir / "journal.db", archive = dir / "archive.db";
    {
      std::ostringstream sql;
      sql << std::ifstream(entry.path() / "journal.sql").rdbuf();
      auto db = launcher::Database::open(journal);
      ASSERT_TRUE(db && db->execute(sql.str().c_str()));
    }
    auto opened = launcher::Journal::open(journal);  // migrates an older one
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE(opened->replay([](const launcher::StampedFact&) {}));
    const auto rebuilt = rebuild(journal, archive);
    ASSERT_TRUE(rebuilt) << rebuilt.error().message;
    EXPECT_EQ(rebuilt->position, opened->position());
    expect_same(journal, archive);
    const auto compacted = launcher::compact_journal(journal);
    ASSERT_TRUE(compacted) << compacted.error().message;
    ASSERT_TRUE(opened->replace_with(*compacted));
    EXPECT_EQ(rebuilt->position.facts, opened->position().facts) << "the same fact, elsewhere";
    const auto again = rebuild(journal, archive);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->kept_accounting);
    expect_same(journal, archive);
  }
  EXPECT_GT(landings, 3);
}

}  // namespace
}  // namespace lockstep::archive
