#pragma once
// What is written to the store of metrics. Each change is applied as a whole or not at all, and the
// same change again leaves all as it is: who got no answer sends it again.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/runs/point.h"
#include "common/domain/runs/run.h"

namespace lockstep::metrics {

// How far a file or stream was read whose numbers are in the same change: after a restart it is
// read on from there. It never goes back.
struct SourceMark {
  std::string source;  // "outputs/tb/events.out.tfevents.1", "rank_0.stdout"
  std::uint64_t offset = 0;
  std::string state;  // LineMetrics::state()
  friend bool operator==(const SourceMark&, const SourceMark&) = default;
};

struct LogBatch {
  RunId run;
  AttemptId attempt;  // of the run's job; number 0: it was logged outside of the job
  int rank = 0;       // global
  std::vector<NamedPoint> points = {};
  std::map<std::string, std::string> params = {};  // conflict: one has another value already
  std::map<std::string, std::string> tags = {};
  std::vector<std::string> removed_tags = {};  // before `tags` are set
  std::optional<SourceMark> mark = {};
  friend bool operator==(const LogBatch&, const LogBatch&) = default;
};
// Makes the run, or changes what is known of it. A job's own run is made first.
struct DescribeRun {
  RunInfo info;
  friend bool operator==(const DescribeRun&, const DescribeRun&) = default;
};
// Removes a run inside of a job, with its numbers.
struct RemoveRun {
  RunId run;
  friend bool operator==(const RemoveRun&, const RemoveRun&) = default;
};
// Removes all runs of a job. One that is unknown is no error.
struct RemoveJob {
  JobId job;
  friend bool operator==(const RemoveJob&, const RemoveJob&) = default;
};

using Change = std::variant<LogBatch, DescribeRun, RemoveRun, RemoveJob>;

// Whether the change can be applied at all. invalid_argument: the message names what is wrong.
Status validate(const Change& change);

// About what it takes while it waits.
std::size_t bytes_of(const Change& change);

}  // namespace lockstep::metrics
