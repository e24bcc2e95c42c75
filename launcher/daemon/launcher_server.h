#pragma once
// Serves the control and join sockets. It decodes messages, attributes each to the key that signed
// it, and turns it into an input of the core or answers it; it turns the core's actions into
// messages. It keeps the requests that wait for an answer. It neither polls nor writes to disk.
// A node's message is handled when it comes. Users' messages wait for their turn (turn_queue.h):
// first until they are decoded, then until the core takes their request. Limits are of a user, not
// of a key or a connection, of which anybody can make more.

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
#include "launcher/api/ports/blobs.h"
#include "launcher/api/service.h"
#include "launcher/daemon/attempt_keys.h"
#include "launcher/daemon/auditor.h"
#include "launcher/daemon/disk_monitor.h"
#include "launcher/daemon/durable_core.h"
#include "launcher/daemon/job_file_parser.h"
#include "launcher/daemon/key_registry.h"
#include "launcher/daemon/node_mail.h"
#include "launcher/daemon/operator_fabric.h"
#include "launcher/daemon/outbox.h"
#include "launcher/daemon/rate_limit.h"
#include "launcher/daemon/report_check.h"
#include "launcher/daemon/sampled_log.h"
#include "launcher/daemon/turn_queue.h"
#include "launcher/daemon/usage_store.h"
#include "launcher/daemon/user_secrets.h"

namespace lockstep::launcher {

// The core's actions that are messages, that allow or revoke a key, or that the audit log is told
// of.
using ControlAction =
    std::variant<SendDesired, AcceptSession, RefuseSession, AskForSession, AckObserved,
                 AckHeartbeat, JobChanged, AllowNode, RevokeNode, AllowUser, RevokeUser,
                 ReplySubmitted, ReplyJoined, ReplyDone, ReplyRefused, ReplyDeleted,
                 ReplyEnvironment, ExitDaemon, ReportRefused, UserChanged, ReplyCompute, ReplySizes,
                 ReplyAsset, WriteOutput, ForgetJob>;

class LauncherServer {
 public:
  struct Settings {
    LauncherInfo info;
    std::vector<LauncherAddress> addresses;  // for nodes: LauncherAddresses
    wire::JoinToken token;                   // its secret and expiry are filled in for each new one
    int user_messages_per_second = kUserMessagesPerSecond;
    Duration heartbeat_interval = seconds(1);
    const DiskMonitor* space = nullptr;  // never null in a daemon
    std::string environments_map;        // see LauncherHome
    std::string fabric;                  // the operator's file: spec::load_fabric_rules
    std::string datastores;              // the operator's file: spec::load_datastores
    std::string workspace_datastores;    // the folder of Azure's own; "": there are none
    std::function<void(const WriteOutput&, const RemoteFiles&, std::function<void(Status)>)>
        write_remote;
    std::function<BlobTraffic(NodeId)> traffic;  // for the views of nodes
    Duration silent_after = minutes(10);         // see UsagePorts
    JobFileParser* job_files = nullptr;          // never null in a daemon
    UserSecrets* secrets = nullptr;              // never null in a daemon
    AttemptKeys* attempts = nullptr;             // never null in a daemon
    Auditor* audit = nullptr;                    // never null in a daemon
    std::function<std::string(const std::string& target, std::int64_t lines)> compute_log;
  };
  struct Parts {
    DurableCore& durable;
    KeyRegistry& keys;
    io::ServerSocket& control;
    io::ServerSocket& join;
    Outbox& outbox;
    NodeMail& nodes;
    Blobs& blobs;
  };
  LauncherServer(Parts parts, Settings settings);

  void on_control(io::ServerSocket::Incoming incoming);
  // Handles messages and requests of users, in turns, for a short while.
  void serve_users();
  // Whether serve_users() has something to do now.
  bool users_wait() const;
  void on_join(io::ServerSocket::Incoming incoming);
  void perform(const ControlAction& action);
  // Called after the last of a turn's actions and before the next input. Sends each changed job's
  // state to its watchers and each changed node its desired state, both durable by now, and then
  // everything in the outbox.
  void flush();
  // The turn's facts are being written: what was put into the outbox waits; until they are durable.
  void hold_answers() { outbox_.hold(); }
  void release_answers() { outbox_.release(); }
  // Tells users whose requests wait for a slow disk that they do, about once a second.
  void tell_waiting();
  // How long flush() may wait for the next message; Duration::max() = without bound.
  Duration wait() const { return service_.wait(); }
  // To every node, and to those that come.
  void tell_addresses(std::vector<LauncherAddress> addresses);
  bool exit_granted() const { return exit_granted_; }

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
  Service::Ports ports();
  Service::Ports::Audit audit_ports();
  Result<Datastores> datastores() const;  // as the operator's file names them now
  // Adds an audit entry about something that is no user's request.
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
  void note_disk_waiter(const std::string& connection);
  void refuse(const std::string& peer, std::uint64_t sequence, ErrorCode code, std::string message);
  // nullopt: the reply is not for a join, or nobody waits for it any more.
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
  Outbox& outbox_;
  NodeMail& nodes_;
  Blobs& blobs_;
  Settings settings_;
  ReportCheck reports_;
  UsageStore usage_;
  OperatorFabric operator_fabric_;
  Service service_;
  TurnQueue<io::ServerSocket::Incoming> messages_;  // of users, not decoded yet
  TurnQueue<WaitingRequest> waiting_;               // until the core takes requests
  std::shared_ptr<Shares> unanswered_;              // users' requests, wherever they wait
  std::set<std::string> disk_waiters_;              // connections whose client knows WaitsForDisk
  std::size_t waiting_for_keys_ = 0;
  Instant tell_at_;  // not before: WaitsForDisk
  std::map<std::uint64_t, Joining> joining_;
  std::uint64_t last_joining_ = kFirstJoining;
  std::set<NodeId> touched_nodes_;  // nodes to send their desired state to, once per flush()
  RateLimit<std::string> messages_of_user_;
  JoinLimits join_limits_;
  SampledLog refusals_;
  bool exit_granted_ = false;
};

}  // namespace lockstep::launcher
