#include "launcher/daemon/servers/control_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "common/wire/messages/control.h"
#include "launcher/api/reply_router.h"
#include "launcher/daemon/work/principal.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kHeadBytes = 64;  // more than peek_sequence() reads
constexpr std::size_t kMostDiskWaiters = 10'000;
constexpr std::size_t kMaxWaitingForKeys = 100;
// Limits on users' messages that wait for the loop.
ShareBounds bounds_of_messages() {
  return {"messages waiting", 4'096, 65'536, 32u << 20, 256u << 20};
}
// The bounds of unanswered requests. A request counts from its decoding to its answer, also while
// its files are checked.
ShareBounds bounds_of_unanswered() {
  return {"unanswered requests", 5'000, 50'000, 64u << 20, 512u << 20};
}

// Texts such as "user 'alice'" and "attempt train.1".
std::string described(const Caller& caller) {
  const bool is_user = std::holds_alternative<UserCaller>(caller);
  return is_user ? fmt::format("user '{}'", name_of(caller)) : name_of(caller);
}

}  // namespace

// ---- what nodes say -----------------------------------------------------------------------------

struct NodeMessages {
  LauncherServer& server;
  const LauncherServer::Request& from;

  void operator()(SessionOpen& open) const {
    spdlog::info("node {} opens session {:x}", open.node.value, open.session.value);
    server.nodes_.links().heard(from.key, open.session, from.peer, from.address);
    server.durable_.feed(SessionInput{from.key, std::move(open)});
  }
  void operator()(Heartbeat& beat) const {
    server.nodes_.links().heard(from.key, beat.session, from.peer, from.address);
    server.durable_.feed(HeartbeatInput{from.key, beat});
  }
  void operator()(Observed& observed) const {
    server.nodes_.links().heard(from.key, observed.session, from.peer, from.address);
    server.durable_.feed(ObservedInput{from.key, std::move(observed)});
  }
  void operator()(UsageReport& report) const { server.take_usage(from, std::move(report)); }
};

LauncherServer::LauncherServer(Parts parts, Settings settings)
    : durable_(parts.durable),
      keys_(parts.keys),
      control_(parts.control),
      join_(parts.join),
      service_(parts.service),
      outbox_(parts.outbox),
      nodes_(parts.nodes),
      usage_(parts.usage),
      secrets_(parts.secrets),
      attempts_(parts.attempts),
      audit_(parts.audit),
      space_(parts.space),
      settings_(std::move(settings)),
      reports_(
          durable_.core(),
          [&blobs = parts.blobs](const Caller& caller, const Digest& root,
                                 std::function<void(Result<bool>)> then) {
            blobs.check_whole(caller, root, std::move(then));
          },
          [this](const NodeRequest& from, AgentMessage message) {
            std::visit(NodeMessages{*this, from}, message);
          },
          [this](std::string line) { log_refusal(std::move(line)); }),
      operator_fabric_(settings_.fabric),
      messages_(bounds_of_messages()),
      waiting_({}),
      unanswered_(std::make_shared<Shares>(bounds_of_unanswered())),
      messages_of_user_(
          {static_cast<double>(settings_.user_messages_per_second * kUserBurstSeconds),
           static_cast<double>(settings_.user_messages_per_second)}) {}

void LauncherServer::on_control(io::ServerSocket::Incoming incoming) {
  // The key of a removed node is still handled as a node's; the core answers it.
  if (keys_.node_of(incoming.key) || keys_.is_revoked(incoming.key))
    return on_node({std::move(incoming.peer), incoming.key, 0, std::move(incoming.address)},
                   incoming.bytes);
  // The key is checked for each message, so that a revoked key, or one of an ended attempt, is
  // refused at once.
  if (const auto client = keys_.client_of(incoming.key))
    return on_client(std::move(incoming), *client);
  if (waits_for_key(incoming)) return;
  const std::string why = why_not_authorised(incoming.key);
  audit("nobody", incoming.key, incoming.address, "send a request", "the launcher",
        AuditOutcome::refused, why);
  refuse(incoming.peer, wire::peek_sequence(incoming.bytes).value_or(0),
         ErrorCode::permission_denied, why);
}

