#include "launcher/daemon/control_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/io/process.h"
#include "common/wire/control.h"
#include "launcher/api/job_name.h"
#include "launcher/core/state.h"
#include "launcher/daemon/mapped_environments.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxPending = 100'000;
constexpr std::size_t kMaxWatchersPerJob = 1'000;

std::string random_secret() {
  std::string secret;
  for (int i = 0; i < 4; ++i) secret += fmt::format("{:016x}", io::random_u64());
  return secret;
}

Status check_variables_size(const std::map<std::string, std::string>& variables) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : variables) bytes += name.size() + value.size();
  if (bytes <= kMaxVariablesBytes) return {};
  return make_error(ErrorCode::resource_exhausted,
                    fmt::format("environment_variables: names and values have {} bytes together, "
                                "and {} are possible; put what is large into a file of the job's "
                                "code folder",
                                bytes, kMaxVariablesBytes));
}

}  // namespace

// ---- what nodes say -----------------------------------------------------------------------------

struct NodeMessages {
  ControlServer& server;
  const ControlServer::Request& from;

  void operator()(SessionOpen& open) const {
    spdlog::info("node {} opens session {:x}", open.node.value, open.session.value);
    server.links_.heard(from.key, open.session, from.peer);
    server.engine_.feed(SessionInput{from.key, std::move(open)});
  }
  void operator()(Heartbeat& beat) const {
    server.links_.heard(from.key, beat.session, from.peer);
    server.engine_.feed(HeartbeatInput{from.key, beat});
  }
  void operator()(Observed& observed) const {
    server.links_.heard(from.key, observed.session, from.peer);
    server.engine_.feed(ObservedInput{from.key, std::move(observed)});
  }
};

// ---- what users ask -----------------------------------------------------------------------------

struct ClientRequests {
  ControlServer& server;
  const ControlServer::Request& from;
  const std::string& user;

  void operator()(Submit& submit) const { server.submit(from, user, std::move(submit)); }
  void operator()(const CancelJob& cancel) const {
    server.engine_.feed(CancelInput{server.expect_reply(from, server.control_), cancel.job, user});
  }
  void operator()(const DrainNode& drain) const {
    server.engine_.feed(DrainInput{server.expect_reply(from, server.control_), drain.name_or_id,
                                   drain.drain, drain.reason});
  }
  void operator()(const RemoveNode& remove) const {
    server.engine_.feed(RemoveNodeInput{server.expect_reply(from, server.control_),
                                        remove.name_or_id, user, remove.now});
  }
  void operator()(const Shutdown& shutdown) const {
    const ReplyTo to = server.expect_reply(from, server.control_);
    server.pending_[to.client].from_operator = server.is_operator(user);
    server.engine_.feed(ShutdownInput{to, shutdown.cancel_jobs});
  }
  void operator()(const CreateToken& create) const {
    auto token = server.settings_.token;
    token.secret = random_secret();
    token.expires = server.engine_.now() + create.valid_for;
    const TokenReply reply{wire::encode(token), token.expires};
    server.engine_.feed(TokenInput{server.expect_reply(from, server.control_, reply),
                                   sha256(token.secret), token.expires, create.uses});
  }
  void operator()(const WatchJob& watch) const {
    question(watch);
    const auto view = server.engine_.core().job_view(watch.job);
    if (!view || is_final(view->status)) return;
    auto& peers = server.watchers_[watch.job];
    if (peers.size() < kMaxWatchersPerJob) peers.insert(from.peer);
  }
  void operator()(const DeleteJobs& m) const {
    server.engine_.feed(DeleteInput{server.expect_reply(from, server.control_), m.jobs, m.all_final,
                                    m.older_than, user});
  }
  void operator()(CreateEnvironment& create) const {
    server.create_environment(from, user, std::move(create));
  }
  void operator()(const PruneEnvironments& prune) const {
    server.engine_.feed(
        PruneEnvironmentsInput{server.expect_reply(from, server.control_), prune.unused_for, user});
  }
  void operator()(const ShowEnvironment& m) const {
    server.reply(from, with_map(server.engine_.core().state(), server.settings_.environments_map,
                                m.reference));
  }
  void operator()(const ListEnvironments& m) const { question(m); }
  void operator()(const ListJobs& m) const { question(m); }
  void operator()(const ShowJob& m) const { question(m); }
  void operator()(const ExplainJob& m) const { question(m); }
  void operator()(const ListEvents& m) const { question(m); }
  void operator()(const ListNodes& m) const { question(m); }
  void operator()(const ShowNode& m) const { question(m); }
  void operator()(const GetStatus& m) const {
    const DiskMonitor& space = *server.settings_.space;
    LauncherInfo& info = server.settings_.info;
    info.disk_free = space.space().free;
    info.low_space = space.low();
    info.low_reason = space.refusal();
    question(m);
  }

  void question(const Query& query) const {
    auto reply = answer(server.engine_.core(), server.settings_.info, query);
    if (auto* nodes = std::get_if<NodesReply>(&reply); nodes && server.settings_.traffic)
      for (NodeView& node : nodes->nodes) node.blobs = server.settings_.traffic(node.id);
    server.reply(from, std::move(reply));
  }
};

