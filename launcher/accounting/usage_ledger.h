#pragma once
// The daily rows of all attempts that have ended. Nothing ever takes from them: a job's rows stay
// when it is deleted. A store keeps them; this is what it holds, in memory. Pure.

#include <functional>

#include "launcher/accounting/attempt_use.h"

namespace lockstep::launcher {

class UsageLedger {
 public:
  // An attempt that has ended, or a job that was canceled while it waited; each once, as its fact
  // comes once.
  void charge(const AttemptUse& ended);
  void add(const UsageRows& rows);

  const UsageRows& rows() const { return rows_; }
  // Those of days from `since` on and before `until`, by day.
  void each(Day since, Day until,
            const std::function<void(const UsageKey&, const UsageSums&)>& visit) const;

  friend bool operator==(const UsageLedger&, const UsageLedger&) = default;

 private:
  UsageRows rows_;
};

}  // namespace lockstep::launcher
