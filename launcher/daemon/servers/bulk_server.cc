#include "launcher/daemon/servers/bulk_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "launcher/core/access/users.h"
#include "launcher/core/names/objects.h"
#include "launcher/daemon/blobs/blob_owner.h"
#include "launcher/daemon/servers/bulk_verbs.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr int kMaxPiecesForKeys = 16;  // each may have pieces of the largest size
// Limits on users' messages that wait for the loop.
ShareBounds bounds_of_bulk_messages() {
  return {"messages waiting", 4'096, 65'536, 64u << 20, 256u << 20};
}
// A frame has at most 64 KiB of data. A user who types has a few frames waiting; one who sends a
// file has a window of them.
ShareBounds bounds_of_attach_frames() {
  return {"frames of attachments waiting", 4'096, 65'536, 16u << 20, 128u << 20};
}
ShareBounds bounds_of_questions() {
  return {"questions waiting for the launcher's slow disk", 2'000, 10'000};
}

}  // namespace

std::optional<LogDirectory::JobInfo> BulkServer::Directory::job(const JobId& id) const {
  const Job* job = durable_.core().state().job(id);
  if (job == nullptr) return std::nullopt;
  return JobInfo{static_cast<std::uint32_t>(job->attempts.size()), is_final(job->status()),
                 std::string(to_string(job->status()))};
}

AttemptId BulkServer::Directory::attempt(const JobId& id, std::uint32_t number) const {
  const Job* job = durable_.core().state().job(id);
  const bool known = job != nullptr && number >= 1 && number <= job->attempts.size();
  return known ? job->attempts[number - 1].id : AttemptId{id, number};
}

std::optional<LogDirectory::Place> BulkServer::Directory::place(const LogKey& log) const {
  const auto& state = durable_.core().state();
  const Attempt* attempt = state.attempt(log.attempt);
  if (attempt == nullptr || log.rank < 0) return std::nullopt;
  const JobSpec& spec = state.job(log.attempt.job)->spec;
  const bool of_node = log.stream == LogStream::environment;
  const int node_rank = of_node ? log.rank : spec.node_of_rank(log.rank);
  if (node_rank >= attempt->size()) return std::nullopt;
  const Part& part = attempt->parts[static_cast<std::size_t>(node_rank)];
  return Place{part.node, node_rank, state.node_name(part.node), durable_.core().clock_ahead(part)};
}

// Handles each kind of message from a known key.
struct BulkRequests {
  BulkServer& server;
  const BlobService::From& from;
  const Caller& caller;
  std::optional<NodeId> node;  // absent: a user sent it

