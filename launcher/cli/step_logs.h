#pragma once
// Decides which step of a pipeline is asked for its logs next. A step with new lines is asked again
// soon, a quiet one later, and one whose job is final once more. However many steps run, no more
// than about kAsksPerSecond requests a second are due. When all is read once, the step whose lines
// are the oldest is asked. Reads no clock and sends nothing.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/domain/views.h"

namespace lockstep::cli {

class StepLogs {
 public:
  static constexpr Duration kSoonest = milliseconds(200);
  static constexpr Duration kLatest = seconds(1);
  static constexpr int kAsksPerSecond = 200;

  // once: each step that has logs now is asked until it has sent them, and not again; a step has
  // none from before it started.
  // reused: a step that is reused has the logs of the job that stands in for it.
  explicit StepLogs(bool once, bool reused = false) : once_(once), reused_(reused) {}

  void on_steps(const std::vector<StepView>& steps, Instant now);

  // Whose turn it is; nullopt: nobody's before next_deadline().
  std::optional<JobId> next(Instant now) const;
  struct Answer {
    bool any = false;    // lines came
    bool more = false;   // there are more already
    bool final = false;  // the job is final, and this was all
    Instant reached{};   // with `once`: how far they have come
  };
  void answered(const JobId& job, const Answer& answer, Instant now);

  bool is_read(const JobId& job) const;  // nothing more comes of it, or it has no logs
  bool all_read() const { return due_.empty(); }
  Instant next_deadline() const;  // never() when no step is to be asked

 private:
  struct One {
    std::size_t order = 0;
    Instant due;
    Duration wait = kSoonest;
    bool ended = false;  // its job is final, as far as the pipeline says
    bool read = false;
  };
  Duration at_least() const;
  void set_due(const JobId& job, One& one, Instant due);

  bool has_logs(const StepView& step) const;

  const bool once_, reused_;
  std::map<JobId, One> jobs_;
  std::map<std::pair<Instant, std::size_t>, JobId> due_;  // those that are not read
};

}  // namespace lockstep::cli