std::string LauncherServer::why_not_authorised(const PublicKey& key) const {
  const std::string why = to_string(standing_of(key));
  return why.empty() ? "this key is not authorised any more" : why;
}

KeyStanding LauncherServer::standing_of(const PublicKey& key) const {
  if (keys_.client_of(key) || keys_.node_of(key)) return {KeyStanding::Kind::valid, "", {}, ""};
  const KeyStanding* ended = durable_.core().state().principals().ended(key);
  return ended == nullptr ? KeyStanding{} : *ended;
}

// Whether the message is from a key in keys/authorized_users whose facts are not durable yet. It is
// handled after they are.
bool LauncherServer::waits_for_key(const io::ServerSocket::Incoming& incoming) {
  const bool may_become_known = keys_.file().lists(incoming.key) && !durable_.takes_now();
  if (!may_become_known || waiting_for_keys_ >= kMaxWaitingForKeys) return false;
  ++waiting_for_keys_;
  const auto waits = std::make_shared<io::ServerSocket::Incoming>(incoming);
  durable_.ask([this, waits] {
    durable_.when_durable([this, waits] {
      --waiting_for_keys_;
      on_control(std::move(*waits));
    });
  });
  return true;
}

void LauncherServer::on_node(Request request, const std::string& bytes) {
  auto envelope = wire::decode_envelope<AgentMessage>(bytes);
  if (envelope) {
    request.sequence = envelope->sequence;
    const auto node = keys_.node_of(request.key);
    if (node) return reports_.take(*node, std::move(request), std::move(envelope->body));
    return std::visit(NodeMessages{*this, request}, envelope->body);
  }
  Error& error = envelope.error();
  log_refusal("a message of a node was refused: " + error.message);
  durable_.feed(UnreadInput{request.key, error.message});
  if (error.code == ErrorCode::permission_denied)
    error.message = "this is a node's key: " + error.message;
  audit(holder_of(request.key), request.key, request.address, "send a message", "the launcher",
        AuditOutcome::refused, error.message);
  outbox_.put(control_, request.peer, wire::peek_sequence(bytes).value_or(0),
              AgentReply(Refused{error.code, std::move(error.message)}));
}

// Counts only reports of the node's current session, not a cloned image's or late ones.
void LauncherServer::take_usage(const Request& from, UsageReport report) {
  const auto node = keys_.node_of(from.key);
  if (!node) return;
  const auto current = nodes_.links().current(*node);
  if (!current || current->session != report.session || report.node != *node) return;
  const State& state = durable_.core().state();
  std::size_t left_out = 0;
  report = own_use(state, *node, std::move(report), &left_out);
  // A part may have just ended, so this is not a false report.
  if (left_out > 0)
    spdlog::debug("{} parts or ranks in a usage report of node {} are not its own", left_out,
                  state.node_name(*node));
  usage_.take(durable_.now(), *node, std::move(report));
  usage_.keep_only(state);
}

// The reached limit of a caller. All keys of a user share one limit, and so do all attempts of
// their jobs.
std::string LauncherServer::limit_reached(const Caller& caller, std::size_t bytes) {
  const bool is_attempt = std::holds_alternative<AttemptCaller>(caller);
  const std::string sender = (is_attempt ? "attempts of " : "") + principal_of(caller);
  if (!messages_of_user_.take(sender, durable_.now()))
    return fmt::format(
        "{} sends more than {} requests a second; send fewer, or start lockstepd with a higher "
        "--user-messages",
        sender, settings_.user_messages_per_second);
  if (bytes <= kMaxUserMessageBytes) return "";
  return fmt::format(
      "the request has {} bytes, and a user's request may have at most {}; put large files into "
      "the job's code folder, which is uploaded separately",
      bytes, kMaxUserMessageBytes);
}

