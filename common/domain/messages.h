#pragma once
// Everything that travels over the control and join sockets, as plain values. common/wire encodes
// them; daemons, agents and clients build and read only these. Requests are idempotent: request,
// reply or both may be lost, doubled or late, and asking again is always safe.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/assignment.h"
#include "common/domain/views.h"

namespace lockstep {

inline constexpr std::uint32_t kProtocolVersion = 1;

// ---- agent -> launcher -------------------------------------------------------------------------
struct SessionOpen {            // first message of an agent start, and again after SessionLost
  NodeId node;
  BootId boot;
  SessionId session;
  std::string version;          // LOCKSTEP_VERSION
  Inventory inventory;
  std::vector<PartReport> parts;  // observed state in full: what is not here does not run here
};
struct Heartbeat {
  NodeId node;
  SessionId session;
  std::uint64_t desired_revision = 0;  // newest applied; the launcher sends again what is newer
  std::uint64_t observed_sequence = 0;  // number of Observed sent in this session
};
struct Observed {               // delta: the parts that changed
  NodeId node;
  SessionId session;
  std::uint64_t sequence = 0;   // 1, 2, … within a session; acknowledged by ObservedAck
  std::vector<PartReport> parts;
  std::vector<AttemptId> removed;  // attempt directories that are gone
};

// ---- launcher -> agent -------------------------------------------------------------------------
struct SessionAccepted {
  SessionId session;
  Duration heartbeat_interval = seconds(1);
  DesiredState desired;
};
struct SessionRefused {         // wrong version, cloned node, unknown node: the agent prints and exits
  SessionId session;
  std::string reason;
};
struct SessionLost {            // the launcher does not know this session (it restarted): open again
  SessionId session;
};
struct HeartbeatAck {
  SessionId session;
};
struct ObservedAck {
  SessionId session;
  std::uint64_t sequence = 0;
};
struct Desired {
  SessionId session;
  DesiredState desired;
};

// ---- client -> launcher ------------------------------------------------------------------------
struct Submit {
  std::string submission;       // random, made by the client: the same one twice is one job
  JobSpec spec;                 // submitter is ignored: the key says who it is
};
struct CancelJob { JobId job; };
struct ListJobs { bool all = true; int limit = 0; };  // newest first; limit 0 = all
struct ShowJob { JobId job; };
struct ExplainJob { JobId job; };
struct WatchJob { JobId job; };   // answered by JobReply now and a JobUpdate at each change
struct ListNodes {};
struct ShowNode { std::string name_or_id; };
struct CreateToken { Duration valid_for = minutes(60); int uses = 1; };
struct DrainNode { std::string name_or_id; bool drain = true; std::string reason; };
struct GetStatus {};
struct Shutdown { bool cancel_jobs = false; };  // refused while jobs run unless cancel_jobs

// ---- launcher -> client ------------------------------------------------------------------------
struct SubmitReply {
  JobId job;
  bool snapshot_missing = false;  // not accepted: upload the snapshot over the bulk socket, ask again
};
struct JobReply { JobView job; };
struct JobUpdate { JobView job; };
struct JobsReply { std::vector<JobView> jobs; };
struct ExplainReply { ExplainView explain; };
struct NodesReply { std::vector<NodeView> nodes; };
struct TokenReply { std::string token; Instant expires; };  // the text a token file holds
struct StatusReply { LauncherStatus status; };
struct Done { std::string message; };
struct Refused { ErrorCode code = ErrorCode::internal; std::string message; };

// ---- join socket -------------------------------------------------------------------------------
struct JoinRequest {            // the sender's CURVE key (ZAP user id) becomes the node's key
  std::string token_secret;
  std::string name;             // wanted node name; default the host name
  std::string version;
};
struct JoinAccepted { NodeId node; std::string name; };
struct JoinRefused { std::string reason; };

using Message = std::variant<
    SessionOpen, Heartbeat, Observed, SessionAccepted, SessionRefused, SessionLost, HeartbeatAck,
    ObservedAck, Desired, Submit, CancelJob, ListJobs, ShowJob, ExplainJob, WatchJob, ListNodes,
    ShowNode, CreateToken, DrainNode, GetStatus, Shutdown, SubmitReply, JobReply, JobUpdate,
    JobsReply, ExplainReply, NodesReply, TokenReply, StatusReply, Done, Refused, JoinRequest,
    JoinAccepted, JoinRefused>;

struct Envelope {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t sequence = 0;   // chosen by the sender of a request; echoed in `reply_to`
  std::uint64_t reply_to = 0;   // 0 = not a reply
  std::int64_t deadline_ms = 0; // how long the sender waits; 0 = unbounded. Late requests are dropped
  Message body;
};

inline constexpr std::size_t kMaxControlMessageBytes = 64u << 20;
inline constexpr std::size_t kMaxJoinMessageBytes = 4096;

}  // namespace lockstep
