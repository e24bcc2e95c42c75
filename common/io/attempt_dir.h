#pragma once
// The on-disk tree that one attempt has on one node. Agent and runner share it; no path in it is
// put together anywhere else.
//
//   <agent home>/attempts/<job>.<attempt>/      mode 0710, the agent's; the group is the ranks'
//     assignment.pb      the part as the launcher wants it; written by the agent (atomically)
//                        before the runner starts and at each change of phase
//     runner.pid         "<pid> <start time in clock ticks, /proc/PID/stat field 22>\n", by the
//                        runner
//     runner.log         the runner's own log
//     control.sock       the runner listens, the agent connects (reached through /proc/self/fd: a
//                        unix address holds only 107 bytes)
//     final_report.pb    NodeExitReport, written beside and renamed: exists = the runner is done
//     report.reserve     blocks for the final report on a full disk, made when the runner starts
//     started            when its first rank started, in nanoseconds since the epoch, by the runner
//     cgroups            one directory a line: what must be emptied and removed if the runner dies
//     lease              of an attempt that holds one: until when its ranks may run, in nanoseconds
//                        since boot (sleep included); renewed by the agent, read by the runner
//     environment        the name of its environment in the node's cache, by the agent
//     checkpoint.part/   the checkpoint while it is staged, then moved into the working directory
//     logs/rank_<global rank>.stdout|.stderr      append-only, drained by the runner; what the
//                        launcher has becomes a hole
//     logs/rank_<global rank>.stdout|.stderr.times    see log_times.h
//     logs/node_<node rank>.environment    how the job's environment was solved and built here;
//                        append-only: by the agent, then by a runner whose ranks never started
//     upper/ work/       overlay's own; or work tree copy in copy/
//     code/              where the tree is mounted or copied (the ranks' working directory);
//                        like upper/ and tmp/ the run-as user's, closed to everybody else
//     tmp/               TMPDIR of the ranks, PMIx and vader directories; owned by the run-as user
//   of a job in containers:
//     container.log      what the engine's program printed
//     container.env      0600: variables of the job's docker_args, for the engine's --env-file
//     container/         spawn.sock, until lockstep-spawn in the container has connected; seen
//                        there as /.lockstep/run
//     hosts              the container's /etc/hosts
//     home/              the ranks' home directory, unless they are root; owned by the run-as user
//
// All ranks of a job see their working directory at one common path (code_mount_point), bound in
// the runner's own mount namespace.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/bulk.h"

namespace lockstep::io {

class AttemptDir {
 public:
  explicit AttemptDir(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string assignment() const { return path_ + "/assignment.pb"; }
  std::string workspace() const { return path_ + "/workspace.pb"; }  // WorkspacePlan, by the agent
  std::string runner_pid() const { return path_ + "/runner.pid"; }
  std::string runner_log() const { return path_ + "/runner.log"; }
  std::string control_socket_name() const { return "control.sock"; }  // relative to path()
  std::string final_report() const { return path_ + "/final_report.pb"; }
  std::string report_reserve() const { return path_ + "/report.reserve"; }
  std::string started() const { return path_ + "/started"; }
  std::string cgroups() const { return path_ + "/cgroups"; }
  std::string lease() const { return path_ + "/lease"; }
  std::string environment() const { return path_ + "/environment"; }
  std::string checkpoint_beside() const { return path_ + "/checkpoint.part"; }
  std::string logs() const { return path_ + "/logs"; }
  // `rank`: as in LogKey.
  std::string log(int rank, LogStream stream) const;
  std::string upper() const { return path_ + "/upper"; }
  std::string overlay_work() const { return path_ + "/overlay-work"; }
  std::string code() const { return path_ + "/code"; }
  std::string tmp() const { return path_ + "/tmp"; }
  std::string container_log() const { return path_ + "/container.log"; }
  std::string container_env() const { return path_ + "/container.env"; }
  std::string container() const { return path_ + "/container"; }
  std::string hosts() const { return path_ + "/hosts"; }
  std::string home() const { return path_ + "/home"; }

  // "<job>.<attempt>[-<incarnation>]" <-> AttemptId; nullopt when the name is not one.
  static std::string name_of(const AttemptId& attempt) { return to_string(attempt); }
  static std::optional<AttemptId> attempt_of(const std::string& directory_name);
  // "rank_3.stdout" <-> (3, out), "node_1.environment" <-> (1, environment); nullopt when it is not
  // one.
  static std::string log_name(int rank, LogStream stream);
  static std::optional<std::pair<int, LogStream>> parse_log_name(const std::string& file_name);

 private:
  std::string path_;
};

// When its lease ends, in time since boot; nullopt: it holds none, or it cannot be read.
std::optional<Duration> read_lease(const AttemptDir& directory);

// When its first rank started; ns = 0: none is known to have started.
Instant read_started(const AttemptDir& directory);

// The content of its file `environment`; "" = there is none.
std::string read_environment(const AttemptDir& directory);

// The one path where every rank of the attempt sees its working directory, on every node whose
// agent runs as this process's user: jobs_folder()/<job>.<attempt>; "": there is no such folder.
std::string code_mount_point(const AttemptId& attempt);

}  // namespace lockstep::io