  void operator()(MissingBlobs& m) const {
    if (const auto why = why_not_write(); !why.empty()) return refuse(why);
    BlobService::From asker = from;
    asker.owner = blob_owner_of(server.durable_.core(), caller);
    server.blob_service_.handle(std::move(asker), std::move(m));
  }
  void operator()(GetBlobs& m) const { server.get_blobs(from, std::move(m)); }
  // Users send source trees, nodes send outputs of jobs.
  void operator()(PutBlobs& m) const {
    // The same text as for a write that fails, so that waiting clients always read one reason.
    const auto low = server.space_.refusal();
    const bool is_full = node && server.space_.level() == DiskMonitor::Level::full;
    if (is_full || (!node && !low.empty())) server.blob_service_.give_up(from, m);
    if (is_full)
      return server.refuse(from.peer, from.sequence, {server.blobs_.no_space(), true, true});
    if (!node && !low.empty()) return refuse(low);
    if (const auto why = why_not_write(); !why.empty()) return refuse(why);
    if (const auto over = server.why_no_more_outputs(from, node, m); !over.empty()) {
      server.blob_service_.give_up(from, m);
      return server.refuse(from.peer, from.sequence, {over, true, true});
    }
    BlobService::From sender = from;
    sender.owner = {blob_owner_name(caller), {}, node.has_value()};
    server.blob_service_.handle(std::move(sender), std::move(m));
  }
  void operator()(const LogAppend& m) const {
    if (!node) return refuse("only a node may send logs");
    auto full = server.space_.standstill();
    const bool has_space = full.empty();
    if (has_space) full = server.room_.why_none(m.key.attempt, *node);
    const bool by_quota = has_space && !full.empty();
    const Status taken = full.empty() ? server.intake_.append(from.peer, from.sequence, *node, m,
                                                              server.durable_.now())
                                      : make_error(ErrorCode::resource_exhausted, full);
    if (taken) return server.room_.taken(m, *node);
    if (taken.error().code != ErrorCode::resource_exhausted) return check(taken);
    server.refuse(from.peer, from.sequence, {taken.error().message, true, true});
    server.room_.refused(m.key.attempt, *node, taken.error().message, by_quota);
  }
  void operator()(const LogResume& m) const {
    if (!node) return refuse("only a node may send logs");
    check(server.intake_.resume(from.peer, from.sequence, *node, m));
  }
  void operator()(const LogFollow& m) const {
    if (node) return refuse("this is a node's key: only a user may read logs");
    const Decision reads = server.may_read(from.key, m.job);
    if (!reads.allowed) return refuse(reads.why);
    const Status follows = server.follow(from, m);
    if (follows) server.keys_of_followers_[from.peer] = from.key;
    if (follows && reads.audited && server.is_first_read(from.key, m.job))
      server.audit(AuditOutcome::read, "");
    check(follows);
  }
  void operator()(const LogCredit& m) const {
    if (!node) server.followers_.credit(from.peer, m.chunks);
  }
  void operator()(const FindPeers& m) const {
    if (!node) return refuse("only a node may ask for peers");
    if (!server.is_assigned(*node, m.lock ? *m.lock : m.root))
      return refuse("this tree does not belong to an attempt that is assigned to this node");
    server.find_peers(from, *node, m);
  }
  void operator()(const FetchReport& m) const {
    if (!node) return refuse("only a node may report what it fetched");
    server.take_report(from, *node, m);
  }
  void operator()(AttachFrame& m) const {
    if (!node) return server.attach(from.peer, from.key, std::move(m));
    server.attachments_.from_node(*node, from.peer, std::move(m), server.durable_.now());
  }
  template <typename Other>
  void operator()(const Other&) const {
    refuse("a launcher does not accept this kind of message");
  }

  std::string why_not_write() const {
    const State& state = server.durable_.core().state();
    if (node) {
      const Node* known = state.node(*node);
      const bool waits = known != nullptr && known->waits_for_approval;
      return waits ? "this node waits for approval, and may not send files before it is approved"
                   : "";
    }
    const Principals& principals = state.principals();
    return may(principals, caller, Permission::write_blobs, {}).why;
  }
  void check(const Status& done) const {
    if (!done) refuse(done.error().message);
  }
  void refuse(const std::string& message, bool for_now = false) const {
    server.refuse(from.peer, from.sequence, {message, for_now});
  }
};

BulkServer::BulkServer(Parts parts)
    : loop_(parts.loop),
      durable_(parts.durable),
      keys_(parts.keys),
      sender_(parts.sender),
      space_(parts.space),
      blobs_(parts.blobs),
      directory_(parts.durable),
      log_grew_(std::move(parts.log_grew)),
      logs_(std::move(parts.log_root)),
      followers_(logs_, directory_,
                 [this](const std::string& peer, std::uint64_t reply_to, BulkMessage body) {
                   return sender_.send(peer, reply_to, body) == BlobService::Sent::yes;
                 }),
      intake_(logs_, directory_, intake_sinks()),
      room_(parts.durable, intake_),
      audit_(parts.audit),
      of_users_(bounds_of_bulk_messages()),
      frames_of_users_(bounds_of_attach_frames()),
      waiting_(std::make_shared<Shares>(bounds_of_questions())),
      nodes_(parts.nodes),
      peers_(parts.peers),
      attachments_(attachment_ports()),
      blob_service_(parts.blob_service) {
  blob_service_.only_to(
      [&keys = keys_](const PublicKey& key) { return keys.node_of(key) || keys.client_of(key); });
}

