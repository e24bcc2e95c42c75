#pragma once
// What is exposed of a launcher, its nodes and its jobs: plain numbers that the launcher's parts
// fill in. Counters count from the launcher's start. Histograms are kept where values are measured.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "launcher/exposition/metric_histogram.h"

namespace lockstep::launcher {

// Of the process, by the names that Prometheus' own libraries give them.
struct ProcessNumbers {
  Instant started;
  double cpu_seconds = 0;
  Bytes resident_memory;
  std::uint64_t open_files = 0, most_files = 0;
};

struct LauncherNumbers {
  std::string version;
  MetricHistogram loop_seconds{short_times()};      // a turn of the event loop
  MetricHistogram loop_lag_seconds{short_times()};  // how much later than asked for a timer came
  MetricHistogram journal_write_seconds{short_times()};  // a transaction, with its fsync
  std::uint64_t facts = 0;                               // written
  Bytes journal_size;
  std::map<std::string, std::uint64_t> queues;       // what waits in each of its queues
  std::map<std::string, std::uint64_t> connections;  // by who is at the other end: "node", "user"
  // By kind of request and how it was answered: "ok", or the class of the error.
  std::map<std::pair<std::string, std::string>, std::uint64_t> requests;
  std::uint64_t audit_entries = 0;  // written
  double audit_lag_seconds = 0;     // the age of the oldest entry that is not on disk
  Bytes blobs;                      // on disk
  std::uint64_t blob_bytes_received = 0;
  std::map<std::string, std::uint64_t> blob_bytes_sent;  // by who got them
  std::uint64_t log_bytes_received = 0;
  Bytes disk_free;
  bool takes_work = true;                              // false: for lack of space
  std::map<std::string, std::uint64_t> schedules;      // by state
  std::map<std::string, std::uint64_t> schedule_runs;  // by what became of their times
};

struct TargetNumbers {
  std::string name;
  std::map<std::string, std::uint64_t> jobs;  // that are remembered, by status
  std::uint64_t jobs_submitted = 0;
  std::map<std::string, std::uint64_t> jobs_ended;      // by status
  std::map<std::string, std::uint64_t> attempts_ended;  // by cause
  MetricHistogram wait_seconds{long_times()};   // from when a job could be placed until it was
  MetricHistogram start_seconds{long_times()};  // from then until all of its ranks ran
  double oldest_wait_seconds = 0;               // of the jobs that wait now; 0: none does
  // By liveness ("alive", …), state ("in service", …) and version of the agent.
  struct Kind {
    std::string liveness, state, version;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  std::map<Kind, std::uint64_t> nodes;
  std::uint64_t cpus = 0, cpus_held = 0, gpus = 0, gpus_held = 0;
  double cpus_busy = 0, gpus_busy = 0;  // as far as nodes told
  Bytes memory, memory_held;
};

struct UserNumbers {
  std::string user, project;
  std::uint64_t jobs_waiting = 0, jobs_running = 0;
  std::uint64_t nodes_held = 0, cpus_held = 0, gpus_held = 0;
};

struct NodeNumbers {
  NodeId id;
  std::string name, target;
  bool alive = false, drained = false;
  double unheard_seconds = 0;  // since its last message
  std::uint64_t cpus = 0, cpus_held = 0, gpus = 0, gpus_held = 0;
  Bytes memory, memory_held;
  struct Use {
    double cpus_busy = 0, gpus_busy = 0;
    Bytes memory, disk_free;
    std::uint64_t received_per_second = 0, sent_per_second = 0;
  };
  std::optional<Use> use;  // absent: it told nothing lately
};

struct JobNumbers {
  std::string job, user, target;
  double running_seconds = 0;
  std::uint64_t nodes = 0, ranks = 0, cpus_held = 0, gpus_held = 0;
  struct Use {
    double cpus_busy = 0, gpus_busy = 0;
    Bytes memory;
    double silent_seconds = 0;
  };
  std::optional<Use> use;
};

struct ClusterNumbers {
  ProcessNumbers process;
  LauncherNumbers launcher;
  std::vector<TargetNumbers> targets;
  std::vector<UserNumbers> users;
  std::vector<NodeNumbers> nodes;
  std::vector<JobNumbers> jobs;  // that run; none: the operator did not ask for series of jobs
};

}  // namespace lockstep::launcher
