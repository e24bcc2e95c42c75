#include "launcher/sweeps/early_termination.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace lockstep::sweeps {
namespace {

using Mark = TrialMetric::Mark;

// What has no value is worse than what has one.
bool is_worse(Goal goal, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return is_better(goal, b, a);
}

// The same against a line that was computed: 0.6 is not worse than 0.8 - 0.2, which is a little
// more in a double.
bool is_beyond(Goal goal, double value, double line) {
  constexpr double kRounding = 1e-12;
  if (!is_worse(goal, value, line)) return false;
  if (std::isnan(value)) return true;
  return std::abs(value - line) > kRounding * std::max(std::abs(value), std::abs(line));
}

// Of all trials that have reached one interval.
std::vector<Mark> marks_at(const std::vector<Trial>& trials, std::size_t index) {
  std::vector<Mark> marks;
  for (const Trial& trial : trials)
    if (index < trial.metric.marks.size()) marks.push_back(trial.metric.marks[index]);
  return marks;
}

// Of an even number of values the mean of the two in the middle.
double median_of(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double upper = *middle;
  return (*std::max_element(values.begin(), middle) + upper) / 2;
}

// How trials that stand worse than some line are stopped at one interval.
class Judge {
 public:
  Judge(const TerminationPolicy& policy, Goal goal, std::vector<Mark> marks)
      : policy_(policy), goal_(goal), marks_(std::move(marks)) {
    if (const auto* bandit = std::get_if<BanditPolicy>(&policy_)) set_slack(*bandit);
    if (std::holds_alternative<MedianStoppingPolicy>(policy_)) set_median();
    if (const auto* truncation = std::get_if<TruncationPolicy>(&policy_))
      truncated_ = {marks_.size() * static_cast<std::size_t>(truncation->percentage) / 100,
                    marks_.size()};
  }

  using Why = decltype(EarlyStop::why);
  std::optional<Why> why_stopped(double best) const {
    if (std::holds_alternative<TruncationPolicy>(policy_)) {
      if (worse_or_equal(best) > truncated_.worst) return std::nullopt;
      return Why(truncated_);
    }
    if (std::holds_alternative<BanditPolicy>(policy_)) {
      if (!is_beyond(goal_, best, slack_.allowed)) return std::nullopt;
      return Why(slack_);
    }
    if (!is_beyond(goal_, best, median_.median)) return std::nullopt;
    return Why(median_);
  }

 private:
  void set_slack(const BanditPolicy& bandit) {
    double best = kNoValue;
    for (const Mark& mark : marks_)
      if (std::isnan(best) || is_better(goal_, mark.best, best)) best = mark.best;
    slack_ = {best, std::isnan(best) ? kNoValue : allowed_by(bandit, goal_, best)};
  }

  void set_median() {
    std::vector<double> means;
    for (const Mark& mark : marks_)
      if (!std::isnan(mark.mean)) means.push_back(mark.mean);
    median_.trials = marks_.size();
    median_.median = means.empty() ? kNoValue : median_of(std::move(means));
  }

  // How many trials are not better, the trial itself among them. Of equal ones on the line all go
  // on.
  std::size_t worse_or_equal(double best) const {
    return static_cast<std::size_t>(
        std::count_if(marks_.begin(), marks_.end(),
                      [&](const Mark& mark) { return !is_worse(goal_, best, mark.best); }));
  }

  const TerminationPolicy& policy_;
  const Goal goal_;
  std::vector<Mark> marks_;
  BeyondSlack slack_{0, kNoValue};
  BelowMedian median_{kNoValue, 0};
  Truncated truncated_;
};

}  // namespace

double allowed_by(const BanditPolicy& bandit, Goal goal, double best) {
  const bool is_most = goal == Goal::maximize;
  switch (bandit.kind) {
    case BanditPolicy::Slack::amount: return is_most ? best - bandit.slack : best + bandit.slack;
    case BanditPolicy::Slack::factor: break;
  }
  const double factor = 1 + bandit.slack;
  return is_most == (best >= 0) ? best / factor : best * factor;
}

std::vector<StoppedTrial> early_stops(const EarlyTermination& early, Goal goal,
                                      const std::vector<Trial>& trials) {
  std::vector<StoppedTrial> stops;
  std::map<std::size_t, Judge> judges;  // by the place of their mark
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    const std::size_t reached = trial.metric.marks.size();
    if (trial.state != TrialState::active || reached == 0) continue;
    const std::uint64_t interval = reached * static_cast<std::uint64_t>(early.interval);
    if (interval < static_cast<std::uint64_t>(early.delay)) continue;
    const std::size_t index = reached - 1;
    auto judge = judges.find(index);
    if (judge == judges.end())
      judge = judges.emplace(index, Judge(early.policy, goal, marks_at(trials, index))).first;
    const double best = trial.metric.marks[index].best;
    if (auto why = judge->second.why_stopped(best))
      stops.push_back({i, {interval, best, *std::move(why)}});
  }
  return stops;
}

}  // namespace lockstep::sweeps
