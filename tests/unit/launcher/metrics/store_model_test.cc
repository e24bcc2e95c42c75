// Random changes and questions, against a model that keeps everything in maps and looks at all of
// it for each answer.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "launcher/metrics/search/like.h"
#include "tests/unit/launcher/metrics/store_fixture.h"

namespace lockstep::metrics {
namespace {

const double kNan = std::nan("");

struct Before {
  bool operator()(const Point& a, const Point& b) const { return is_before(a, b); }
};
using Points = std::set<Point, Before>;

struct ModelRun {
  RunInfo info;
  std::map<std::string, std::map<SeriesId, Points>> metrics;
  std::map<std::string, std::string> params, tags;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The summary of one metric, from all its points.
MetricSummary summary_of(const std::string& name, const std::map<SeriesId, Points>& series) {
  MetricSummary summary;
  summary.name = name;
  std::optional<std::tuple<std::uint64_t, std::uint32_t>> newest;
  for (const auto& [id, points] : series) {
    const auto attempt = std::tuple(id.incarnation, id.attempt);
    for (const Point& point : points) {
      const bool is_newer =
          !newest || *newest < attempt || (*newest == attempt && is_before(summary.last, point));
      if (is_newer) {
        newest = attempt;
        summary.attempt = id.attempt;
        summary.last = point;
      }
      if (std::isnan(point.value)) continue;
      if (!summary.least || point.value < *summary.least) summary.least = point.value;
      if (!summary.greatest || point.value > *summary.greatest) summary.greatest = point.value;
    }
  }
  return summary;
}

class StoreModel : public StoreTest {
 protected:
  std::string any(std::initializer_list<const char*> words) {
    return words.begin()[random_() % words.size()];
  }
  std::string any_run() {
    return any({"a", "b", "c"}) + (random_() % 3 == 0 ? any({".x", ".y"}) : "");
  }

  void describe() {
    RunInfo info = info_of(any_run(), any({"e1", "e2"}));
    info.title = any({"", "Run", "run", "other"});
    info.status = static_cast<RunStatus>(random_() % 5);
    info.started.ns = static_cast<std::int64_t>(random_() % 4) * 1'000'000'000;
    info.ended.ns = static_cast<std::int64_t>(random_() % 3) * 1'500'000;
    info.deleted = random_() % 5 == 0;
    info.shared = random_() % 2 == 0;
    const JobId job = job_of(info.run);
    info.owner = job.value == "a" ? "ann" : "bob";
    info.project = any({"p", "q"});
    const bool known = runs_.count(job.value) != 0;
    if (is_inside_job(info.run) && !known) {
      EXPECT_EQ(error_of(DescribeRun{info}), ErrorCode::not_found);
      return;
    }
    must(DescribeRun{info});
    if (is_inside_job(info.run)) {
      const RunInfo& own = runs_[job.value].info;
      info.owner = own.owner;
      info.project = own.project;
      info.shared = own.shared;
    } else {
      for (auto& [name, run] : runs_)
        if (job_of(run.info.run) == job) {
          run.info.project = info.project;
          run.info.shared = info.shared;
        }
    }
    runs_[info.run.value].info = info;
  }

