#pragma once
// Why a job, or a step, waits.

#include "common/base/ids.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct WaitsToBePlaced {  // the launcher has not looked yet
  static constexpr std::string_view kCode = "waits_to_be_placed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const WaitsToBePlaced&, const WaitsToBePlaced&) = default;
};

struct WaitsBehindJob {
  static constexpr std::string_view kCode = "waits_behind_job";
  JobId job;
  Why why;  // of that job
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("why", self.why);
  }
  friend bool operator==(const WaitsBehindJob&, const WaitsBehindJob&) = default;
};

using WaitReasons = List<WaitsToBePlaced, WaitsBehindJob>;

}  // namespace lockstep