ControlServer::ControlServer(Engine& engine, KeyRegistry& gate, io::ServerSocket& control,
                             io::ServerSocket& join, CheckSnapshot check_snapshot,
                             Settings settings)
    : engine_(engine),
      gate_(gate),
      control_(control),
      join_(join),
      check_snapshot_(std::move(check_snapshot)),
      settings_(std::move(settings)),
      messages_of_user_(
          {static_cast<double>(settings_.user_messages_per_second * kUserBurstSeconds),
           static_cast<double>(settings_.user_messages_per_second)}) {}

void ControlServer::on_control(io::ServerSocket::Incoming incoming) {
  Request request{std::move(incoming.peer), incoming.key, 0, Instant::never()};
  // A removed node's key is a node's too: the core tells it.
  if (gate_.node_of(request.key) || gate_.is_revoked(request.key))
    return on_node(std::move(request), incoming.bytes);
  // Asked again for each message: a user whose line was removed is out at once.
  if (const auto user = gate_.user_of(request.key))
    return on_user(std::move(request), *user, incoming.bytes);
  request.sequence = wire::peek_sequence(incoming.bytes).value_or(0);
  refuse(request, ErrorCode::permission_denied, "this key is not authorised any more");
}

void ControlServer::on_node(Request request, const std::string& bytes) {
  auto envelope = wire::decode_envelope<AgentMessage>(bytes);
  if (envelope) {
    request.sequence = envelope->sequence;
    return std::visit(NodeMessages{*this, request}, envelope->body);
  }
  Error& error = envelope.error();
  spdlog::warn("a message of a node was refused: {}", error.message);
  if (error.code == ErrorCode::permission_denied)
    error.message = "this is a node's key: " + error.message;
  outbox_.put(control_, request.peer, wire::peek_sequence(bytes).value_or(0),
              AgentReply(Refused{error.code, std::move(error.message)}));
}

std::string ControlServer::limit_reached(const PublicKey& key, const std::string& user,
                                         std::size_t bytes) {
  if (!messages_of_user_.take(key, engine_.now()))
    return fmt::format(
        "user '{}' asks more than {} times a second with one key; ask less often, "
        "or start lockstepd with a higher --user-messages",
        user, settings_.user_messages_per_second);
  if (bytes <= kMaxUserMessageBytes) return "";
  return fmt::format(
      "the request has {} bytes, and a user's may have {}; large files belong into "
      "the job's code folder, which is uploaded apart",
      bytes, kMaxUserMessageBytes);
}

void ControlServer::on_user(Request request, const std::string& user, const std::string& bytes) {
  if (const auto limit = limit_reached(request.key, user, bytes.size()); !limit.empty()) {
    request.sequence = wire::peek_sequence(bytes).value_or(0);
    return refuse(request, ErrorCode::resource_exhausted, limit);
  }
  auto envelope = wire::decode_envelope<ClientRequest>(bytes);
  if (envelope) {
    request.sequence = envelope->sequence;
    if (envelope->deadline_ms > 0)
      request.deadline = engine_.now() + milliseconds(envelope->deadline_ms);
    return std::visit(ClientRequests{*this, request, user}, envelope->body);
  }
  Error& error = envelope.error();
  spdlog::warn("a message of user '{}' was refused: {}", user, error.message);
  if (error.code == ErrorCode::permission_denied)
    error.message = "this is the key of user '" + user + "': " + error.message;
  request.sequence = wire::peek_sequence(bytes).value_or(0);
  refuse(request, error.code, std::move(error.message));
}

void ControlServer::submit(const Request& request, const std::string& user, Submit submit) {
  auto& spec = submit.spec;
  if (const auto fits = check_variables_size(spec.environment_variables); !fits)
    return refuse(request, fits.error().code, fits.error().message);
  // One that was taken already is answered: it takes nothing more.
  const auto low = settings_.space->refusal();
  if (!low.empty() && engine_.core().state().job_of_submission(submit.submission) == nullptr)
    return refuse(request, ErrorCode::resource_exhausted, low);
  spec.submitter = user;
  // Who a key belongs to was said when it was authorised; what its holder says does not count.
  if (spec.run_as.empty()) spec.run_as = user;
  if (spec.run_as == "root" && !settings_.allow_root)
    return refuse(request, ErrorCode::permission_denied,
                  "jobs may not run as root on this launcher; submit as another user, or start "
                  "lockstepd with --allow-root");
  if (spec.run_as != user && !is_operator(user))
    return refuse(
        request, ErrorCode::permission_denied,
        fmt::format("this key is authorised as '{}', so its jobs run as {} and not as {}; "
                    "only root and {}, who runs the launcher, may choose another account",
                    user, user, spec.run_as, settings_.owner));
  const auto feed = [this, request](Submit accepted) {
    engine_.feed(SubmitInput{expect_reply(request, control_), std::move(accepted.submission),
                             std::move(accepted.spec), generated_job_name(io::random_u64()),
                             accepted.rebuild});
  };
  std::vector<Digest> roots;
  if (spec.snapshot) roots.push_back(*spec.snapshot);
  if (const Digest* context = spec.environment ? context_of(spec.environment->definition) : nullptr)
    roots.push_back(*context);
  check_trees(request, std::move(roots),
              [this, request, feed, submit = std::move(submit)](Result<bool> whole) {
                if (!whole) return refuse(request, whole.error().code, whole.error().message);
                if (!*whole) return reply(request, SubmitReply{JobId(submit.spec.name), true});
                feed(submit);
              });
}

