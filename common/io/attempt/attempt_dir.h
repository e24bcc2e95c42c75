#pragma once
// The on-disk tree of one attempt on one node. Agent and runner share it; no other code builds
// paths in it.
//
//   <agent home>/attempts/<job>.<attempt>/      mode 0710; owner: the agent; group: the ranks'
//     assignment.pb      the part as the launcher wants it; written by the agent (atomically)
//                        before the runner starts and at each change of phase
//     fabric.pb          NodeFabric, written by the agent before the runner starts; absent: the
//                        agent could not read it
//     runner.pid         "<pid> <start time in clock ticks, /proc/PID/stat field 22>\n", by the
//                        runner
//     runner.log         the runner's own log
//     control.sock       the runner listens, the agent connects (reached through /proc/self/fd: a
//                        unix address holds only 107 bytes)
//     final_report.pb    NodeExitReport, put in place by rename; if it exists, the runner is done
//     report.reserve     reserves space for the final report on a full disk; made when the runner
//                        starts
//     started            when its first rank started, in nanoseconds since the epoch, by the runner
//     clock.set          if the machine's clock was set since the runner started: by how many
//                        nanoseconds; by the runner, whose own clock goes on evenly
//     cgroups            one directory a line: to be emptied and removed if the runner dies
//     lease              if the attempt has one: until when its ranks may run, in nanoseconds
//                        since boot (sleep included); renewed by the agent, read by the runner
//     environment        the name of its environment in the node's cache, by the agent
//     checkpoint.part/   the checkpoint while it is staged, then moved into the working directory
//     input.part/        a private copy of an input while it is staged, moved in the same way
//     inputs/<name>/     where the runner mounts an input's tree read-only, before it mounts that
//                        in the working directory; owned by the agent
//     logs/rank_<global rank>.stdout|.stderr      append-only, written by the runner; bytes that
//                        the launcher has are turned into a hole
//     logs/rank_<global rank>.stdout|.stderr.times    see log_times.h
//     logs/node_<node rank>.environment    output of solving and building the environment here;
//                        append-only: by the agent, then by a runner whose ranks never started
//     upper/ overlay-work/    upper and work directories of the overlay, if there is one
//     code/              where the tree is mounted or copied (the ranks' working directory);
//                        like upper/ and tmp/ owned by the run-as user, closed to all others
//     lockstep/          LOCKSTEP_HOME of the ranks, with which they reach the launcher; made by
//                        the agent and given to the run-as user, closed to all others:
//                        endpoint.json, keys/user.key
//     tmp/               TMPDIR of the ranks, PMIx and vader directories; owned by the run-as user
//   only for a job in containers:
//     container.pid      the container's first process, as runner.pid; by the runner
//     container.log      output of the engine's program
//     container.env      0600: variables of the job's docker_args, for the engine's --env-file
//     container/         spawn.sock, until lockstep-spawn in the container has connected; seen
//                        there as /.lockstep/run
//     hosts              the container's /etc/hosts
//     home/              the ranks' home directory, unless they are root; owned by the run-as user
//   only where runners can have no mount namespace:
//     placed             the path to which code/ is moved while ranks run: working_place.h
//
// All ranks of all attempts of a job see their working directory at one common path
// (code_mount_point), bound in the runner's own mount namespace.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::io {

class AttemptDir {
 public:
  explicit AttemptDir(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string assignment() const { return path_ + "/assignment.pb"; }
  std::string workspace() const { return path_ + "/workspace.pb"; }  // WorkspacePlan, by the agent
  std::string fabric() const { return path_ + "/fabric.pb"; }
  std::string runner_pid() const { return path_ + "/runner.pid"; }
  std::string runner_log() const { return path_ + "/runner.log"; }
  std::string control_socket_name() const { return "control.sock"; }  // relative to path()
  std::string final_report() const { return path_ + "/final_report.pb"; }
  std::string report_reserve() const { return path_ + "/report.reserve"; }
  std::string started() const { return path_ + "/started"; }
  std::string clock_set() const { return path_ + "/clock.set"; }
  std::string cgroups() const { return path_ + "/cgroups"; }
  std::string lease() const { return path_ + "/lease"; }
  std::string environment() const { return path_ + "/environment"; }
  std::string checkpoint_beside() const { return path_ + "/checkpoint.part"; }
  std::string input_beside() const { return path_ + "/input.part"; }
  std::string inputs() const { return path_ + "/inputs"; }
  std::string logs() const { return path_ + "/logs"; }
  // `rank`: as in LogKey.
  std::string log(int rank, LogStream stream) const;
  std::string upper() const { return path_ + "/upper"; }
  std::string overlay_work() const { return path_ + "/overlay-work"; }
  std::string code() const { return path_ + "/code"; }
  std::string tmp() const { return path_ + "/tmp"; }
  std::string container_pid() const { return path_ + "/container.pid"; }
  std::string container_log() const { return path_ + "/container.log"; }
  std::string container_env() const { return path_ + "/container.env"; }
  std::string container() const { return path_ + "/container"; }
  std::string hosts() const { return path_ + "/hosts"; }
  std::string client_home() const { return path_ + "/lockstep"; }
  std::string home() const { return path_ + "/home"; }
  std::string placed() const { return path_ + "/placed"; }

  // "<job>.<attempt>[-<incarnation>]" <-> AttemptId; nullopt: the name has another form.
  static std::string name_of(const AttemptId& attempt) { return to_string(attempt); }
  static std::optional<AttemptId> attempt_of(const std::string& directory_name);
  // "rank_3.stdout" <-> (3, out), "node_1.environment" <-> (1, environment); nullopt: the name has
  // another form.
  static std::string log_name(int rank, LogStream stream);
  static std::optional<std::pair<int, LogStream>> parse_log_name(const std::string& file_name);

 private:
  std::string path_;
};

// The end of the attempt's lease, in time since boot; nullopt: it has no lease, or the file is
// unreadable.
std::optional<Duration> read_lease(const AttemptDir& directory);

// The time at which the attempt's first rank started; ns = 0: none did, or it is unknown.
Instant read_started(const AttemptDir& directory);

// How far the machine's clock was set since the attempt's runner started; 0 if it was not set or is
// unknown.
Duration read_clock_set(const AttemptDir& directory);

// The content of the file `environment`; "": it does not exist.
std::string read_environment(const AttemptDir& directory);

// The path at which every rank of every attempt of the job sees its working directory:
// jobs_folder()/job_folder_name(). It is the same on all nodes whose agents run as this process's
// user, since checkpoints may hold it. "": this user has no jobs_folder().
std::string code_mount_point(const JobId& job);
// The name of a job's folder: the job's name, or for a name longer than kMostFolderName its
// beginning and a digest, so that a path below /run/lockstep/jobs leaves 60 of the 107 bytes that a
// unix socket's path may have. A name that looks like a shortened one is shortened as well, so that
// no user can choose the folder of another job.
inline constexpr std::size_t kMostFolderName = 28;
std::string job_folder_name(const JobId& job);
// The path at which runners of earlier versions mounted the working directory of one attempt; "":
// there was none.
std::string former_mount_point(const AttemptId& attempt);

}  // namespace lockstep::io
