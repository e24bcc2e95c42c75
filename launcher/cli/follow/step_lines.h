#pragma once
// Decides which changes of a pipeline's steps become lines: a step that runs, that waits in the
// queue for long, that was reused or is not run, and how it ended. Reads no clock and writes
// nothing.

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/messages/views.h"

namespace lockstep::cli {

struct StepLine {
  // the step has ended: its line follows its logs; "": the line is written at once
  JobId after_logs_of;
  std::string text;        // "train: Running (job p_train)"
  bool after_all = false;  // the step is not run: its line follows the others
};

// "train: Queued (job p_train): needs …": of the first step that waits in vain, if no other step
// runs; else nullopt, because what runs may be worth its end.
std::optional<std::string> in_vain_line(const std::vector<StepView>& steps);

class StepLines {
 public:
  static constexpr Duration kWorthSaying = seconds(1);

  // past: steps that were over before the first view are shown too; reused steps are always shown.
  explicit StepLines(bool past) : past_(past) {}
  std::vector<StepLine> on_steps(const std::vector<StepView>& steps, Instant now);

 private:
  struct Seen {
    std::string state;
    Instant since;
    bool said = false;
  };
  const bool past_;
  std::vector<Seen> seen_;  // as many as the pipeline has steps, from the first view on
};

}  // namespace lockstep::cli
