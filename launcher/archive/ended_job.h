#pragma once
// A job that has ended, as lists show it, and what jobs used of the machines. Plain values.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/job/job_status.h"
#include "common/domain/why/why.h"

namespace lockstep::archive {

struct EndedJob {
  std::uint64_t order = 0;  // of submission, as in the core's state
  JobId job;
  JobStatus status = JobStatus::completed;
  std::string owner;    // who submitted it
  std::string project;  // "": the default one
  std::string experiment;
  std::string title;  // its display name
  std::string description;
  std::map<std::string, std::string> tags;
  std::string target;
  // The pipeline whose step it is, or the job whose attempt submitted it; "": none, or deleted.
  JobId parent;
  std::string step;       // "": it is none
  bool archived = false;  // lists leave it out: it, or the pipeline whose step it is
  bool shared = false;    // the members of its project may read it
  Instant submitted;
  Instant started;  // ns = 0: no attempt was placed
  Instant ended;
  int nodes = 1;
  int attempts = 0;
  std::string cause;  // of its last attempt: to_string(Cause)
  Why why = {};       // of its end; none: the cause says all
  // The digest of its definition, if one is kept.
  std::optional<Digest> definition = {};
  friend bool operator==(const EndedJob&, const EndedJob&) = default;
};

// What attempts held and used, as whole numbers, so that sums are exact.
struct Use {
  std::int64_t cpu_ms = 0;              // logical cpus x milliseconds that they were held
  std::int64_t gpu_ms = 0;              // the same of gpus
  std::int64_t memory_mib_s = 0;        // mebibytes x seconds, rounded for each part and day
  std::int64_t used_cpu_ms = 0;         // cpu time of the ranks, as their nodes reported it
  std::int64_t waited_ms = 0;           // from submission to the first placement, or to the end
  std::int64_t attempts = 0, jobs = 0;  // that ended
  Use& operator+=(const Use& other);
  friend bool operator==(const Use&, const Use&) = default;
};

// Whose use it is, and on which day.
struct UseKey {
  std::int64_t day = 0;  // since 1970-01-01, in UTC
  std::string owner, project, target;
  friend auto operator<=>(const UseKey&, const UseKey&) = default;
};
inline constexpr Duration kDay = std::chrono::hours(24);
std::int64_t day_of(Instant time);

}  // namespace lockstep::archive
