#pragma once
// Decides which step of a pipeline is asked for its logs next. A step with new lines is asked again
// soon, a quiet one later, and one whose job is final once more. However many steps run, no more
// than about kAsksPerSecond requests a second are due. While past logs are read, the step with the
// oldest lines is asked. Reads no clock and sends nothing.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/domain/messages/views.h"

namespace lockstep::cli {

class StepLogs {
 public:
  static constexpr Duration kSoonest = milliseconds(200);
  static constexpr Duration kLatest = seconds(1);
  static constexpr int kAsksPerSecond = 200;

  enum class Ask {
    // Each step that has logs now is asked until it has sent them, and not again; a step has none
    // from before it started.
    once,
    once_then_on,  // once, until go_on(), the logs from before the first on_steps()
    on,            // asks repeatedly, until a step's job is final
  };
  // reused: a step that is reused has the logs of the job that replaces it.
  explicit StepLogs(Ask ask, bool reused = false) : ask_(ask), reused_(reused) {}

  void on_steps(const std::vector<StepView>& steps, Instant now);

  // The job to ask next; nullopt: none before next_deadline().
  std::optional<JobId> next(Instant now) const;
  struct Answer {
    bool any = false;    // true: lines came
    bool more = false;   // true: there are more already
    bool final = false;  // the job is final, and this was all
    Instant reached{};   // while in_order(): the time up to which the lines have come
  };
  void answered(const JobId& job, const Answer& answer, Instant now);

  // Whether the past is being read, in the order of time.
  bool in_order() const { return ask_ != Ask::on; }
  // Whether the past of all steps has been read, and more is to come: call go_on().
  bool is_past_read() const { return ask_ == Ask::once_then_on && due_.empty(); }
  void go_on(Instant now);

  // Whether nothing comes of the job before go_on(), or it has no logs.
  bool is_past_read(const JobId& job) const;
  bool is_read(const JobId& job) const;  // nothing more comes of it, or it has no logs
  bool all_read() const { return due_.empty() && ask_ != Ask::once_then_on; }
  Instant next_deadline() const;  // never() when no step is to be asked

 private:
  struct One {
    std::size_t order = 0;
    Instant due;
    Duration wait = kSoonest;
    bool ended = false;  // the step's job is final, as far as the pipeline reports
    bool past_read = false;
    bool read = false;
  };
  Duration at_least() const;
  void set_due(const JobId& job, One& one, Instant due);

  bool has_logs(const StepView& step) const;

  Ask ask_;
  const bool reused_;
  std::optional<Instant> began_;  // the time of the first on_steps()
  std::map<JobId, One> jobs_;
  std::map<std::pair<Instant, std::size_t>, JobId> due_;  // the steps that are not read yet
};

}  // namespace lockstep::cli