  void log() {
    LogBatch batch;
    const bool again = !sent_.empty() && random_() % 4 == 0;
    if (again) {
      batch = sent_[random_() % sent_.size()];
    } else {
      batch = batch_of(any_run(), {}, 1 + random_() % 2, static_cast<int>(random_() % 2));
      for (std::size_t i = random_() % 6; i-- > 0;) {
        const double values[] = {kNan, std::numeric_limits<double>::infinity(), 0, 0.5, -1};
        batch.points.push_back(at(any({"loss", "acc"}), static_cast<std::int64_t>(random_() % 5),
                                  values[random_() % 5]));
      }
      if (random_() % 3 == 0) batch.params[any({"lr", "n"})] = any({"0.1", "0.2"});
      if (random_() % 3 == 0) batch.tags[any({"team", "x"})] = any({"vision", "Vision", "text"});
      if (random_() % 5 == 0) batch.removed_tags.push_back(any({"team", "x"}));
      sent_.push_back(batch);
    }
    const auto known = runs_.find(batch.run.value);
    if (known == runs_.end()) {
      EXPECT_EQ(error_of(batch), ErrorCode::not_found);
      return;
    }
    ModelRun& run = known->second;
    for (const auto& [key, value] : batch.params) {
      const auto has = run.params.find(key);
      if (has == run.params.end() || has->second == value) continue;
      EXPECT_EQ(error_of(batch), ErrorCode::conflict);
      return;
    }
    must(batch);
    for (const NamedPoint& one : batch.points)
      run.metrics[one.name][{batch.attempt.number, 0, batch.rank}].insert(one.point);
    run.params.insert(batch.params.begin(), batch.params.end());
    for (const std::string& key : batch.removed_tags) run.tags.erase(key);
    for (const auto& [key, value] : batch.tags) run.tags[key] = value;
  }

  void remove() {
    const RunId run(any_run());
    if (is_inside_job(run)) {
      must(RemoveRun{run});
      runs_.erase(run.value);
      return;
    }
    must(RemoveJob{JobId(run.value)});
    std::erase_if(runs_,
                  [&run](const auto& one) { return job_of(RunId(one.first)).value == run.value; });
  }

  void compare() {
    for (const auto& [name, run] : runs_) {
      SCOPED_TRACE(name);
      EXPECT_EQ(reader_->run(RunId(name)).value(), run.info);
      const auto data = reader_->data(RunId(name));
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(data->params, run.params);
      EXPECT_EQ(data->tags, run.tags);
      ASSERT_EQ(data->metrics.size(), run.metrics.size());
      std::size_t i = 0;
      for (const auto& [metric, series] : run.metrics) {
        const MetricSummary& got = data->metrics[i++];
        const MetricSummary want = summary_of(metric, series);
        EXPECT_EQ(got.name, metric);
        EXPECT_EQ(got.attempt, want.attempt);
        EXPECT_EQ(got.last, want.last);
        EXPECT_EQ(got.least, want.least);
        EXPECT_EQ(got.greatest, want.greatest);
        compare_points(name, metric, series);
      }
    }
    EXPECT_EQ(count("SELECT coalesce(sum(points), 0) FROM job"), points());
    EXPECT_EQ(count("SELECT coalesce(sum(points), 0) FROM owner"), points());
  }

  void compare_points(const std::string& run, const std::string& metric,
                      const std::map<SeriesId, Points>& series) {
    std::map<SeriesId, Points> got;
    std::string after;
    do {
      const auto page = reader_->history(RunId(run), metric, after, 1 + random_() % 4);
      ASSERT_TRUE(page) << page.error().message;
      for (const auto& row : page->rows)
        EXPECT_TRUE(got[row.series].insert(row.point).second) << "a point came twice";
      after = page->next;
    } while (!after.empty());
    EXPECT_EQ(got, series);
    const auto curves = reader_->curves({RunId(run), metric, {}, {}, Axis::step, {}, {}, 3});
    ASSERT_TRUE(curves) << curves.error().message;
    ASSERT_EQ(curves->size(), series.size());
    for (const Curve& curve : *curves) {
      std::uint64_t points = 0;
      for (const Bucket& bucket : curve.buckets) points += bucket.points;
      EXPECT_EQ(points, series.at(curve.series).size());
      EXPECT_TRUE(same(curve.buckets.back().last, series.at(curve.series).rbegin()->value));
    }
  }
  std::int64_t points() const {
    std::size_t count = 0;
    for (const auto& [name, run] : runs_)
      for (const auto& [metric, series] : run.metrics)
        for (const auto& [id, points] : series) count += points.size();
    return static_cast<std::int64_t>(count);
  }

  // ---- the model's search -----------------------------------------------------------------------

