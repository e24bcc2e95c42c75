#include "launcher/cli/job/metric_order.h"

#include <gmock/gmock.h>

#include <cmath>

namespace lockstep::cli {
namespace {

using testing::ElementsAre;

TEST(MetricOrder, IsReadFromWords) {
  const std::pair<std::string, MetricOrder> good[] = {
      {"metrics.loss", {"loss", false}},
      {"metrics.val/loss:asc", {"val/loss", false}},
      {"metrics.a.b:desc", {"a.b", true}},
      {"metrics.a:b", {"a:b", false}},
  };
  for (const auto& [words, want] : good) {
    const auto order = read_metric_order(words);
    ASSERT_TRUE(order) << words;
    EXPECT_EQ(*order, want) << words;
  }
  for (const std::string words :
       {"", "loss", "metrics.", "metrics.:desc", "metric.loss", ":desc", "Metrics.loss"}) {
    const auto order = read_metric_order(words);
    ASSERT_FALSE(order) << words;
    EXPECT_EQ(order.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(read_metric_order("metrics." + std::string(300, 'x')));
}

std::vector<std::string> sorted(const MetricOrder& order) {
  std::vector<JobView> jobs;
  LatestOfJobs latest;
  const auto add = [&](const std::string& name, std::optional<double> loss) {
    jobs.emplace_back().spec.name = name;
    if (loss)
      latest[JobId(name)] = {{"other", 1, {1, {}, 0}, {}, {}, 0, 0},
                             {"loss", 1, {1, {}, *loss}, {}, {}, 0, 0}};
  };
  add("none", {});
  add("nan", std::nan(""));
  add("two", 2);
  add("one", 1);
  add("also-two", 2);
  add("inf", INFINITY);
  sort_jobs(jobs, latest, order);
  std::vector<std::string> names;
  for (const JobView& job : jobs) names.push_back(job.spec.name);
  return names;
}

TEST(MetricOrder, PutsWhatIsNoNumberBehindAllNumbers) {
  EXPECT_THAT(sorted({"loss", false}), ElementsAre("one", "two", "also-two", "inf", "nan", "none"));
  EXPECT_THAT(sorted({"loss", true}), ElementsAre("inf", "two", "also-two", "one", "nan", "none"));
  EXPECT_THAT(sorted({"unknown", false}),
              ElementsAre("none", "nan", "two", "one", "also-two", "inf"));
}

}  // namespace
}  // namespace lockstep::cli