LogIntake::Sinks BulkServer::intake_sinks() {
  LogIntake::Sinks sinks;
  sinks.ack = [this](const std::string& peer, std::uint64_t reply_to, const LogAck& ack) {
    (void)sender_.send(peer, reply_to, ack);
  };
  sinks.grew = [this](const LogKey& key) {
    followers_.grew(key);
    log_grew_(key);
  };
  sinks.logs_durable = [this](const AttemptId& attempt, NodeId node) {
    durable_.feed(LogsDurableInput{attempt, node});
  };
  return sinks;
}

void BulkServer::refuse(const std::string& peer, std::uint64_t sequence,
                        const BulkRefused& refusal) {
  if (!refusal.for_now)
    for (const std::string& line :
         refusals_.take("a bulk message was refused: " + refusal.message, durable_.now()))
      spdlog::warn("{}", line);
  if (!refusal.for_now) audit(AuditOutcome::refused, refusal.message);
  (void)sender_.send(peer, sequence, refusal);
}

// Followers that have gone are searched only if that makes room.
Status BulkServer::follow(const BlobService::From& from, const LogFollow& request) {
  Status follows = followers_.follow(from.peer, from.sequence, request, from.user);
  if (follows || follows.error().code != ErrorCode::resource_exhausted) return follows;
  followers_.drop_gone([this](const std::string& peer) { return sender_.is_gone(peer); });
  return followers_.follow(from.peer, from.sequence, request, from.user);
}

void BulkServer::on_bulk(io::ServerSocket::Incoming incoming) {
  const auto client = keys_.client_of(incoming.key);
  if (keys_.node_of(incoming.key) || !client) return decode(std::move(incoming));
  const std::string peer = incoming.peer;
  const std::uint64_t sequence = wire::peek_sequence(incoming.bytes).value_or(0);
  const std::uint64_t bytes = incoming.bytes.size();
  auto& queue = wire::is_attach_frame(incoming.bytes) ? frames_of_users_ : of_users_;
  if (const Status taken = queue.push(principal_of(*client), std::move(incoming), bytes); !taken)
    refuse(peer, sequence, {taken.error().message, true});
}

// Takes one message of each queue in turn: a user who types waits for one frame of each other user
// and one other message, and a flood of frames does not block files.
void BulkServer::serve_users() {
  const auto end = std::chrono::steady_clock::now() + kUsersServedFor;
  do {
    auto frame = frames_of_users_.pop();
    if (frame) decode(std::move(frame->item));
    auto next = of_users_.pop();
    if (next) decode(std::move(next->item));
    if (!frame && !next) return;
  } while (std::chrono::steady_clock::now() < end);
}

void BulkServer::decode(io::ServerSocket::Incoming incoming) {
  auto taken =
      std::make_shared<Taken>(Taken{std::move(incoming), make_error(ErrorCode::corrupt, "")});
  taken->envelope = wire::decode_bulk(taken->incoming.bytes);
  if (waits_for_key(taken->incoming.key)) {
    ++waiting_for_keys_;
    return durable_.ask([this, taken] {
      durable_.when_durable([this, taken] {
        --waiting_for_keys_;
        take(*taken);
      });
    });
  }
  const auto client = keys_.client_of(taken->incoming.key);
  if (!client || !asks_about_jobs(*taken)) return take(*taken);
  const auto held = Shares::hold(waiting_, principal_of(*client), 0);
  if (!held)
    return refuse(taken->incoming.peer, taken->envelope->sequence, {held.error().message, true});
  durable_.when_durable([this, taken, share = *held]() mutable {
    share.reset();
    take(*taken);
  });
}

// Whether the key is in keys/authorized_users and its facts are not durable yet (LauncherServer).
bool BulkServer::waits_for_key(const PublicKey& key) const {
  return !keys_.node_of(key) && !keys_.client_of(key) && keys_.file().lists(key) &&
         !durable_.takes_now() && waiting_for_keys_ < kMaxPiecesForKeys;
}

