#pragma once
// Serves the control and join sockets: the service's adapter for ZeroMQ, and the nodes' side of the
// core. It decodes messages, attributes each to the key that signed it, hands users' requests to
// the service, turns nodes' messages into inputs of the core, and turns the core's actions that are
// for nodes into messages. It neither polls nor writes to disk. A node's message is handled when it
// comes. Users' messages wait for their turn (turn_queue.h): first until they are decoded, then
// until the core takes their request. Limits are of a user, not of a key or a connection, of which
// anybody can make more.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/base/rate_limit.h"
#include "common/domain/messages/client_limits.h"
#include "common/io/net/transport.h"
#include "launcher/api/service.h"
#include "launcher/daemon/blobs/report_check.h"
#include "launcher/daemon/keys/attempt_keys.h"
#include "launcher/daemon/keys/key_registry.h"
#include "launcher/daemon/ports/auditor.h"
#include "launcher/daemon/ports/operator_fabric.h"
#include "launcher/daemon/ports/usage_store.h"
#include "launcher/daemon/ports/user_secrets.h"
#include "launcher/daemon/servers/node_sender.h"
#include "launcher/daemon/servers/outbox.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"
#include "launcher/daemon/work/sampled_log.h"
#include "launcher/daemon/work/turn_queue.h"

namespace lockstep::launcher {

// The core's actions that are messages to nodes, or that allow or revoke a key.
using ControlAction = std::variant<SendDesired, AcceptSession, RefuseSession, AskForSession,
                                   AckObserved, AckHeartbeat, AllowNode, RevokeNode, AllowUser,
                                   RevokeUser, ReplyJoined, ReportRefused, UserChanged>;

class LauncherServer final : public Replies {
 public:
  // The letter of this adapter's connections (ReplyRouter).
  static constexpr char kAdapter = 'z';

  struct Settings {
    std::vector<LauncherAddress> addresses;  // for nodes: LauncherAddresses
    int user_messages_per_second = kUserMessagesPerSecond;
    Duration heartbeat_interval = seconds(1);
    std::string fabric;  // the operator's file: spec::load_fabric_rules
  };
  struct Parts {
    DurableCore& durable;
    KeyRegistry& keys;
    io::ServerSocket& control;
    io::ServerSocket& join;
    Service& service;
    Outbox& outbox;
    NodeSender& nodes;
    Blobs& blobs;       // checks the trees that nodes report
    UsageStore& usage;  // takes what nodes report
    UserSecrets& secrets;
    AttemptKeys& attempts;
    Auditor& audit;
    const DiskMonitor& space;
  };
  LauncherServer(Parts parts, Settings settings);

  void on_control(io::ServerSocket::Incoming incoming);
  // Handles messages and requests of users, in turns, for a short while.
  void serve_users();
  // Whether serve_users() has something to do now.
  bool users_wait() const;
  void on_join(io::ServerSocket::Incoming incoming);
  void perform(const ControlAction& action);
  // False: the refusal is not for a join.
  bool refuse_join(const ReplyRefused& action);
  // Called after the last of a turn's actions and before the next input. Sends each changed node
  // its desired state, which is durable by now, and everything in the outbox.
  void flush();
  // The turn's facts are being written: what was put into the outbox waits; until they are durable.
  void hold_answers() { outbox_.hold(); }
  void release_answers() { outbox_.release(); }
  // Tells users whose requests or answers wait here for a slow disk that they do. Their requests
  // are not late before `until`.
  void tell_waiting(const WaitsForDisk& why, Instant until);
  // To every node, and later to nodes that open a session.
  void tell_addresses(std::vector<LauncherAddress> addresses);

  // The service's replies, over the control socket.
  void send(const std::string& connection, std::uint64_t reply_to, ClientReply reply) override;
  bool is_gone(const std::string& connection) const override;

  using Request = NodeRequest;

 private:
  friend struct NodeMessages;
  friend struct Performer;

  // Where the handles of joins begin, so that they differ from those that the service gives.
  static constexpr std::uint64_t kFirstJoining = std::uint64_t{1} << 63;

  // One key may send only a small part of what one address may, and an address half of the total.
  struct JoinLimits {
    RateLimit<PublicKey> of_key{{10, 1}};
    RateLimit<std::string> of_address{{100, 25}};
    RateLimit<int> of_all{{200, 50}};
  };
  struct Joining {  // a join request that the core has not answered yet
    std::string peer;
    std::uint64_t sequence = 0;
    PublicKey key = {};
    std::string address = {}, name = {};  // the name that the node asks for
  };
  // Adds an audit entry about something that is not a user's request.
  void audit(const std::string& who, const PublicKey& key, const std::string& address,
             std::string what, std::string object, AuditOutcome outcome, std::string detail);
  std::string holder_of(const PublicKey& key) const;
  KeyStanding standing_of(const PublicKey& key) const;
  std::string why_not_authorised(const PublicKey& key) const;
  bool waits_for_key(const io::ServerSocket::Incoming& incoming);
  void on_node(Request request, const std::string& bytes);
  void take_usage(const Request& from, UsageReport report);
  // The limit that this message exceeds, as a text for the sender; "" if none.
  std::string limit_reached(const Caller& caller, std::size_t bytes);
  void on_client(io::ServerSocket::Incoming incoming, const Caller& caller);
  void refuse(const io::ServerSocket::Incoming& incoming, const Caller& caller, ErrorCode code,
              std::string why);
  void decode(io::ServerSocket::Incoming incoming);
  struct WaitingRequest {
    Asker asker;
    ClientRequest request;
  };
  void serve(WaitingRequest one);
  void note_disk_waiter(const std::string& peer);
  static std::string peer_of(const Asker& asker);  // the connection of an asker of this adapter
  void refuse(const std::string& peer, std::uint64_t sequence, ErrorCode code, std::string message);
  // nullopt: the reply is not for a join, or its client has gone.
  std::optional<Joining> take_joining(const ReplyTo& to);
  // The node's desired state, with the secrets that its jobs name and its attempts' credentials.
  DesiredState desired_for(NodeId node);
  void give_operator_settings(NodeId node, DesiredState& desired);
  void log_refusal(std::string line);
  bool may_join_now(const io::ServerSocket::Incoming& incoming);
  void send_all();

  DurableCore& durable_;
  KeyRegistry& keys_;
  io::ServerSocket& control_;
  io::ServerSocket& join_;
  Service& service_;
  Outbox& outbox_;
  NodeSender& nodes_;
  UsageStore& usage_;
  UserSecrets& secrets_;
  AttemptKeys& attempts_;
  Auditor& audit_;
  const DiskMonitor& space_;
  Settings settings_;
  ReportCheck reports_;
  OperatorFabric operator_fabric_;
  TurnQueue<io::ServerSocket::Incoming> messages_;  // messages of users that are not decoded yet
  TurnQueue<WaitingRequest> waiting_;               // until the core takes requests
  std::shared_ptr<Shares> unanswered_;              // users' requests, wherever they wait
  std::set<std::string> disk_waiters_;              // peers whose client knows WaitsForDisk
  std::size_t waiting_for_keys_ = 0;
  std::map<std::uint64_t, Joining> joining_;
  std::uint64_t last_joining_ = kFirstJoining;
  std::set<NodeId> touched_nodes_;  // nodes to send their desired state to, once per flush()
  RateLimit<std::string> messages_of_user_;
  JoinLimits join_limits_;
  SampledLog refusals_;
};

}  // namespace lockstep::launcher
