#pragma once
// What one attempt of a job held and used, as accounting takes it, and how that falls on days. Made
// when the attempt ends, and for reports while it runs. Pure. docs/decisions/094-accounting.md.

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "launcher/accounting/day.h"
#include "launcher/accounting/usage_sums.h"

namespace lockstep::launcher {

// Its share on one node.
struct HeldPart {
  // What its ranks used in all until now, as far as the node told.
  struct Used {
    Duration cpu{0};
    Duration gpu{0};  // of all its GPUs: how long each was busy
    std::int64_t memory_mib_seconds = 0;
    friend bool operator==(const Used&, const Used&) = default;
  };
  std::string size;  // of the machine; "": it is of none
  int cpus = 0, gpus = 0;
  Bytes memory;
  double price_per_hour = 0;      // of what it holds, when it was placed: see price.h
  std::optional<Used> used = {};  // absent: unknown
  friend bool operator==(const HeldPart&, const HeldPart&) = default;
};

enum class Outcome {
  running,
  completed,
  failed,    // and no other attempt follows
  canceled,  // also a job that was canceled while it waited
  retried,   // whatever it was: another attempt follows
};
std::string_view to_string(Outcome outcome);  // "Running", "Completed", …

struct AttemptUse {
  AttemptId attempt;  // number 0: the job was canceled before it had one
  std::string user, project, target;
  Instant submitted;                   // the job
  std::optional<Instant> waited_from;  // it could have been placed from then on; absent: no wait
  std::optional<Instant> placed;       // absent: it never was
  std::optional<Instant> ended;        // absent: it goes on
  Outcome outcome = Outcome::running;
  std::optional<int> exit_code = {};
  std::vector<HeldPart> parts;
  friend bool operator==(const AttemptUse&, const AttemptUse&) = default;
};

// The key of a daily row.
struct UsageKey {
  Day day;
  std::string user, project, target, size;
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};
using UsageRows = std::map<UsageKey, UsageSums>;

// Its rows, until it ended, or until `now` if it goes on. All parts of one size share a row a day.
// What is counted once, such as the start, is in the row of the first part's size.
UsageRows rows_of(const AttemptUse& use, Instant now);

Duration waited(const AttemptUse& use, Instant now);
Duration elapsed(const AttemptUse& use, Instant now);  // since it was placed

}  // namespace lockstep::launcher