void ControlServer::create_environment(const Request& request, const std::string& user,
                                       CreateEnvironment create) {
  if (const auto low = settings_.space->refusal(); !low.empty())
    return refuse(request, ErrorCode::resource_exhausted, low);
  std::vector<Digest> roots;
  if (const Digest* context = context_of(create.environment.spec.definition))
    roots.push_back(*context);
  check_trees(request, std::move(roots),
              [this, request, user, create = std::move(create)](Result<bool> whole) {
                if (!whole) return refuse(request, whole.error().code, whole.error().message);
                if (!*whole)
                  return refuse(request, ErrorCode::not_found,
                                "environment.build: the launcher lacks parts of what the image is "
                                "built from; create it again");
                engine_.feed(CreateEnvironmentInput{expect_reply(request, control_),
                                                    create.environment, user});
              });
}

void ControlServer::check_trees(const Request& request, std::vector<Digest> roots,
                                std::function<void(Result<bool>)> then) {
  if (roots.empty()) return then(true);
  const Digest root = roots.back();
  roots.pop_back();
  check_snapshot_(root, [this, request, roots = std::move(roots),
                         then = std::move(then)](Result<bool> whole) mutable {
    if (request.deadline < engine_.now()) return;
    if (!whole || !*whole) return then(std::move(whole));
    check_trees(request, std::move(roots), std::move(then));
  });
}

// ---- joins --------------------------------------------------------------------------------------

// Anybody may send here, so nothing is spent on more than a few a second; and whoever floods is
// stopped by a limit of their own before they take from what others share.
bool ControlServer::may_join_now(const io::ServerSocket::Incoming& incoming) {
  const Instant now = engine_.now();
  return join_limits_.of_key.take(incoming.key, now) &&
         join_limits_.of_address.take(incoming.address, now) && join_limits_.of_all.take(0, now);
}

void ControlServer::on_join(io::ServerSocket::Incoming incoming) {
  if (incoming.bytes.size() > kMaxJoinMessageBytes || !may_join_now(incoming)) return;
  const auto envelope = wire::decode_envelope<JoinMessage>(incoming.bytes);
  const Request request{
      std::move(incoming.peer), incoming.key,
      envelope ? envelope->sequence : wire::peek_sequence(incoming.bytes).value_or(0),
      Instant::never()};
  const auto refuse_join = [&](const std::string& reason) {
    spdlog::warn("a join was refused: {}", reason);
    outbox_.put(join_, request.peer, request.sequence, JoinReply(JoinRefused{reason}));
  };
  if (!envelope) return refuse_join(envelope.error().message);
  const auto& join = std::get<JoinRequest>(envelope->body);
  if (gate_.user_of(request.key))
    return refuse_join("this key belongs to a user; a node needs a key of its own");
  if (const auto low = settings_.space->refusal(); !low.empty()) return refuse_join(low);
  engine_.feed(
      JoinInput{expect_reply(request, join_), sha256(join.token_secret), request.key, join.name});
}

// ---- replies ------------------------------------------------------------------------------------

bool ControlServer::is_operator(const std::string& user) const {
  return user == "root" || user == settings_.owner;
}

ReplyTo ControlServer::expect_reply(const Request& request, io::ServerSocket& socket,
                                    std::optional<TokenReply> token) {
  if (pending_.size() >= kMaxPending) pending_.erase(pending_.begin());
  pending_[++last_pending_] = {&socket, request.peer, request.sequence, std::move(token), false};
  return {last_pending_, request.sequence};
}

bool ControlServer::take_pending(const ReplyTo& to, Pending* out) {
  const auto it = pending_.find(to.client);
  if (it == pending_.end()) return false;
  *out = std::move(it->second);
  pending_.erase(it);
  return true;
}

void ControlServer::reply(const Request& request, ClientReply body) {
  outbox_.put(control_, request.peer, request.sequence, std::move(body));
}

void ControlServer::refuse(const Request& request, ErrorCode code, std::string message) {
  reply(request, Refused{code, std::move(message)});
}

void ControlServer::tell_node(NodeId node, AgentReply body) {
  if (const auto current = links_.current(node))
    send_to_session(current->key, current->session, std::move(body));
}

void ControlServer::send_to_session(const PublicKey& key, SessionId session, AgentReply body) {
  if (auto peer = links_.peer_of(key, session))
    outbox_.put(control_, std::move(*peer), 0, std::move(body));
}

}  // namespace lockstep::launcher
