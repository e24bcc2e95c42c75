#pragma once
// The choice of lines of a job's logs, and how they are shown: the flags that `job logs` and `job
// stream` share.

#include <optional>
#include <string>

#include "common/domain/job/spec.h"
#include "common/domain/messages/views.h"
#include "launcher/cli/follow/follower.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct LogSelection {
  std::optional<int> rank, node;
  std::string node_word;  // as it was typed: a node's rank in the job, or its name
  bool only_out = false, only_err = false, environment = false;
  int tail = -1;
  std::string since, grep;
  bool timestamps = false, no_prefix = false, raw = false;
};

void add_log_selection(CLI::App& verb, LogSelection& selection);

// Reads a duration before `now` ("10m"), a time in RFC 3339 with a zone (2026-01-31T12:00:00Z,
// …+01:00), or a day (2026-01-31), which begins at midnight UTC, because we print all times in UTC.
Result<Instant> parse_since(const std::string& text, Instant now);

// Sets selection->node from selection->node_word. `attempt` 0: the newest. An error names the nodes
// of the attempt.
Status find_node(LogSelection* selection, const std::string& verb, const JobView& job,
                 std::uint32_t attempt);

// Sets filter, prefix and lines of `follow` for a job with this spec. Errors are mistakes in the
// command line and begin with `verb`.
Status apply(const LogSelection& selection, const std::string& verb, const JobSpec& spec,
             Instant now, FollowOptions* follow);

}  // namespace lockstep::cli