  static bool compares(Comparison how, const auto& a, const auto& b) {
    switch (how) {
      case Comparison::equal: return a == b;
      case Comparison::unequal: return a != b;
      case Comparison::less: return a < b;
      case Comparison::less_or_equal: return a <= b;
      case Comparison::greater: return a > b;
      case Comparison::greater_or_equal: return a >= b;
      case Comparison::like:
      case Comparison::ilike:
      case Comparison::in:
      case Comparison::not_in: break;
    }
    ADD_FAILURE() << "a comparison of texts";
    return false;
  }
  static bool compares_text(const Clause& clause, const std::string& text) {
    if (const auto* words = std::get_if<Words>(&clause.value)) {
      const bool is_in = std::find(words->begin(), words->end(), text) != words->end();
      return is_in == (clause.comparison == Comparison::in);
    }
    const auto& wanted = std::get<std::string>(clause.value);
    if (clause.comparison == Comparison::like) return like(text, wanted);
    if (clause.comparison == Comparison::ilike) return ilike(text, wanted);
    return compares(clause.comparison, text, wanted);
  }
  static std::optional<std::string> text_of(const RunInfo& info, Attribute attribute) {
    if (attribute == Attribute::run_id) return info.run.value;
    if (attribute == Attribute::run_name) return info.title;
    if (attribute == Attribute::status) return std::string(to_string(info.status));
    return info.owner;
  }
  static bool meets(const ModelRun& run, const Clause& clause) {
    const std::string& key = clause.field.key;
    if (clause.field.entity == Entity::metric) {
      const auto metric = run.metrics.find(key);
      return metric != run.metrics.end() &&
             compares(clause.comparison, summary_of(key, metric->second).last.value,
                      std::get<double>(clause.value));
    }
    if (clause.field.entity == Entity::attribute && is_number(clause.field)) {
      const Instant at =
          clause.field.attribute == Attribute::start_time ? run.info.started : run.info.ended;
      return at.ns != 0 && compares(clause.comparison, static_cast<double>(at.ns / 1'000'000),
                                    std::get<double>(clause.value));
    }
    if (clause.field.entity == Entity::attribute)
      return compares_text(clause, *text_of(run.info, clause.field.attribute));
    const auto& texts = clause.field.entity == Entity::parameter ? run.params : run.tags;
    const auto text = texts.find(key);
    return text != texts.end() && compares_text(clause, text->second);
  }

  std::string random_clause() {
    const auto number = [&] { return any({"0", "0.5", "-1", "0.25"}); };
    const auto sign = [&] { return any({"=", "!=", "<", "<=", ">", ">="}); };
    switch (random_() % 5) {
      case 0: return "metrics." + any({"loss", "acc", "none"}) + " " + sign() + " " + number();
      case 1: return "params." + any({"lr", "n"}) + any({" = '0.1'", " != '0.1'", " LIKE '0%'"});
      case 2:
        return "tags." + any({"team", "x"}) +
               any({" = 'vision'", " != 'vision'", " ILIKE '%VIS%'", " LIKE '%_is%'"});
      case 3: return any({"start_time ", "end_time "}) + sign() + any({" 0", " 1", " 2000"});
      default:
        return any({"status = 'RUNNING'", "status != 'FAILED'", "run_name ILIKE 'RUN'",
                    "user_id = 'ann'", "run_id IN ('a', 'b.x')", "run_id NOT IN ('a')",
                    "run_id LIKE '%.%'"});
    }
  }

