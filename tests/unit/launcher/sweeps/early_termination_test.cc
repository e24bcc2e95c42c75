// Azure's early termination policies, by tables: which trials they end.

#include "launcher/sweeps/early_termination.h"

#include <gmock/gmock.h>

#include <ostream>

#include "launcher/sweeps/words.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Slack = BanditPolicy::Slack;

using Values = std::vector<double>;

std::vector<Trial> trials_with(const EarlyTermination& early, Goal goal,
                               const std::vector<Values>& logged) {
  std::vector<Trial> trials;
  for (const Values& values : logged) {
    Trial& trial = trials.emplace_back();
    for (const double value : values) add_value(early, goal, value, &trial.metric);
  }
  return trials;
}

std::vector<std::size_t> stopped_of(const EarlyTermination& early, Goal goal,
                                    const std::vector<Trial>& trials) {
  std::vector<std::size_t> stopped;
  for (const StoppedTrial& one : early_stops(early, goal, trials)) stopped.push_back(one.trial);
  return stopped;
}

struct Row {
  const char* name;
  EarlyTermination early;
  Goal goal;
  std::vector<Values> logged;
  std::vector<std::size_t> stopped;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// The same value `count` times.
Values times(std::size_t count, double value) { return Values(count, value); }

std::vector<Row> rows() {
  const Goal most = Goal::maximize, least = Goal::minimize;
  const BanditPolicy fifth{Slack::factor, 0.2}, tenth{Slack::factor, 0.1};
  const BanditPolicy fifth_off{Slack::amount, 0.2};
  const MedianStoppingPolicy median;
  return {
      // "the best performing job at interval 10 reported 0.8 … slack_factor of 0.2, any training
      // jobs whose best metric at interval 10 is less than 0.66 (0.8/(1+slack_factor))"
      {"bandit_factor",
       {fifth, 10, 0},
       most,
       {times(10, 0.8), times(10, 0.67), times(10, 0.66), times(10, 0.5)},
       {2, 3}},
      // "slack_amount=0.2 … any run with an AUC less than 0.6 (0.8-0.2) after 100 iterations"
      {"bandit_amount",
       {fifth_off, 100, 0},
       most,
       {times(100, 0.8), times(100, 0.6), times(100, 0.599)},
       {2}},
      // "delay_evaluation = 5, evaluation_interval = 1 … starting at evaluation interval 5 … less
      // than (1/(1+0.1) or 91% of the best"
      {"bandit_before_the_delay", {tenth, 1, 5}, most, {times(4, 1), times(4, 0.5)}, {}},
      {"bandit_at_the_delay",
       {tenth, 1, 5},
       most,
       {times(5, 1), times(5, 0.9), times(5, 0.91)},
       {1}},
      // "applies every multiple of evaluation_interval that is greater than or equal to"
      {"bandit_between_intervals", {tenth, 4, 5}, most, {times(7, 1), times(7, 0.5)}, {}},
      {"bandit_at_a_multiple", {tenth, 4, 5}, most, {times(8, 1), times(8, 0.5)}, {1}},
      {"bandit_minimizes", {fifth, 1, 0}, least, {{1.0}, {1.19}, {1.21}}, {2}},
      {"bandit_minimizes_by_an_amount", {fifth_off, 1, 0}, least, {{1.0}, {1.2}, {1.3}}, {2}},
      {"bandit_of_negative_values",
       {{BanditPolicy{Slack::factor, 0.5}}, 1, 0},
       most,
       {{-1.0}, {-1.4}, {-1.6}},
       {2}},
      {"bandit_minimizes_negative_values",
       {{BanditPolicy{Slack::factor, 0.5}}, 1, 0},
       least,
       {{-3.0}, {-2.1}, {-1.9}},
       {2}},
      // What counts is the best so far, not the last.
      {"bandit_of_the_best_so_far", {tenth, 1, 0}, most, {{0.9, 0.1}, {0.2, 0.85}}, {}},
      // A young trial is compared with what old ones had at its age.
      {"bandit_of_the_same_age", {tenth, 1, 0}, most, {{0.5, 0.7, 0.9}, {0.5}}, {}},
      {"bandit_of_one", {tenth, 1, 0}, most, {{0.1}}, {}},
      {"bandit_of_one_without_a_value", {tenth, 1, 0}, most, {{0.5}, {kNoValue}}, {1}},
      {"bandit_without_any_value", {tenth, 1, 0}, most, {{kNoValue}, {kNoValue}}, {}},
      // "stopped at interval 5 if its best primary metric is worse than the median of the running
      // averages over intervals 1:5 across all training jobs": these are 0.5, 0.6, 0.7 and 0.32.
      {"median",
       {median, 1, 5},
       most,
       {times(5, 0.5), times(5, 0.6), times(5, 0.7), {0.1, 0.2, 0.3, 0.4, 0.6}},
       {0}},
      {"median_before_the_delay",
       {median, 1, 5},
       most,
       {times(4, 0.5), times(4, 0.6), times(4, 0.7)},
       {}},
      {"median_of_three", {median, 1, 0}, most, {{0.1}, {0.2}, {0.3}}, {0}},
      {"median_minimizes", {median, 1, 0}, least, {{0.1}, {0.2}, {0.3}}, {2}},
      {"median_of_two", {median, 1, 0}, most, {{0.1}, {0.2}}, {0}},
      {"median_of_one", {median, 1, 0}, most, {{0.1, 0.2}}, {}},
      {"median_of_equal_ones", {median, 1, 0}, most, {{0.1, 0.2}, {0.1, 0.2}, {0.1, 0.2}}, {}},
      // "A job terminates at interval 5 if its performance at interval 5 is in the lowest 20% of
      // performance of all jobs at interval 5"
      {"truncation",
       {TruncationPolicy{20}, 1, 5},
       most,
       {times(5, 0.5), times(5, 0.1), times(5, 0.2), times(5, 0.4), times(5, 0.3)},
       {1}},
      {"truncation_of_ten",
       {TruncationPolicy{40}, 1, 0},
       least,
       {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}},
       {6, 7, 8, 9}},
      {"truncation_of_too_few", {TruncationPolicy{20}, 1, 0}, most, {{1}, {2}, {3}, {4}}, {}},
      {"truncation_of_99", {TruncationPolicy{99}, 1, 0}, most, {{1}, {2}, {3}, {4}}, {0, 1, 2}},
      // Equal trials on the line go on together.
      {"truncation_of_equal_ones",
       {TruncationPolicy{40}, 1, 0},
       most,
       {{0.1}, {0.2}, {0.2}, {0.3}, {0.4}},
       {0}},
      {"truncation_of_all_equal", {TruncationPolicy{50}, 1, 0}, most, {{1}, {1}, {1}, {1}}, {}},
      // The third is one of three at interval 1, the second one of two at interval 2.
      {"truncation_of_the_same_age",
       {TruncationPolicy{50}, 1, 0},
       most,
       {{0.1, 0.9}, {0.2, 0.8}, {0.15}},
       {1}},
  };
}

