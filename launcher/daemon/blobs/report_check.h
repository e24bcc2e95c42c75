#pragma once
// Checks nodes' reports before the core gets them. All blobs of a tree that a node names (an
// output, a checkpoint, a lock) must have been sent by the node or belong to its assignments.
// Otherwise a reader of the job could, through that tree, read blobs of others whose digests the
// node merely knew. One node's messages keep their order; a message that names no new tree is
// delivered at once if no earlier one waits. A report with a tree that cannot be checked now is
// dropped, so that the node sends it again.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/base/result.h"
#include "common/domain/messages/agent_protocol.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

struct NodeRequest {  // a message of a node, and who sent it
  std::string peer;
  PublicKey key;
  std::uint64_t sequence = 0;
  std::string address = {};
};

class ReportCheck {
 public:
  // Whether the tree is whole and all its blobs are the caller's. Answered later, on the loop.
  using CheckTree = std::function<void(const Caller& caller, const Digest& root,
                                       std::function<void(Result<bool> whole)>)>;
  using Deliver = std::function<void(const NodeRequest& from, AgentMessage message)>;
  // writes a line, rate-limited by the owner
  using LogRefusal = std::function<void(std::string line)>;
  ReportCheck(const Core& core, CheckTree check, Deliver deliver, LogRefusal log_refusal)
      : core_(core),
        check_(std::move(check)),
        deliver_(std::move(deliver)),
        log_refusal_(std::move(log_refusal)) {}

  void take(NodeId node, NodeRequest from, AgentMessage message);

 private:
  struct Waiting {
    NodeRequest from;
    AgentMessage message;
    std::set<Digest> open;
    std::map<Digest, std::string> refused;  // the digest with the reason, for the owner of the job
    std::string failure;                    // why a tree could not be checked; "": none
  };
  void checked(NodeId node, const Digest& root, const Result<bool>& whole);
  void deliver_ready(NodeId node);

  const Core& core_;
  const CheckTree check_;
  const Deliver deliver_;
  const LogRefusal log_refusal_;
  std::map<NodeId, std::deque<Waiting>> waiting_;
  std::map<Digest, int> failed_;  // how often a tree could not be checked
};

// The most waiting reports of each node. Further reports are dropped; a node repeats what was not
// acknowledged.
inline constexpr std::size_t kMaxWaitingReports = 64;
// The number of checks after which a tree that still cannot be checked is refused: its blobs may
// never be readable again, and the node's later reports would wait for ever.
inline constexpr int kMaxTreeChecks = 10;

}  // namespace lockstep::launcher
