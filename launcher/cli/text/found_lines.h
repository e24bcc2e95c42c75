#pragma once
// The findings of a gang about its ranks, as lines for watchers of a job: each finding once, with
// what to do about it, and one line when it is over; and as lines of `job show`. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

class FoundLines {
 public:
  // The lines to print now, in order.
  std::vector<std::string> on_job(const JobView& job);

 private:
  // the most times that a finding which comes and goes is shown
  static constexpr int kMostTimes = 3;
  bool may_say(const Found& found);

  std::uint32_t attempt_ = 0;
  FoundList said_;
  std::map<std::string, int> times_;
};

// Findings for `job show`: label ("hang", "found") and text, with the remedy in a line of its own.
// For an ended job they are what held last ("last found"), for which nothing can be done any more;
// a completed job has none.
struct FoundText {
  std::string label, text;
};
std::vector<FoundText> found_texts(const JobView& job);

// The first alarm in one line, for `job list`; "" if there is none.
std::string alarm_text(const JobView& job);

// The lines for the report of a failure, indented: what the ranks hung for, a peer that was lost,
// the stack of the thread that failed, and what to do.
std::string cause_lines(const JobView& job, const ExitReport& report);

}  // namespace lockstep::cli