class Policies : public testing::TestWithParam<Row> {};

TEST_P(Policies, EndThoseThatAzuresFormulasEnd) {
  const Row& row = GetParam();
  const auto trials = trials_with(row.early, row.goal, row.logged);
  EXPECT_EQ(stopped_of(row.early, row.goal, trials), row.stopped);
}

INSTANTIATE_TEST_SUITE_P(Tables, Policies, testing::ValuesIn(rows()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(EarlyTermination, OnlyActiveTrialsAreEndedAndAllCount) {
  const EarlyTermination early{BanditPolicy{Slack::factor, 0.1}, 1, 0};
  auto trials = trials_with(early, Goal::maximize, {{0.9}, {0.1}, {0.2}, {0.3}, {0.4}, {0.5}});
  trials[0].state = TrialState::completed;
  trials[1].state = TrialState::stopping;
  trials[2].state = TrialState::stopped;
  trials[3].state = TrialState::failed;
  trials[4].state = TrialState::canceled;
  EXPECT_THAT(stopped_of(early, Goal::maximize, trials), ElementsAre(5))
      << "by the best of a completed one";
}

// Each answer becomes a fact, and the question comes again with every value.
TEST(EarlyTermination, AskingAgainEndsNoFurtherTrials) {
  const EarlyTermination early{TruncationPolicy{30}, 1, 0};
  auto trials =
      trials_with(early, Goal::maximize, {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}});
  const auto stopped = stopped_of(early, Goal::maximize, trials);
  EXPECT_THAT(stopped, ElementsAre(0, 1, 2));
  for (const std::size_t one : stopped) trials[one].state = TrialState::stopping;
  EXPECT_THAT(stopped_of(early, Goal::maximize, trials), IsEmpty());
  for (const std::size_t one : stopped) trials[one].state = TrialState::stopped;
  EXPECT_THAT(stopped_of(early, Goal::maximize, trials), IsEmpty());
}

TEST(EarlyTermination, TheOrderOfReportsChangesNothing) {
  const EarlyTermination early{MedianStoppingPolicy{}, 2, 0};
  const std::vector<Values> logged = {
      {0.1, 0.2, 0.3, 0.4}, {0.4, 0.3}, {0.2, 0.2, 0.2}, {0.5, 0.6}};
  const auto at_once = trials_with(early, Goal::minimize, logged);
  std::vector<Trial> turn_by_turn(logged.size());
  for (std::size_t turn = 0; turn < 4; ++turn)
    for (std::size_t i = logged.size(); i-- > 0;)
      if (turn < logged[i].size())
        add_value(early, Goal::minimize, logged[i][turn], &turn_by_turn[i].metric);
  EXPECT_EQ(stopped_of(early, Goal::minimize, at_once),
            stopped_of(early, Goal::minimize, turn_by_turn));
}

TEST(TrialMetric, KeepsTheBestAndTheMeanAtEachInterval) {
  const EarlyTermination early{MedianStoppingPolicy{}, 2, 0};
  TrialMetric metric;
  for (const double value : {0.5, 0.1, kNoValue, 0.3, 0.7})
    add_value(early, Goal::minimize, value, &metric);
  EXPECT_EQ(metric.count, 5u);
  EXPECT_EQ(metric.best, 0.1);
  ASSERT_EQ(metric.marks.size(), 2u);
  EXPECT_EQ(metric.marks[0].best, 0.1);
  EXPECT_DOUBLE_EQ(metric.marks[0].mean, 0.3);
  EXPECT_DOUBLE_EQ(metric.marks[1].mean, 0.3) << "NaN is an interval, and no number";
  TrialMetric unmarked;
  add_value(std::nullopt, Goal::maximize, 2, &unmarked);
  EXPECT_TRUE(unmarked.marks.empty());
  EXPECT_EQ(unmarked.best, 2);
}

TEST(TrialMetric, MarksAreBounded) {
  const EarlyTermination early{MedianStoppingPolicy{}, 1, 0};
  TrialMetric metric;
  for (std::size_t i = 0; i < kMaxMarks + 10; ++i)
    add_value(early, Goal::maximize, static_cast<double>(i), &metric);
  EXPECT_EQ(metric.marks.size(), kMaxMarks);
  EXPECT_EQ(metric.count, kMaxMarks + 10);
}

TEST(Words, SayWithNumbersWhyATrialWasStopped) {
  const Objective objective{Goal::maximize, "auc"};
  const auto text_of = [&](const EarlyTermination& early, const std::vector<Values>& logged) {
    const auto trials = trials_with(early, Goal::maximize, logged);
    const auto stops = early_stops(early, Goal::maximize, trials);
    return stops.empty() ? std::string() : to_text(StopWhy(stops.front().stop), objective);
  };
  EXPECT_EQ(text_of({BanditPolicy{Slack::factor, 0.25}, 2, 0}, {{0.8, 0.8}, {0.5, 0.6}}),
            "bandit: its best auc after 2 values is 0.6; 0.64 or more is within the slack of the "
            "best, 0.8");
  EXPECT_EQ(text_of({MedianStoppingPolicy{}, 1, 0}, {{0.1}, {0.2}, {0.3}}),
            "median_stopping: its best auc after 1 value is 0.1; the median of the means of 3 "
            "trials is 0.2");
  EXPECT_EQ(text_of({TruncationPolicy{50}, 1, 0}, {{0.1}, {0.2}}),
            "truncation_selection: its best auc after 1 value is 0.1, one of the worst 1 of 2 "
            "trials");
  EXPECT_EQ(text_of({BanditPolicy{Slack::amount, 1}, 1, 0}, {{5}, {kNoValue}}),
            "bandit: it has logged no number as auc in 1 value; 4 or more is within the slack of "
            "the best, 5");
  EXPECT_EQ(to_text(StopWhy(SweepEnding::timeout), objective), "the sweep reached limits.timeout");
}

}  // namespace
}  // namespace lockstep::sweeps
