#include "agent/daemon/agent.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/io/disk.h"
#include "common/io/net/reach.h"
#include "common/wire/messages/control.h"

namespace lockstep::agent {

namespace {

constexpr Duration kFirstUsageAfter = seconds(1);
constexpr Duration kLookWhereEvery = seconds(2);
constexpr Duration kLook = milliseconds(500);  // the loop blocks for this time

// ", for 5m now"; "" for less than a second.
std::string said_for(Duration time) {
  return time < seconds(1) ? ""
                           : ", for " + format_duration(std::chrono::floor<seconds>(time)) + " now";
}

}  // namespace

// Handles a failed dial. If an address cannot be dialled, the link treats it like one where nobody
// answers, and tries the next after a while.
void Agent::leave_if_failed(const Status& dialled) {
  if (dialled) return;
  if (addresses_.has_others())
    return spdlog::error("{}; soon another address of the launcher is tried",
                         dialled.error().message);
  refused_ = dialled.error().message;
  leaving_ = true;
}

void Agent::dial_next() {
  const std::string before = config_.identity.control_endpoint;
  const bool is_due = unanswered_.is_due(clock_.now());
  if (is_due && unanswered_since_ == Instant()) unanswered_since_ = clock_.now();
  if (is_due)
    spdlog::warn(
        "no connection to {}, the launcher's port for nodes{}: {}; jobs keep running; "
        "trying on",
        before, said_for(clock_.now() - unanswered_since_), io::why_not_connected(before, kLook));
  if (!addresses_.has_others()) return;
  addresses_.next();
  if (is_due)
    spdlog::info("trying {}, where the launcher may be too", addresses_.current().control);
  dial_current();
}

void Agent::dial_current() {
  note_link(false);
  config_.identity.control_endpoint = addresses_.current().control;
  config_.identity.bulk_endpoint = addresses_.current().bulk;
  bulk_.dial_at(config_.identity.bulk_endpoint);
  if (config_.moved) config_.moved(config_.identity, config_.inventory);
  leave_if_failed(control_.dial_at(config_.identity.control_endpoint));
}

void Agent::look_where_launcher_is() {
  look_where_at_ = clock_.now() + kLookWhereEvery;
  if (config_.serve_peers) config_.serve_peers(config_.inventory);
  for (MovedFile* file : {&message_file_, &token_file_}) {
    const auto address = file->look();
    if (!address) continue;
    if (!is_dialable(*address)) {
      spdlog::warn(
          "ignoring where the launcher is said to be now: '{}' and '{}' are not both "
          "tcp://HOST:PORT",
          address->control, address->bulk);
      continue;
    }
    if (*address == addresses_.current() && is_linked_) continue;
    spdlog::info("the launcher is said to be at {} now", address->control);
    addresses_.moved(*address);
    keep_addresses();
    dial_current();
  }
}

void Agent::note_link(bool in_session) {
  const std::string path = config_.home.link();
  if (!in_session) {
    is_linked_ = false;
    (void)io::disk::unlink(path.c_str());
    return;
  }
  if (std::exchange(is_linked_, true)) return;
  const std::string text = fmt::format("{} {}\n", ::getpid(), config_.identity.control_endpoint);
  const Status written = io::write_file_atomically(path, text, 0600, false);
  if (!written) spdlog::warn("{}", written.error().message);
}

void Agent::on_link(io::ClientSocket::Link link) {
  const std::string& endpoint = config_.identity.control_endpoint;
  switch (link) {
    case io::ClientSocket::Link::up:
      spdlog::info("connected to {}", endpoint);
      unanswered_.reset();
      unanswered_since_ = {};
      measure_address();
      emit(Connected{});
      return;
    case io::ClientSocket::Link::down:
      note_link(false);
      spdlog::warn("lost the connection to {}; jobs keep running; connecting again", endpoint);
      return;
    case io::ClientSocket::Link::refused:
      note_link(false);
      if (!unanswered_.is_due(clock_.now())) return;
      spdlog::error(
          "{} does not know the key of this node ({}); trying again in {}. If the launcher was "
          "replaced by a new one, remove identity.json and keys in {} and join again with a token",
          endpoint, config_.home.keys(), format_duration(kRedialRefusedAfter), config_.home.path());
      return;
  }
}

void Agent::receive(const std::string& bytes) {
  auto envelope = wire::decode_envelope<AgentReply>(bytes);
  if (!envelope)
    return spdlog::error("cannot read a message from the launcher: {}", envelope.error().message);
  if (const auto* refused = std::get_if<Refused>(&envelope->body))
    return spdlog::error("the launcher refused a message: {}", refused->message);
  if (const auto* allow = std::get_if<AllowPeers>(&envelope->body)) {
    if (config_.allow_peers) config_.allow_peers(*allow);
    return;
  }
  if (const auto* told = std::get_if<LauncherAddresses>(&envelope->body)) {
    addresses_.told(told->addresses);
    return keep_addresses();
  }
  if (const auto* wanted = std::get_if<AttachWanted>(&envelope->body))
    return attach_relay_.from_launcher(wanted->frame, clock_.now());
  note_session(envelope->body);
  note_time(envelope->body);
  emit(FromLauncher{std::move(envelope->body)});
}

// Notes a session. The first report is sent soon, for people who look at a node that has just
// joined.
void Agent::note_session(const AgentReply& reply) {
  if (std::holds_alternative<SessionLost>(reply)) in_session_ = false;
  const auto* accepted = std::get_if<SessionAccepted>(&reply);
  if (accepted == nullptr) return;
  control_.reconnect_within(accepted->reconnect_within);
  bulk_.reconnect_within(accepted->reconnect_within);
  try_for_ = std::max<Duration>(config_.try_address_for, accepted->reconnect_within / 4);
  addresses_.answered();
  addresses_.told(accepted->addresses);
  keep_addresses();
  if (config_.settled) config_.settled(config_.identity);
  note_link(true);
  if (in_session_) return;
  in_session_ = true;
  if (config_.sample_every == Duration::zero()) return;
  (void)node_sampler_.sample(clock_.now());  // the first sample: rates are measured from here
  report_usage_at_ = clock_.now() + std::min(config_.sample_every, kFirstUsageAfter);
}

// The launcher's answers give the offset of the two clocks. A new launcher has another clock.
void Agent::note_time(const AgentReply& reply) {
  if (std::holds_alternative<SessionAccepted>(reply)) acked_ = acked_at_ = {};
  const auto* ack = std::get_if<HeartbeatAck>(&reply);
  if (ack == nullptr || ack->time <= acked_) return;
  acked_ = ack->time;
  acked_at_ = io::wall_clock();
}

}  // namespace lockstep::agent