  void search() {
    std::string text;
    for (std::size_t i = random_() % 3; i-- > 0;)
      text += (text.empty() ? "" : " AND ") + random_clause();
    SCOPED_TRACE(text);
    SearchQuery query;
    auto filter = parse_filter(text);
    ASSERT_TRUE(filter) << filter.error().message;
    query.filter = *filter;
    if (random_() % 2 == 0) query.experiments = {"e1"};
    query.view = static_cast<SearchQuery::View>(random_() % 3);
    query.may_read.all = random_() % 2 == 0;
    query.may_read.owner = "ann";
    if (random_() % 2 == 0) query.may_read.projects = {"p"};
    const std::string order = any({"", "metrics.loss", "metrics.acc DESC", "params.lr DESC",
                                   "tags.team", "end_time", "run_name DESC"});
    if (!order.empty()) query.orders = {parse_order(order).value()};

    std::vector<std::string> got;
    query.limit = 1 + random_() % 4;
    for (;;) {
      const auto page = reader_->search(query);
      ASSERT_TRUE(page) << page.error().message;
      for (const FoundRun& found : page->runs) got.push_back(found.info.run.value);
      if (!page->next_offset) break;
      ASSERT_GT(*page->next_offset, query.offset);
      query.offset = *page->next_offset;
    }
    EXPECT_EQ(got, expected(query)) << order;
  }

  std::vector<std::string> expected(const SearchQuery& query) {
    std::vector<const ModelRun*> found;
    for (const auto& [name, run] : runs_) {
      const RunInfo& info = run.info;
      const bool of_view = query.view == SearchQuery::View::all ||
                           info.deleted == (query.view == SearchQuery::View::deleted);
      const bool readable = query.may_read.all || info.owner == query.may_read.owner ||
                            (info.shared && !query.may_read.projects.empty() &&
                             info.project == query.may_read.projects[0]);
      const bool of_experiment =
          query.experiments.empty() || info.experiment == query.experiments[0];
      bool meets_all = of_view && readable && of_experiment;
      for (const Clause& clause : query.filter) meets_all = meets_all && meets(run, clause);
      if (meets_all) found.push_back(&run);
    }
    std::stable_sort(found.begin(), found.end(), [&](const ModelRun* a, const ModelRun* b) {
      if (!query.orders.empty()) {
        const auto first = rank_of(*a, query.orders[0]), second = rank_of(*b, query.orders[0]);
        if (first.missing != second.missing) return first.missing < second.missing;
        const auto& up = query.orders[0].ascending ? first : second;
        const auto& down = query.orders[0].ascending ? second : first;
        if (up.number != down.number) return up.number < down.number;
        if (up.text != down.text) return up.text < down.text;
      }
      if (a->info.started != b->info.started) return a->info.started > b->info.started;
      return a->info.run.value < b->info.run.value;
    });
    std::vector<std::string> names;
    for (const ModelRun* run : found) names.push_back(run->info.run.value);
    return names;
  }

  struct Rank {
    int missing = 0;  // 1: NaN, 2: not there
    double number = 0;
    std::string text;
  };
  static Rank rank_of(const ModelRun& run, const Order& order) {
    const std::string& key = order.field.key;
    if (order.field.entity == Entity::metric) {
      const auto metric = run.metrics.find(key);
      if (metric == run.metrics.end()) return {2, 0, ""};
      const double last = summary_of(key, metric->second).last.value;
      return std::isnan(last) ? Rank{1, 0, ""} : Rank{0, last, ""};
    }
    if (order.field.entity == Entity::attribute) {
      if (order.field.attribute == Attribute::run_name) return {0, 0, run.info.title};
      const auto milliseconds = static_cast<double>(run.info.ended.ns / 1'000'000);
      return run.info.ended.ns == 0 ? Rank{2, 0, ""} : Rank{0, milliseconds, ""};
    }
    const auto& texts = order.field.entity == Entity::parameter ? run.params : run.tags;
    const auto text = texts.find(key);
    return text == texts.end() ? Rank{2, 0, ""} : Rank{0, 0, text->second};
  }

  std::map<std::string, ModelRun> runs_;
  std::vector<LogBatch> sent_;
  std::mt19937_64 random_{31};
};

TEST_F(StoreModel, EveryAnswerIsTheModels) {
  for (int step = 0; step < 2'500 && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    const auto what = random_() % 20;
    if (what < 4)
      describe();
    else if (what < 14)
      log();
    else if (what < 15)
      remove();
    else
      search();
    if (step % 50 == 0) compare();
    if (step % 500 == 499) open();
  }
  compare();
}

}  // namespace
}  // namespace lockstep::metrics
