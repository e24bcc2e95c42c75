#pragma once
// Settings of one launcher: timeouts, limits, and the size of its local pool. They do not change
// while it runs.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/job/spec.h"
#include "common/domain/runners/gang.h"
#include "common/domain/messages/views.h"
#include "common/domain/targets/size.h"
#include "common/domain/targets/time_zones.h"

namespace lockstep::launcher {

struct CoreConfig {
  Duration heartbeat_interval = seconds(1);
  int missed_heartbeats_unknown = 3;
  Duration node_lost_timeout = seconds(10);  // counted from the last message of the node
  // The time after a launcher's start before which no node becomes LOST.
  Duration reconnect_grace = seconds(60);
  Duration stop_grace = seconds(10);  // the time from SIGTERM to SIGKILL
  int gang_radix = kGangTreeRadix;    // the radix of the trees that pass down the tables of gangs
  Duration prepare_timeout = minutes(30);  // a part that is not prepared by then fails its attempt
  Duration environment_timeout = minutes(120);  // the same limit for jobs with an environment
  Duration logs_timeout = minutes(5);  // finalizing waits this long for logs of an ALIVE node
  // How long a canceled job waits for its logs while the launcher has no space for them.
  Duration space_timeout = seconds(30);
  // The time after which a node ends its ranks if it does not hear the launcher, for attempts with
  // on_lost: after_fence.
  Duration fence_lease = minutes(15);
  Duration fence_margin = seconds(10);  // time to end the ranks; the drift of clocks is added to it
  bool allow_root = false;              // ranks may run as root
  std::string account = {};             // the account as which the launcher runs; "": unknown
  bool shared_machines = false;         // several agents may each offer the whole of one machine
  bool approve_nodes = false;           // joined nodes get work only after an admin approves them
  std::size_t max_queued_jobs = 100'000;
  // The default quotas of a user without a quota of their own: see quotas.h.
  std::uint64_t queued_jobs_per_user = 20'000;
  Bytes spec_bytes_per_user = mebibytes(32);
  std::uint64_t versions_per_user = 10'000;
  Bytes version_bytes_per_user = mebibytes(256);
  Bytes version_files_per_user = gibibytes(1'024);
  // Used only if the launcher has several users; 0: unlimited. lockstepd sets half its disk.
  Bytes job_files_per_user = {};
  // The default quotas of a project.
  std::uint64_t versions_per_project = 100'000;
  Bytes version_bytes_per_project = gibibytes(2);
  Bytes version_files_per_project = gibibytes(8'192);
  // The privileged docker_args that the operator allows, such as "--privileged".
  std::vector<std::string> allowed_docker_args;
  // Set by `lockstep up`: target local has exactly this number of nodes, and a job that needs more
  // is refused.
  std::optional<int> fixed_nodes;
  Retention keeps;
  std::shared_ptr<const TimeZones> zones;  // the time zones of schedules; null: only UTC
  SizeCatalogue catalogue;  // the sizes of this build; operators add their own (defined_sizes.h)

  Duration time_to_prepare(const JobSpec& spec) const {
    return spec.environment ? environment_timeout : prepare_timeout;
  }
};

}  // namespace lockstep::launcher