// Whether the answer shows a job's state, which may come from facts that are not durable yet.
bool BulkServer::asks_about_jobs(const Taken& taken) const {
  if (!taken.envelope) return false;
  if (const auto* frame = std::get_if<AttachFrame>(&taken.envelope->body))
    return std::holds_alternative<AttachOpen>(frame->body);
  return std::holds_alternative<LogFollow>(taken.envelope->body) ||
         std::holds_alternative<GetBlobs>(taken.envelope->body);
}

void BulkServer::take(Taken& taken) {
  auto& [incoming, envelope] = taken;
  handling_ = Handling{incoming.key, std::move(incoming.address),
                       envelope ? std::visit(BulkVerb{}, envelope->body) : "send a message",
                       envelope ? object_of(envelope->body) : "the launcher"};
  handle(incoming, envelope);
  handling_.reset();
}

void BulkServer::handle(io::ServerSocket::Incoming& incoming, Result<BulkEnvelope>& envelope) {
  if (!envelope) return refuse(incoming.peer, 0, {envelope.error().message});
  incoming.bytes = {};
  const auto node = keys_.node_of(incoming.key);
  const auto caller = caller_of(incoming.key);
  BlobService::From from{std::move(incoming.peer),
                         incoming.key,
                         envelope->sequence,
                         node ? snapshot::Lease::lasting : snapshot::Lease::brief,
                         {},
                         caller ? principal_of(*caller) : "",
                         node.has_value(),
                         node || !caller ? "" : launcher::owner_of(*caller)};
  const State& state = durable_.core().state();
  if (node && envelope->of_attempt && state.assigned_part(*envelope->of_attempt, *node) != nullptr)
    (envelope->final_outputs ? from.ended : from.attempt) = envelope->of_attempt;
  if (!caller) return refuse(from.peer, from.sequence, {"this key is not authorised any more"});
  std::visit(BulkRequests{*this, from, *caller, node}, envelope->body);
}

// Ends follows of users who may no longer read the job.
void BulkServer::check_followers() {
  attachments_.look_again(durable_.now());
  for (auto it = keys_of_followers_.begin(); it != keys_of_followers_.end();) {
    const auto& [peer, key] = *it;
    const auto job = followers_.followed_by(peer);
    std::string why;
    if (job) why = keys_.client_of(key) ? why_not_read(key, *job) : "this key was revoked";
    if (!why.empty()) {
      followers_.end(peer);
      refuse(peer, 0, {why});
    }
    it = job && why.empty() ? std::next(it) : keys_of_followers_.erase(it);
  }
}

void BulkServer::perform(const AwaitLogs& action) {
  intake_.await(action.attempt, action.node, action.sizes);
}

void BulkServer::perform(const JobChanged& action) {
  followers_.job_changed(action.job);
  const auto job = directory_.job(action.job);
  if (job && !job->final) return;
  if (job) logs_.forget(action.job);
  room_.forget(action.job);
}

void BulkServer::perform(const MergeOutputs& action) {
  const Job* job = durable_.core().state().job(action.job);
  const std::string submitter = job != nullptr ? job->spec.submitter : "";
  blob_service_.merge(
      principal_of_user(submitter), action, [this, job = action.job](Result<MergedTrees> merged) {
        if (!merged) return durable_.feed(OutputsMergedInput{job, {}, merged.error().message});
        durable_.feed(
            OutputsMergedInput{job, std::move(merged->outputs), "", std::move(merged->sizes)});
      });
}

void BulkServer::perform(const ForgetJob& action) {
  for (const auto& attempt : action.attempts) logs_.drop(attempt);
}

void BulkServer::give_up(const SyncBatch& batch, const Error& why) {
  failure_ = why;
  if (const auto cut = logs_.cut_back(batch); !cut) spdlog::error("{}", cut.error().message);
}

void BulkServer::turn_end() {
  look_at_rights();
  room_.turn_end();
  blob_service_.retry();
  auto batch = intake_.turn_end();
  if (!batch) return;
  sync_worker_.run([this, batch = std::make_shared<SyncBatch>(std::move(*batch))] {
    const auto done = batch->sync();
    loop_.post([this, batch, done] {
      if (!done) give_up(*batch, done.error());
      if (done) intake_.synced(*batch);
    });
  });
}

}  // namespace lockstep::launcher
