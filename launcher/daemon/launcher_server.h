#pragma once
// The control and join sockets' messages: decoded, attributed to the key that signed them, and
// turned into inputs of the core or into answers; and the core's actions turned back into messages.
// It owns who waits for what; it neither polls nor writes to disk.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/client_limits.h"
#include "common/io/transport.h"
#include "common/wire/join_token.h"
#include "launcher/api/service.h"
#include "launcher/daemon/auditor.h"
#include "launcher/daemon/disk_monitor.h"
#include "launcher/daemon/durable_core.h"
#include "launcher/daemon/job_file_parser.h"
#include "launcher/daemon/key_registry.h"
#include "launcher/daemon/node_links.h"
#include "launcher/daemon/outbox.h"
#include "launcher/daemon/rate_limit.h"
#include "launcher/daemon/report_check.h"
#include "launcher/daemon/sampled_log.h"
#include "launcher/daemon/user_secrets.h"

namespace lockstep::launcher {

// Those of the core's actions that are messages, or say whose messages are let in.
using ControlAction =
    std::variant<SendDesired, AcceptSession, RefuseSession, AskForSession, AckObserved,
                 AckHeartbeat, JobChanged, AllowNode, RevokeNode, AllowUser, RevokeUser,
                 ReplySubmitted, ReplyJoined, ReplyDone, ReplyRefused, ReplyDeleted,
                 ReplyEnvironment, ExitDaemon, ReportRefused, UserChanged, ReplyCompute>;

class LauncherServer {
 public:
  struct Settings {
    LauncherInfo info;
    wire::JoinToken token;  // its secret and expiry are filled in for each new one
    int user_messages_per_second = kUserMessagesPerSecond;
    Duration heartbeat_interval = seconds(1);
    const DiskMonitor* space = nullptr;  // never null in a daemon
    std::string environments_map;        // see LauncherHome
    std::function<void(const Digest& root, std::function<void(Result<Bytes>)>)> measure_snapshot;
    std::function<BlobTraffic(NodeId)> traffic;  // for the pictures of nodes
    JobFileParser* job_files = nullptr;          // never null in a daemon
    UserSecrets* secrets = nullptr;              // never null in a daemon
    Auditor* audit = nullptr;                    // never null in a daemon
  };
  // Is this tree whole in the blob store, and all of it the caller's? Answered later, on the loop.
  using CheckSnapshot = ReportCheck::CheckTree;

  LauncherServer(DurableCore& durable, KeyRegistry& gate, io::ServerSocket& control,
                 io::ServerSocket& join, CheckSnapshot check_snapshot, Settings settings);

  void on_control(io::ServerSocket::Incoming incoming);
  void on_join(io::ServerSocket::Incoming incoming);
  void perform(const ControlAction& action);
  // After the last of a turn's actions, before anything else is fed: tells watchers of changed jobs
  // and nodes of their desired state as they are now, which is durable, and sends everything.
  void flush();
  // How long flush() may wait for the next message; Duration::max() = without bound.
  Duration wait() const { return service_.wait(); }
  // To the node's session that was accepted last; lost when it has none.
  void tell_node(NodeId node, AgentReply body);
  // Nothing more is taken in this turn: its answers are large enough.
  bool is_full() const { return outbox_.is_full(); }
  bool exit_granted() const { return exit_granted_; }

  using Request = NodeRequest;

 private:
  friend struct NodeMessages;
  friend struct Performer;

  // Apart from the handles that the service gives.
  static constexpr std::uint64_t kFirstJoining = std::uint64_t{1} << 63;

  // What one key may ask is little of what one address may, and that is half of what all may.
  struct JoinLimits {
    RateLimit<PublicKey> of_key{{10, 1}};
    RateLimit<std::string> of_address{{100, 25}};
    RateLimit<int> of_all{{200, 50}};
  };
  struct Joining {  // the core owes an answer
    std::string peer;
    std::uint64_t sequence = 0;
    PublicKey key = {};
    std::string address = {}, name = {};  // the name that it wants
  };
  Service::Ports ports();
  Service::Ports::Audit audit_ports();
  // Of what no request of a user says.
  void audit(const std::string& who, const PublicKey& key, const std::string& address,
             std::string what, std::string object, AuditOutcome outcome, std::string detail);
  std::string holder_of(const PublicKey& key) const;
  void on_node(Request request, const std::string& bytes);
  // "": none.
  std::string limit_reached(const PublicKey& key, const std::string& user, std::size_t bytes);
  void on_user(io::ServerSocket::Incoming incoming, const std::string& user);
  void refuse(const std::string& peer, std::uint64_t sequence, ErrorCode code, std::string message);
  // Nullopt: nobody waits for it (any more), or it is no join's.
  std::optional<Joining> take_joining(const ReplyTo& to);
  // With the secrets that its jobs name.
  DesiredState desired_for(NodeId node);
  void send_to_session(const PublicKey& key, SessionId session, AgentReply body);
  void log_refusal(std::string line);
  bool may_join_now(const io::ServerSocket::Incoming& incoming);
  void send_all();

  DurableCore& durable_;
  KeyRegistry& gate_;
  io::ServerSocket& control_;
  io::ServerSocket& join_;
  CheckSnapshot check_snapshot_;
  Settings settings_;
  Outbox outbox_;
  NodeLinks links_;
  ReportCheck reports_;
  Service service_;
  std::map<std::uint64_t, Joining> joining_;
  std::uint64_t last_joining_ = kFirstJoining;
  std::set<NodeId> touched_nodes_;  // to be sent their desired state, once however often it changed
  RateLimit<PublicKey> messages_of_user_;
  JoinLimits join_limits_;
  SampledLog refusals_;
  bool exit_granted_ = false;
};

}  // namespace lockstep::launcher
