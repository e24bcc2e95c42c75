#include "launcher/daemon/servers/control_server.h"

#include "common/wire/messages/control.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxJoining = 10'000;

}  // namespace

// Whether a message to join is handled now. Anybody may send to this socket, so only a few messages
// per second are handled. A flood is stopped by the sender's own limit before it uses up the limit
// that others share.
bool LauncherServer::may_join_now(const io::ServerSocket::Incoming& incoming) {
  const Instant now = durable_.now();
  return join_limits_.of_key.take(incoming.key, now) &&
         join_limits_.of_address.take(incoming.address, now) && join_limits_.of_all.take(0, now);
}

void LauncherServer::on_join(io::ServerSocket::Incoming incoming) {
  if (incoming.bytes.size() > kMaxJoinMessageBytes || !may_join_now(incoming)) {
    audit_.left_out(incoming.address);
    return;
  }
  const auto envelope = wire::decode_envelope<JoinMessage>(incoming.bytes);
  const Request request{
      std::move(incoming.peer), incoming.key,
      envelope ? envelope->sequence : wire::peek_sequence(incoming.bytes).value_or(0),
      incoming.address};
  const auto refuse_join = [&](const std::string& reason) {
    log_refusal("a join was refused: " + reason);
    audit("nobody", request.key, request.address, "join", "the launcher", AuditOutcome::refused,
          reason);
    outbox_.put(join_, request.peer, request.sequence, JoinReply(JoinRefused{reason}));
  };
  if (!envelope) return refuse_join(envelope.error().message);
  if (std::holds_alternative<AskAboutKey>(envelope->body))
    return outbox_.put(join_, request.peer, request.sequence, JoinReply(standing_of(request.key)));
  const auto& join = std::get<JoinRequest>(envelope->body);
  if (keys_.client_of(request.key))
    return refuse_join("this key belongs to a user or a job; a node needs a key of its own");
  if (const auto low = space_.refusal(); !low.empty()) return refuse_join(low);
  if (joining_.size() >= kMaxJoining) joining_.erase(joining_.begin());
  joining_[++last_joining_] = {request.peer, request.sequence, request.key, request.address,
                               join.name};
  durable_.feed(JoinInput{{last_joining_, request.sequence},
                          sha256(join.token_secret),
                          request.key,
                          join.name,
                          join.machine});
}

std::optional<LauncherServer::Joining> LauncherServer::take_joining(const ReplyTo& to) {
  const auto it = joining_.find(to.client);
  if (it == joining_.end()) return std::nullopt;
  const Joining joining = std::move(it->second);
  joining_.erase(it);
  return joining;
}

}  // namespace lockstep::launcher
