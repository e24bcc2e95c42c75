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
#include "common/domain/messages/gang.h"
#include "common/domain/messages/views.h"
#include "common/domain/targets/size.h"
#include "common/domain/targets/time_zones.h"

namespace lockstep::launcher {

struct CoreConfig {
  Duration heartbeat_interval = seconds(1);
  int missed_heartbeats_unknown = 3;
  Duration node_lost_timeout = seconds(10);  // since the last message of the node
  Duration reconnect_grace = seconds(60);    // after a launcher start, no node is LOST before this
  Duration stop_grace = seconds(10);         // between SIGTERM and SIGKILL
  int gang_radix = kGangTreeRadix;           // of the trees down which gangs' tables go
  Duration prepare_timeout = minutes(30);  // a part that is not prepared by then fails its attempt
  Duration environment_timeout = minutes(120);  // the same for jobs with an environment
  Duration logs_timeout = minutes(5);  // finalizing waits this long for logs of an ALIVE node
  // How long a canceled job waits for its logs while the launcher has no space for them.
  Duration space_timeout = seconds(30);
  // For attempts with on_lost: after_fence: a node ends their ranks this long after it last heard
  // the launcher.
  Duration fence_lease = minutes(15);
  Duration fence_margin = seconds(10);  // time to end them; drift of clocks is added apart
  bool allow_root = false;              // ranks may run as root
  std::string account = {};             // as which the launcher runs; "": not known
  bool shared_machines = false;         // agents of one machine need not divide it
  bool approve_nodes = false;           // joined nodes get work only after an admin approves them
  std::size_t max_queued_jobs = 100'000;
  // Default quotas of a user without a quota of their own: see quotas.h.
  std::uint64_t queued_jobs_per_user = 20'000;
  Bytes spec_bytes_per_user = mebibytes(32);
  std::uint64_t versions_per_user = 10'000;
  Bytes version_bytes_per_user = mebibytes(256);
  Bytes version_files_per_user = gibibytes(1'024);
  Bytes job_files_per_user = {};  // where there are others; 0: unlimited. lockstepd: half its disk
  // The same of a project.
  std::uint64_t versions_per_project = 100'000;
  Bytes version_bytes_per_project = gibibytes(2);
  Bytes version_files_per_project = gibibytes(8'192);
  // The privileged docker_args that the operator allows, such as "--privileged".
  std::vector<std::string> allowed_docker_args;
  // Set by `lockstep up`: target local has exactly these nodes, and a job of it that needs more is
  // refused.
  std::optional<int> fixed_nodes;
  Retention keeps;
  std::shared_ptr<const TimeZones> zones;  // of schedules; null: only UTC
  SizeCatalogue catalogue;  // of the build; operators add sizes of their own (defined_sizes.h)

  Duration time_to_prepare(const JobSpec& spec) const {
    return spec.environment ? environment_timeout : prepare_timeout;
  }
};

}  // namespace lockstep::launcher
