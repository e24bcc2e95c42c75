// Lists, pages and sums of a real archive against a model that looks at every job.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "launcher/archive/name_pattern.h"
#include "launcher/archive/reader.h"
#include "launcher/archive/writer.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/launcher/archive/facts.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::archive {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kDaySeconds = 24 * 3'600;

class ListTest : public testing::Test {
 protected:
  ListTest() {
    auto writer = Writer::open(path_);
    CHECK(writer, "an archive of the test");
    writer_.emplace(std::move(*writer));
    auto reader = Reader::open(path_);
    CHECK(reader, "a reader of the test");
    reader_.emplace(std::move(*reader));
  }

  void apply(const std::vector<Change>& changes) {
    ++mark_.facts;
    const auto done = writer_->apply(changes, mark_);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string any(std::initializer_list<const char*> words) {
    return words.begin()[random_() % words.size()];
  }
  EndedJob random_job(std::uint64_t order) {
    const JobStatus states[] = {JobStatus::completed, JobStatus::failed, JobStatus::canceled};
    EndedJob job;
    job.order = order;
    job.job = JobId(any({"train", "eval", "t", "train-x"}) + "_" + std::to_string(order));
    job.status = states[random_() % 3];
    job.owner = any({"ann", "bob", "eve"});
    job.project = any({"", "p", "q"});
    job.experiment = any({"Default", "e1"});
    job.target = any({"local", "cloud"});
    if (random_() % 10 == 0) job.parent = JobId("train_1");
    if (!job.parent.value.empty() && random_() % 2 == 0) job.step = "one";
    job.archived = random_() % 6 == 0;
    job.shared = random_() % 2 == 0;
    if (random_() % 3 == 0) job.tags["team"] = any({"vision", "text"});
    if (random_() % 4 == 0) job.tags["x"] = "";
    job.submitted = at_second(static_cast<std::int64_t>(order * 10 + random_() % 200));
    job.ended = job.submitted + seconds(static_cast<std::int64_t>(random_() % 500));
    if (random_() % 3 != 0) job.started = job.submitted;
    job.attempts = static_cast<int>(random_() % 3);
    return job;
  }
  void fill(std::size_t count) {
    std::vector<Change> changes;
    for (std::uint64_t order = 1; order <= count; ++order) {
      jobs_.push_back(random_job(order));
      changes.emplace_back(JobEnded{jobs_.back(), {}});
      if (changes.size() == 1'000 || order == count) {
        apply(changes);
        changes.clear();
      }
    }
  }

  JobQuery random_query() {
    JobQuery query;
    const auto some = [this](int of) { return random_() % static_cast<unsigned>(of) == 0; };
    query.visible.all = some(2);
    query.visible.user = any({"ann", "bob"});
    if (some(2)) query.visible.projects = {any({"p", "q"})};
    if (some(3)) query.statuses.push_back(JobStatus::failed);
    if (some(4)) query.statuses.push_back(JobStatus::canceled);
    if (some(4)) query.owner = any({"ann", "eve", "nobody"});
    if (some(5)) query.experiment = any({"e1", "none"});
    if (some(5)) query.target = any({"cloud", "local"});
    if (some(4)) query.project = any({"", "p"});
    if (some(4))
      query.name = any({"train*", "*_1?", "t_*", "eval_12", "*", "nothing*", "tr?in-x_*"});
    if (some(5)) query.tags.push_back({"team", "vision"});
    if (some(6)) query.tags.push_back({"x", std::nullopt});
    const auto time = [this] {
      return at_second(static_cast<std::int64_t>(random_() % (jobs_.size() * 11)));
    };
    if (some(4)) query.submitted_from = time();
    if (some(4)) query.submitted_to = time();
    if (some(5)) query.ended_from = time();
    if (some(5)) query.ended_to = time();
    if (some(3)) query.parent = JobId(any({"", "train_1"}));
    query.archived = static_cast<ArchivedToo>(random_() % 3);
    query.sort = static_cast<Sort>(random_() % 3);
    query.descending = some(2);
    query.limit = 1 + random_() % 200;
    return query;
  }

  static bool meets(const JobQuery& query, const EndedJob& job) {
    const auto& projects = query.visible.projects;
    const bool own = query.visible.all || job.owner == query.visible.user;
    const bool member = std::find(projects.begin(), projects.end(), job.project) != projects.end();
    if (!own && !(member && (query.tags.empty() || job.shared))) return false;
    for (const auto& tag : query.tags) {
      const auto found = job.tags.find(tag.key);
      if (found == job.tags.end() || (tag.value && *tag.value != found->second)) return false;
    }
    const auto& states = query.statuses;
    const bool of_state =
        states.empty() || std::find(states.begin(), states.end(), job.status) != states.end();
    const bool of_archive =
        query.archived == ArchivedToo::yes || (query.archived == ArchivedToo::only) == job.archived;
    return of_state && of_archive && (query.owner.empty() || query.owner == job.owner) &&
           (query.experiment.empty() || query.experiment == job.experiment) &&
           (query.target.empty() || query.target == job.target) &&
           (!query.project || *query.project == job.project) &&
           (!query.parent || *query.parent == job.parent) &&
           (query.name.empty() || name_matches(job.job.value, query.name)) &&
           query.submitted_from <= job.submitted && job.submitted < query.submitted_to &&
           query.ended_from <= job.ended && job.ended < query.ended_to;
  }
  std::vector<std::string> expected(const JobQuery& query) const {
    std::vector<EndedJob> found;
    for (const EndedJob& job : jobs_)
      if (meets(query, job)) found.push_back(job);
    std::sort(found.begin(), found.end(), [&](const EndedJob& a, const EndedJob& b) {
      const EndedJob& first = query.descending ? b : a;
      const EndedJob& second = query.descending ? a : b;
      if (query.sort == Sort::name) return first.job < second.job;
      if (query.sort == Sort::ended && first.ended != second.ended)
        return first.ended < second.ended;
      return first.order < second.order;
    });
    std::vector<std::string> names;
    for (const EndedJob& job : found) names.push_back(job.job.value);
    return names;
  }
  // All pages of a list.
  std::vector<std::string> listed(JobQuery query) {
    std::vector<std::string> names;
    for (int page_number = 0; page_number < 1'000'000; ++page_number) {
      const auto page = reader_->list(query);
      EXPECT_TRUE(page) << page.error().message;
      if (!page) return names;
      EXPECT_LE(page->jobs.size(), query.limit);
      for (const EndedJob& job : page->jobs) names.push_back(job.job.value);
      if (page->next.empty()) return names;
      EXPECT_NE(page->next, query.after) << "it goes on";
      query.after = page->next;
    }
    return names;
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string path_ = dir_ / "archive.db";
  std::optional<Writer> writer_;
  std::optional<Reader> reader_;
  JournalPosition mark_;
  std::vector<EndedJob> jobs_;
  std::mt19937_64 random_{51};
};

TEST_F(ListTest, FewJobsAreListedAsTheModelHasThem) {
  fill(700);
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    const JobQuery query = random_query();
    ASSERT_EQ(listed(query), expected(query)) << round;
  }
}

// More than are gathered: indexes are gone through.
TEST_F(ListTest, ManyJobsAreListedAsTheModelHasThem) {
  fill(2 * kMaxGathered + 5'000);
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    JobQuery query = random_query();
    query.limit = kMaxPageJobs;
    ASSERT_EQ(listed(query), expected(query)) << round;
  }
}

TEST_F(ListTest, APageHasAllOfItsJobs) {
  fill(20);
  JobQuery query;
  query.visible.all = true;
  query.archived = ArchivedToo::yes;
  const auto page = reader_->list(query);
  ASSERT_TRUE(page);
  ASSERT_THAT(page->jobs, SizeIs(20));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(page->jobs[i], jobs_[19 - i]);
  EXPECT_EQ(page->next, "");
}

TEST_F(ListTest, ACursorIsOfItsList) {
  fill(30);
  JobQuery query;
  query.visible.all = true;
  query.limit = 3;
  const std::string next = reader_->list(query)->next;
  ASSERT_NE(next, "");
  const auto is_refused = [&](const std::string& after) {
    query.after = after;
    const auto page = reader_->list(query);
    return !page && page.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_FALSE(is_refused(next));
  for (const std::string& bad :
       {std::string("x"), next + "x", "x" + next, std::string("order.down.1"),
        std::string("order.down.01.0."), std::string("order.down.-1.0."),
        std::string("order.down.99999999999999999999.0."), std::string("ended.down.1.0."),
        "order.down.1.0." + std::string(1'000, 'x')})
    EXPECT_TRUE(is_refused(bad)) << bad;
  query.descending = false;
  EXPECT_TRUE(is_refused(next)) << "the other way";
  query.descending = true;
  query.sort = Sort::name;
  EXPECT_TRUE(is_refused(next)) << "another sort";
}

TEST_F(ListTest, HasLimits) {
  JobQuery query;
  query.name = std::string(kMaxNamePatternBytes + 1, '*');
  EXPECT_EQ(reader_->list(query).error().code, ErrorCode::invalid_argument);
  query.name.clear();
  query.tags.resize(kMaxQueryTags + 1);
  EXPECT_EQ(reader_->list(query).error().code, ErrorCode::invalid_argument);
}

TEST_F(ListTest, ChangesReachTheStepsAndDeletionTheChildren) {
  EndedJob pipeline, step, child;
  pipeline.order = 1;
  pipeline.job = JobId("pipeline");
  step.order = 2;
  step.job = JobId("step");
  step.parent = JobId("pipeline");
  step.step = "one";
  child.order = 3;
  child.job = JobId("child");
  child.parent = JobId("pipeline");
  apply({JobEnded{pipeline, {}}, JobEnded{step, {}}, JobEnded{child, {}}});
  apply({JobChanged{JobId("pipeline"), true, true, {}}});
  EXPECT_TRUE(reader_->find(JobId("step")).value()->archived);
  EXPECT_TRUE(reader_->find(JobId("step")).value()->shared);
  EXPECT_FALSE(reader_->find(JobId("child")).value()->archived);
  apply({JobChanged{JobId("child"), {}, {}, JobChanged::Texts{"t", "d", "e", {{"a", "b"}}}}});
  const EndedJob changed = *reader_->find(JobId("child")).value();
  EXPECT_EQ(changed.title, "t");
  EXPECT_EQ(changed.description, "d");
  EXPECT_EQ(changed.tags, (std::map<std::string, std::string>{{"a", "b"}}));
  apply({JobGone{JobId("pipeline")}, JobGone{JobId("unknown")}});
  EXPECT_EQ(reader_->find(JobId("pipeline")).value(), std::nullopt);
  EXPECT_EQ(reader_->find(JobId("child")).value()->parent, JobId(""));
  EXPECT_EQ(reader_->find(JobId("step")).value()->parent, JobId("pipeline"));
}

TEST_F(ListTest, ADefinitionIsKeptOnceAndGoesWithItsLastJob) {
  const std::string bytes(10'000, 'd');
  for (std::uint64_t order = 1; order <= 3; ++order) {
    EndedJob job;
    job.order = order;
    job.job = JobId("job" + std::to_string(order));
    job.definition = sha256(bytes);
    apply({JobEnded{job, bytes}});
    apply({JobEnded{job, bytes}});  // the same again
  }
  const auto count = [this] {
    auto db = launcher::Database::open(path_);
    return db->number("SELECT coalesce(sum(jobs), -1) FROM definition").value_or(-2);
  };
  EXPECT_EQ(count(), 3);
  EXPECT_EQ(reader_->definition(sha256(bytes)).value(), bytes);
  EXPECT_EQ(reader_->find(JobId("job2")).value()->definition, sha256(bytes));
  apply({JobGone{JobId("job1")}, JobGone{JobId("job3")}});
  EXPECT_EQ(count(), 1);
  apply({JobGone{JobId("job2")}});
  EXPECT_EQ(count(), -1);
  EXPECT_EQ(reader_->definition(sha256(bytes)).value(), std::nullopt);
}

TEST_F(ListTest, CountsAndProblems) {
  fill(100);
  std::int64_t sum = 0;
  for (const auto& [status, count] : reader_->counts().value()) sum += count;
  EXPECT_EQ(sum, 100);
  EXPECT_THAT(reader_->problems().value(), IsEmpty());
}

TEST_F(ListTest, UseIsSummedByWhatIsAsked) {
  std::map<UseKey, Use> model;
  for (int i = 0; i < 500; ++i) {
    const UseKey key{static_cast<std::int64_t>(random_() % 800), any({"ann", "bob"}),
                     any({"p", "q"}), any({"local", "cloud"})};
    Use use;
    use.cpu_ms = static_cast<std::int64_t>(random_() % 1'000);
    use.jobs = 1;
    model[key] += use;
    apply({Used{key, use}});
  }
  using Period = UseQuery::Period;
  for (const Period period : {Period::day, Period::week, Period::month, Period::all}) {
    UseQuery query;
    query.period = period;
    query.by_owner = random_() % 2 == 0;
    query.by_target = random_() % 2 == 0;
    query.from_day = 100;
    query.to_day = 700;
    query.project = "p";
    std::map<UseKey, Use> want;
    for (const auto& [key, use] : model) {
      if (key.day < 100 || key.day > 700 || key.project != "p") continue;
      UseKey of;
      // Another way: step by step to the first day.
      of.day = period == Period::all ? 0 : key.day;
      const auto date = [&of] { return std::chrono::sys_days{std::chrono::days{of.day}}; };
      while (period == Period::week && std::chrono::weekday{date()} != std::chrono::Monday)
        --of.day;
      while (period == Period::month &&
             std::chrono::year_month_day{date()}.day() != std::chrono::day{1})
        --of.day;
      if (query.by_owner) of.owner = key.owner;
      if (query.by_target) of.target = key.target;
      want[of] += use;
    }
    const auto rows = reader_->use(query);
    ASSERT_TRUE(rows) << rows.error().message;
    std::map<UseKey, Use> got;
    for (const UseRow& row : *rows) got[row.key] = row.use;
    EXPECT_EQ(got, want);
  }
}

TEST(NamePattern, StarsAndQuestionMarks) {
  EXPECT_TRUE(name_matches("train-7", "train-*"));
  EXPECT_TRUE(name_matches("train-7", "*7"));
  EXPECT_TRUE(name_matches("train-7", "tr??n-7*"));
  EXPECT_FALSE(name_matches("train-7", "train"));
  EXPECT_FALSE(name_matches("train-7", "train-??"));
  EXPECT_TRUE(name_matches("", "**"));
  EXPECT_FALSE(name_matches("[a]", "[ab]"));
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "*a";
  EXPECT_FALSE(name_matches(std::string(240, 'a'), stars + "b"));
}

}  // namespace
}  // namespace lockstep::archive