void LauncherServer::refuse(const io::ServerSocket::Incoming& incoming, const Caller& caller,
                            ErrorCode code, std::string why) {
  audit(name_of(caller), incoming.key, incoming.address, "send a request", "the launcher",
        AuditOutcome::refused, why);
  refuse(incoming.peer, wire::peek_sequence(incoming.bytes).value_or(0), code, std::move(why));
}

void LauncherServer::on_client(io::ServerSocket::Incoming incoming, const Caller& caller) {
  if (auto limit = limit_reached(caller, incoming.bytes.size()); !limit.empty()) {
    log_refusal(limit);
    return refuse(incoming, caller, ErrorCode::resource_exhausted, std::move(limit));
  }
  const std::uint64_t bytes = incoming.bytes.size();
  // For the refusal only the head is kept; the message may be large.
  io::ServerSocket::Incoming head{incoming.peer, incoming.key, incoming.bytes.substr(0, kHeadBytes),
                                  incoming.address};
  if (const Status taken = messages_.push(principal_of(caller), std::move(incoming), bytes); !taken)
    refuse(head, caller, taken.error().code, taken.error().message);
}

bool LauncherServer::users_wait() const {
  return !messages_.empty() || (!waiting_.empty() && durable_.takes_now());
}

// Requests come before messages, because they arrived earlier.
void LauncherServer::serve_users() {
  const auto end = std::chrono::steady_clock::now() + kUsersServedFor;
  while (!outbox_.is_full()) {
    auto request = durable_.takes_now() ? waiting_.pop() : std::nullopt;
    auto message = request ? std::nullopt : messages_.pop();
    if (request) serve(std::move(request->item));
    if (message) decode(std::move(message->item));
    if ((!request && !message) || std::chrono::steady_clock::now() >= end) return;
  }
}

void LauncherServer::decode(io::ServerSocket::Incoming incoming) {
  const auto caller = keys_.client_of(incoming.key);
  if (!caller)
    return refuse(incoming, Nobody{}, ErrorCode::permission_denied,
                  "this key is not authorised any more");
  const std::string who = described(*caller);
  auto envelope = wire::decode_envelope<ClientRequest>(incoming.bytes);
  if (!envelope) {
    Error& error = envelope.error();
    log_refusal("a message of " + who + " was refused: " + error.message);
    if (error.code == ErrorCode::permission_denied)
      error.message = "this is the key of " + who + ": " + error.message;
    return refuse(incoming, *caller, error.code, std::move(error.message));
  }
  Asker asker{*caller,
              incoming.key,
              incoming.address,
              ReplyRouter::connection_of(kAdapter, incoming.peer),
              envelope->sequence,
              Instant::never(),
              envelope->takes_waits};
  if (envelope->deadline_ms > 0)
    asker.deadline = durable_.now() + milliseconds(envelope->deadline_ms);
  if (asker.takes_waits) note_disk_waiter(incoming.peer);
  // The launcher's status is answered at once, because it reports the state of the disk.
  if (std::holds_alternative<GetStatus>(envelope->body))
    return service_.handle(std::move(asker), std::move(envelope->body));
  auto share = Shares::hold(unanswered_, principal_of(*caller), incoming.bytes.size());
  if (!share) {
    log_refusal(share.error().message);
    return refuse(incoming, *caller, share.error().code, std::move(share.error().message));
  }
  asker.share = *std::move(share);
  waiting_.push_anyway(principal_of(*caller), {std::move(asker), std::move(envelope->body)});
}

void LauncherServer::serve(WaitingRequest one) {
  if (keys_.client_of(one.asker.key) != one.asker.caller)
    return refuse(peer_of(one.asker), one.asker.sequence, ErrorCode::permission_denied,
                  "this key is not authorised any more");
  if (one.asker.deadline >= durable_.now())
    service_.handle(std::move(one.asker), std::move(one.request));
}

