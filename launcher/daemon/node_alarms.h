#pragma once
// Tells the operator which nodes are silent: in the launcher's log and in the audit log when a node
// falls silent, is lost, or reports again, and in the log again while it stays LOST: at a start of
// the launcher, and after growing pauses. It decides nothing.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/growing_pauses.h"
#include "common/base/time.h"
#include "common/domain/people/audit.h"
#include "launcher/core/core.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

class NodeAlarms {
 public:
  struct Ports {
    std::function<void(const std::string&line)> warn, inform;  // write to the launcher's log
    std::function<void(AuditEntry entry)> record;              // writes to the audit log
  };
  explicit NodeAlarms(Ports ports) : ports_(std::move(ports)) {}

  // Takes the recovered nodes. LOST ones among them are to be reported.
  void begin(Instant now, const std::map<NodeId, Node>& nodes);
  void take(Instant now, const std::vector<NodeNews>& news);
  // Tells of nodes that are still LOST when that is due. `is_there`: the launcher knows the node.
  void remind(Instant now, const std::function<bool(NodeId)>& is_there);
  // the time at which remind() is due; Instant::never(): no node is LOST
  Instant next_deadline() const;

 private:
  struct Lost {
    std::string name;
    Instant since;
    GrowingPauses reminders;
  };
  void take_one(Instant now, const NodeNews& news);
  void record(const char* what, const NodeNews& news, std::string detail);

  const Ports ports_;
  std::map<NodeId, Instant> silent_;  // the nodes by the time since when they are UNKNOWN
  std::map<NodeId, Lost> lost_;
};

inline constexpr Duration kFirstReminder = minutes(1);
inline constexpr Duration kLongestReminder = minutes(6 * 60);
inline constexpr std::size_t kNamedInReminder = 10;

}  // namespace lockstep::launcher
