#pragma once
// Settings of one launcher: clocks, limits and what its local pool has. Nothing in here changes
// while it runs.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/job_spec.h"
#include "common/domain/views.h"

namespace lockstep::launcher {

struct CoreConfig {
  Duration heartbeat_interval = seconds(1);
  int missed_heartbeats_unknown = 3;
  Duration node_lost_timeout = seconds(10);  // since the last word of the node
  Duration reconnect_grace = seconds(60);    // after a launcher start nothing is LOST before
  Duration stop_grace = seconds(10);         // between SIGTERM and SIGKILL
  Duration prepare_timeout = minutes(30);  // a part that is not prepared by then fails its attempt
  Duration environment_timeout = minutes(120);  // the same, where it has an environment to build
  Duration logs_timeout = minutes(5);  // finalizing waits this long for logs of an ALIVE node
  // Of a job that was canceled: how long its logs wait while there is no space for them.
  Duration space_timeout = seconds(30);
  // For attempts with on_lost: after_fence: their node ends the ranks when the launcher has been
  // silent for this long.
  Duration fence_lease = minutes(15);
  Duration fence_margin = seconds(10);  // for what ending them takes; more for clocks that differ
  bool allow_root = false;              // ranks may run as root
  bool approve_nodes = false;           // nodes that join get work when an admin has approved them
  std::size_t max_queued_jobs = 100'000;
  // Of one user who has no quota of their own for it: see quotas.h.
  std::uint64_t queued_jobs_per_user = 20'000;
  Bytes spec_bytes_per_user = mebibytes(32);
  // What operators allow of docker_args beyond what gives no rights: "--privileged".
  std::vector<std::string> allowed_docker_args;
  // Set by `lockstep up`: target local has exactly these nodes, and a job of it that needs more is
  // refused.
  std::optional<int> fixed_nodes;
  Retention keeps;

  Duration time_to_prepare(const JobSpec& spec) const {
    return spec.environment ? environment_timeout : prepare_timeout;
  }
};

}  // namespace lockstep::launcher