// ---- requests that wait for the disk ------------------------------------------------------------

void LauncherServer::note_disk_waiter(const std::string& peer) {
  if (disk_waiters_.size() >= kMostDiskWaiters)
    std::erase_if(disk_waiters_, [this](const std::string& one) { return control_.is_gone(one); });
  if (disk_waiters_.size() >= kMostDiskWaiters) disk_waiters_.clear();
  disk_waiters_.insert(peer);
}

// Tells the client that its request waits. The client's wait begins anew, so the request is not
// late.
void LauncherServer::tell_waiting(const WaitsForDisk& why, Instant until) {
  waiting_.each([&](WaitingRequest& one) {
    if (!one.asker.takes_waits) return;
    one.asker.deadline = std::max(one.asker.deadline, until);
    send(peer_of(one.asker), one.asker.sequence, why);
  });
  outbox_.each_held_reply([&](const std::string& peer, std::uint64_t sequence) {
    if (disk_waiters_.count(peer) != 0) send(peer, sequence, why);
  });
}

void LauncherServer::log_refusal(std::string line) {
  for (const std::string& one : refusals_.take(std::move(line), durable_.now()))
    spdlog::warn("{}", one);
}

// ---- the audit log ------------------------------------------------------------------------------

void LauncherServer::audit(const std::string& who, const PublicKey& key, const std::string& address,
                           std::string what, std::string object, AuditOutcome outcome,
                           std::string detail) {
  AuditEntry entry;
  entry.who = who;
  entry.key = key.value;
  entry.address = address;
  entry.what = std::move(what);
  entry.object = std::move(object);
  entry.outcome = outcome;
  entry.detail = std::move(detail);
  audit_.record(std::move(entry));
}

// The holder of a node's key, even of a removed node.
std::string LauncherServer::holder_of(const PublicKey& key) const {
  const State& state = durable_.core().state();
  if (const Node* node = state.node_with_key(key)) return "node " + node->name;
  if (const RemovedNode* removed = state.removed_with_key(key)) return "node " + removed->name;
  return "nobody";
}

// ---- replies ------------------------------------------------------------------------------------

void LauncherServer::send(const std::string& connection, std::uint64_t reply_to,
                          ClientReply reply) {
  outbox_.put(control_, connection, reply_to, std::move(reply));
}

bool LauncherServer::is_gone(const std::string& connection) const {
  return control_.is_gone(connection);
}

std::string LauncherServer::peer_of(const Asker& asker) {
  return ReplyRouter::name_in_adapter(asker.connection);
}

void LauncherServer::refuse(const std::string& peer, std::uint64_t sequence, ErrorCode code,
                            std::string message) {
  outbox_.put(control_, peer, sequence, ClientReply(Refused{code, std::move(message)}));
}

DesiredState LauncherServer::desired_for(NodeId node) {
  DesiredState desired = durable_.core().desired_for(node);
  secrets_.give(desired);
  give_operator_settings(node, desired);
  for (Assignment& assignment : desired.assignments)
    if (assignment.phase != WantedPhase::stop)
      assignment.credential = attempts_.issue(assignment.attempt);
  return desired;
}

// The file's current settings apply to ranks that start from now on.
void LauncherServer::give_operator_settings(NodeId id, DesiredState& desired) {
  const State& state = durable_.core().state();
  const Node* node = state.node(id);
  if (node == nullptr || desired.assignments.empty()) return;
  const Compute* target = state.computes().find(node->pool);
  const OperatorSettings settings = operator_fabric_.settings_for(
      {node->pool, target == nullptr ? "" : target->spec.size, state.labels_of(*node)});
  if (settings.empty()) return;
  for (Assignment& assignment : desired.assignments)
    if (assignment.phase != WantedPhase::stop) assignment.operator_settings = settings;
}

}  // namespace lockstep::launcher
