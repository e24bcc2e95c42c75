#pragma once
// The agent's tree on disk. No other file builds paths in it.
//
//   <home>/                 mode 0711: ranks of other users pass through to their attempt
//     lock                  held while an agent runs here
//     agent.pid             its "pid start-time"
//     keys                  our CURVE key pair, 0600: this node's identity on the wire
//     identity.json         node id, launcher's key and endpoints, 0600; written by joining, and
//     when
//                           the launcher moves
//     moved                 a token that says where the launcher is now: daemon/links/moved_file.h
//     link                  "pid ENDPOINT" while the launcher has accepted the session of that
//     agent offer.json            which share of the machine the node offers: agent/daemon/offer.h
//     notice.json           the machine will be taken away: agent/daemon/notice_file.h
//     boot                  the boot in which the runners below were started
//     jobs/<job>            the working directory of an attempt whose ranks run, where runners can
//                           have no mounts of their own: common/io/attempt/working_place.h
//     attempts/<job>.<n>/   one part: common/io/attempt/attempt_dir.h
//     quarantine/           0700: attempts that could not be removed (agent/supervise/quarantine.h)
//     environments/         the environments built for jobs: agent/environment/cache.h
//     cache/                blobs and materialised trees: agent/workspace
//     probes/               0700: what probes of networks found: fabric/probe/earlier_probes.h

#include <string>
#include <utility>

#include "common/io/attempt/attempt_dir.h"

namespace lockstep::agent {

class AgentHome {
 public:
  explicit AgentHome(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string lock() const { return path_ + "/lock"; }
  std::string pid() const { return path_ + "/agent.pid"; }
  std::string keys() const { return path_ + "/keys"; }
  std::string identity() const { return path_ + "/identity.json"; }
  std::string moved() const { return path_ + "/moved"; }
  std::string link() const { return path_ + "/link"; }
  std::string offer() const { return path_ + "/offer.json"; }
  std::string notice() const { return path_ + "/notice.json"; }
  std::string boot() const { return path_ + "/boot"; }
  std::string attempts() const { return path_ + "/attempts"; }
  std::string quarantine() const { return path_ + "/quarantine"; }
  std::string environments() const { return path_ + "/environments"; }
  std::string cache() const { return path_ + "/cache"; }
  std::string probes() const { return path_ + "/probes"; }
  io::AttemptDir attempt(const AttemptId& attempt) const {
    return io::AttemptDir(attempts() + "/" + io::AttemptDir::name_of(attempt));
  }

 private:
  std::string path_;
};

}  // namespace lockstep::agent
