#pragma once
// Decides which states of a job are printed as lines where there is no status line (output goes to
// a pipe or a file): a state that lasts, a wait and its reason, the end of a wait, and each retry
// with its cause. A job that is done at once prints none. Reads no clock and writes nothing.

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/domain/messages/views.h"

namespace lockstep::cli {

class StateLines {
 public:
  static constexpr Duration kWorthSaying = seconds(1);
  // The interval between lines for a state whose text keeps changing (progress).
  static constexpr Duration kBetweenReasons = seconds(10);

  void on_job(const JobView& job, Instant now);
  // Returns the line that is due, only once.
  std::optional<std::string> take(Instant now);
  Instant next_deadline() const;  // never() when nothing waits to be said

 private:
  struct Seen {
    JobStatus status = JobStatus::queued;
    std::size_t attempts = 0;
    std::string text;
  };
  std::optional<Seen> now_;
  std::string ended_;  // why the previous attempt ended, until a line has told it
  Instant due_ = Instant::never();
  std::optional<Instant> said_;  // time of the last line about this state
  bool said_any_ = false;
};

// "NAME: Running (reason)"; the attempt's number is added from the second attempt on.
std::string state_text(const JobView& job);

}  // namespace lockstep::cli
