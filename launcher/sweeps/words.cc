#include "launcher/sweeps/words.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::sweeps {
namespace {

// "its best loss after 10 values is 0.7"
std::string own_best(const EarlyStop& stop, const Objective& objective) {
  const std::string_view values = stop.interval == 1 ? "value" : "values";
  if (std::isnan(stop.best))
    return fmt::format("it has logged no number as {} in {} {}", objective.metric, stop.interval,
                       values);
  return fmt::format("its best {} after {} {} is {:.6g}", objective.metric, stop.interval, values,
                     stop.best);
}

std::string text_of_early_stop(const EarlyStop& stop, const Objective& objective) {
  const std::string own = own_best(stop, objective);
  const bool is_most = objective.goal == Goal::maximize;
  if (const auto* slack = std::get_if<BeyondSlack>(&stop.why))
    return fmt::format("bandit: {}; {:.6g} or {} is within the slack of the best, {:.6g}", own,
                       slack->allowed, is_most ? "more" : "less", slack->best);
  if (const auto* median = std::get_if<BelowMedian>(&stop.why))
    return fmt::format("median_stopping: {}; the median of the means of {} trials is {:.6g}", own,
                       median->trials, median->median);
  const auto& truncated = std::get<Truncated>(stop.why);
  return fmt::format("truncation_selection: {}, one of the worst {} of {} trials", own,
                     truncated.worst, truncated.trials);
}

}  // namespace

std::string to_text(SweepEnding ending) {
  switch (ending) {
    case SweepEnding::timeout: return "the sweep reached limits.timeout";
    case SweepEnding::canceled: return "the sweep was canceled";
    case SweepEnding::no_suggestions: return "bayesian sampling suggested no further trials";
  }
  return "";
}

std::string to_text(const StopWhy& why, const Objective& objective) {
  if (const auto* ending = std::get_if<SweepEnding>(&why)) return to_text(*ending);
  return text_of_early_stop(std::get<EarlyStop>(why), objective);
}

}  // namespace lockstep::sweeps
