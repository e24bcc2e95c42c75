#pragma once
// Serves the bulk socket. It attributes each message to the key that signed it, and passes blobs to
// BlobService, logs to LogIntake and LogFollowers, and frames of attachments to Attachments. It
// owns the worker that makes logs durable. A node's message is handled when it comes; users'
// messages wait for their turn (turn_queue.h): keys that they type have a queue of their own, so
// that they do not wait behind a file that the same user sends.

#include <functional>

#include "common/domain/people/audit.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "launcher/api/ports/audit_trail.h"
#include "launcher/daemon/attach/open_attachments.h"
#include "launcher/daemon/blobs/blob_server.h"
#include "launcher/daemon/blobs/peer_directory.h"
#include "launcher/daemon/keys/key_registry.h"
#include "launcher/daemon/servers/bulk_sender.h"
#include "launcher/daemon/servers/node_sender.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"
#include "launcher/daemon/stores/log_room.h"
#include "launcher/daemon/stores/output_room.h"
#include "launcher/daemon/work/principal.h"
#include "launcher/daemon/work/sampled_log.h"
#include "launcher/daemon/work/turn_queue.h"
#include "launcher/daemon/work/worker.h"
#include "launcher/logs/log_followers.h"
#include "launcher/logs/log_intake.h"

namespace lockstep::launcher {

class BulkServer {
 public:
  struct Parts {
    io::EventLoop& loop;
    DurableCore& durable;
    KeyRegistry& keys;
    BulkSender& sender;
    const snapshot::BlobStore& blobs;
    BlobService& blob_service;
    PeerDirectory& peers;
    std::string log_root;
    const DiskMonitor& space;
    NodeSender& nodes;
    AuditTrail& audit;
    std::function<void(const LogKey&)> log_grew;  // for those who read logs as they come
  };
  explicit BulkServer(Parts parts);

  void on_bulk(io::ServerSocket::Incoming incoming);
  // Handles messages of users, in turns, for a short while; call it soon while they wait.
  void serve_users();
  bool users_wait() const { return !of_users_.empty() || !frames_of_users_.empty(); }
  void perform(const AwaitLogs& action);
  void perform(const JobChanged& action);
  void perform(const ForgetJob& action);
  void perform(const MergeOutputs& action);
  // Ends the follows of users who may no longer read the job's logs, and the attachments of those
  // who may not attach to the job any more.
  void check_followers();
  // Called at the end of each turn; lets a worker make the written logs durable.
  void turn_end();
  // Set when a log could not be made durable; it can then no longer be trusted.
  const std::optional<Error>& failure() const { return failure_; }
  bool stalled() const { return blob_service_.stalled(); }
  LogStore& logs() { return logs_; }
  const Attachments& attachments() const { return attachments_; }

 private:
  friend struct BulkRequests;

  class Directory final : public LogDirectory {
   public:
    explicit Directory(const DurableCore& durable) : durable_(durable) {}
    std::optional<JobInfo> job(const JobId& job) const override;
    AttemptId attempt(const JobId& job, std::uint32_t number) const override;
    std::optional<Place> place(const LogKey& log) const override;

   private:
    const DurableCore& durable_;
  };

  struct Taken {
    io::ServerSocket::Incoming incoming;
    Result<BulkEnvelope> envelope;
  };
  void decode(io::ServerSocket::Incoming incoming);
  void take(Taken& taken);
  bool asks_about_jobs(const Taken& taken) const;
  bool waits_for_key(const PublicKey& key) const;
  void handle(io::ServerSocket::Incoming& incoming, Result<BulkEnvelope>& envelope);
  void refuse(const std::string& peer, std::uint64_t sequence, const BulkRefused& refusal);
  Status follow(const BlobService::From& from, const LogFollow& request);
  std::string why_not_read(const PublicKey& key, const JobId& job);
  Decision may_read(const PublicKey& key, const JobId& job);
  // Whether the key has not read the job's logs lately.
  bool is_first_read(const PublicKey& key, const JobId& job);
  // Adds an audit entry about the message that is being handled.
  void audit(AuditOutcome outcome, std::string detail);
  std::optional<Caller> caller_of(const PublicKey& key);
  void get_blobs(const BlobService::From& from, GetBlobs request);
  bool may_read(const PublicKey& key, const Digest& root, const JobId& job);
  bool is_assigned(NodeId node, const Digest& tree) const;
  void look_at_rights();
  std::string why_no_more_outputs(const BlobService::From& from, const std::optional<NodeId>& node,
                                  const PutBlobs& blobs);
  void give_up(const SyncBatch& batch, const Error& why);
  LogIntake::Sinks intake_sinks();
  Attachments::Ports attachment_ports();
  void attach(const std::string& peer, const PublicKey& key, AttachFrame frame);
  void find_peers(const BlobService::From& from, NodeId node, const FindPeers& ask);
  void take_report(const BlobService::From& from, NodeId node, const FetchReport& report);

  io::EventLoop& loop_;
  DurableCore& durable_;
  KeyRegistry& keys_;
  BulkSender& sender_;
  const DiskMonitor& space_;
  const snapshot::BlobStore& blobs_;
  Directory directory_;
  const std::function<void(const LogKey&)> log_grew_;
  LogStore logs_;
  LogFollowers followers_;
  LogIntake intake_;
  LogRoom room_;
  OutputRoom outputs_;
  std::map<std::string, PublicKey> keys_of_followers_;    // by peer
  std::map<std::pair<PublicKey, JobId>, Instant> reads_;  // audited ones, when they were repeated
  SampledLog refusals_;
  Instant rights_looked_at_;
  std::optional<Error> failure_;
  struct Handling {
    PublicKey key;
    std::string address;
    std::string_view what;
    std::string object;
  };
  std::optional<Handling> handling_;  // the message being handled, and its sender
  AuditTrail& audit_;
  TurnQueue<io::ServerSocket::Incoming> of_users_;
  TurnQueue<io::ServerSocket::Incoming> frames_of_users_;  // frames of attachments from users
  std::shared_ptr<Shares> waiting_;  // questions about jobs that wait for the journal
  int waiting_for_keys_ = 0;
  NodeSender& nodes_;
  PeerDirectory& peers_;
  Attachments attachments_;
  BlobService& blob_service_;
  Worker sync_worker_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
