#include "runner/gang/gang_link.h"

#include <fmt/format.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/wire/runners/runner_codec.h"
#include "runner/gang/gang_link_impl.h"
#include "runner/gang/gang_tree.h"
#include "runner/gang/link_stream.h"
#include "runner/gang/neighbour.h"

namespace lockstep::runner {

namespace {

constexpr char kZapDomain[] = "gang";
// the tick while dialling, or while a queue is full
constexpr Duration kBusyTick = milliseconds(2);
// The delay of a tick that shows that this process itself was stopped.
constexpr Duration kAwayFor = milliseconds(2'500);
constexpr Duration kLastRedial = milliseconds(1'000);
constexpr Duration kByeAgainAfter = milliseconds(50);

}  // namespace

Status TreeLink::open() {
  TRY_ASSIGN(io::ServerSocket server,
             io::ServerSocket::bind(transport_, "tcp://0.0.0.0:*", kZapDomain, keys_,
                                    {static_cast<std::int64_t>(kMaxGangMessageBytes), 10'000}));
  server_.emplace(std::move(server));
  const std::string endpoint = server_->endpoint();
  const std::size_t colon = endpoint.rfind(':');
  const auto [end, error] =
      std::from_chars(endpoint.data() + colon + 1, endpoint.data() + endpoint.size(), port_);
  CHECK(error == std::errc() && port_ != 0, "a bound endpoint ends with its port");
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer_) return errno_error(errno, "timerfd for the gang's heartbeats");
  loop_.watch_socket(server_->handle(), [this] { on_server(); });
  loop_.watch(timer_.get(), io::EventLoop::Interest::read, [this] { on_timer(); });
  return {};
}

bool TreeLink::settled() {
  const Instant now = clock_.now();
  const auto awaited = [now](const Neighbour& n) {
    return n.heard.ns != 0 && needs_us(n.standing) && !n.stream.flushed() &&
           now - n.heard < kSettleSilence;
  };
  return !(up_ && awaited(*up_)) &&
         std::none_of(down_.begin(), down_.end(), [&](const auto& c) { return awaited(c.second); });
}

// The last message (GangNodeDone) and the bye must arrive although this runner leaves. A connection
// that is closed while unread data comes in is reset, and the last messages may be lost with it. So
// the destructor waits for the answers for a moment, and for neighbours that are silent or leave as
// well. The loop has ended by then, so nobody waits for it, and the wait is at most kFlushTimeout.
TreeLink::~TreeLink() {
  *alive_ = false;
  events_ = Events{};
  const auto awaits_us = [](const Neighbour& n) {
    if (n.standing == Standing::informed) return !n.stream.flushed();
    return n.standing == Standing::present;
  };
  const Instant end = clock_.now() + kFlushTimeout;
  Instant bye_at = clock_.now();
  bool owed = tree_.has_value();
  while (owed && clock_.now() < end) {
    if (clock_.now() >= bye_at) {
      bye_at = clock_.now() + kByeAgainAfter;
      for_neighbours([this](Neighbour& n) {
        if (n.standing != Standing::informed)
          transmit(n, n.stream.control(LinkFrame::Kind::bye, tree_->node_rank()));
      });
    }
    on_server();
    if (client_) on_client();
    owed = false;
    for_neighbours([&](Neighbour& n) { owed |= awaits_us(n); });
    const timespec pause{0, owed ? 500'000 : 0};
    nanosleep(&pause, nullptr);
  }
  if (client_) loop_.unwatch_socket(client_->handle());
  if (server_) loop_.unwatch_socket(server_->handle());
  if (timer_) loop_.unwatch(timer_.get(), io::EventLoop::Interest::read);
}

void TreeLink::connect(const AttemptId& attempt, int node_rank, SharedGang gang,
                       const std::optional<GangShare>& share) {
  CHECK(!tree_, "a gang link connects once");
  attempt_ = attempt;
  table_.emplace(attempt, node_rank, std::move(gang), share);
  tree_.emplace(node_rank, table_->share().nodes, table_->share().radix);
  admit(table_->share().children);
  connecting_since_ = last_tick_ = last_beat_ = clock_.now();
  if (tree_->parent() >= 0) {
    up_.emplace();
    up_->node = tree_->parent();
    up_->stream.push(node_rank, kToNeighbour,
                     wire::encode(GangMessage(GangHello{attempt, node_rank, !table_->whole()})));
    dial();
  }
  arm(kBusyTick);
  // The call is posted, because the caller may not have finished its own turn.
  loop_.post([this, alive = alive_] {
    if (*alive) start_when_all_are_ready();
  });
}

void TreeLink::admit(const std::vector<PublicKey>& keys) {
  const std::vector<int> children = tree_->children();
  CHECK(children.size() == keys.size(), "there is one key for each child");
  for (std::size_t i = 0; i < children.size(); ++i) {
    child_of_key_[keys[i]] = children[i];
    down_[children[i]].node = children[i];
    unready_.insert(children[i]);
  }
}

// Dials the parent. A parent that does not know its children yet refuses the handshake, and libzmq
// does not retry after a refusal. So each dial makes a new socket.
void TreeLink::dial() {
  if (client_) loop_.unwatch_socket(client_->handle());
  client_.reset();
  const GangMember& parent = *table_->share().parent;
  const bool ipv6 = parent.address.find(':') != std::string::npos;
  const std::string host = ipv6 ? "[" + parent.address + "]" : parent.address;
  const std::string endpoint = fmt::format("tcp://{}:{}", host, parent.runner_port);
  auto client =
      io::ClientSocket::connect(transport_, endpoint, parent.runner_key, keys_,
                                {static_cast<std::int64_t>(kMaxGangMessageBytes), 10'000});
  next_dial_ = clock_.now() + redial_delay_;
  redial_delay_ = std::min(redial_delay_ * 2, Duration(kLastRedial));
  if (!client) return;  // descriptors may have run out; the next dial tries again
  client_.emplace(std::move(*client));
  up_->stream.rewind();
  loop_.watch_socket(client_->handle(), [this] { on_client(); });
  pump(*up_);
}

void TreeLink::redial_if_due(Instant now) {
  if (up_ && up_->heard.ns == 0 && now >= next_dial_) dial();
}

void TreeLink::on_server() {
  while (auto incoming = server_->receive()) {
    const auto child = child_of_key_.find(incoming->key);
    if (child == child_of_key_.end()) continue;
    Neighbour& from = down_.at(child->second);
    if (from.peer != incoming->peer) {  // the first connection of the node, or a new one
      from.peer = incoming->peer;
      from.stream.rewind();
      transmit(from, from.stream.control(LinkFrame::Kind::resend, tree_->node_rank()));
    }
    handle(from, incoming->bytes);
  }
  for (auto& [node, child] : down_) pump(child);
}

void TreeLink::on_client() {
  while (client_) {
    auto bytes = client_->receive();
    if (!bytes) break;
    handle(*up_, *bytes);
  }
  if (up_) pump(*up_);
}

// Sends as much as the socket takes now; the rest waits for the next tick.
void TreeLink::pump(Neighbour& to) {
  while (auto frame = to.stream.next()) {
    if (!transmit(to, *frame)) {
      arm(kBusyTick);
      return;
    }
    to.stream.sent();
  }
  if (to.stream.acknowledgement_due() &&
      transmit(to, to.stream.control(LinkFrame::Kind::beat, tree_->node_rank()))) {
    to.stream.acknowledgement_sent();
  }
}

bool TreeLink::busy() const {
  if (up_ && (up_->heard.ns == 0 || up_->stream.next())) return true;
  return std::any_of(down_.begin(), down_.end(), [](const auto& c) {
    return !c.second.peer.empty() && !is_reported_lost(c.second.standing) && c.second.stream.next();
  });
}

void TreeLink::on_timer() {
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto bytes = ::read(timer_.get(), &expirations, sizeof expirations);
  const Instant now = clock_.now();
  redial_if_due(now);
  for_neighbours([this](Neighbour& n) { pump(n); });
  if (now - last_beat_ >= kGangBeat - kBusyTick) {
    last_beat_ = now;
    for_neighbours([this](Neighbour& n) {
      transmit(n, n.stream.control(LinkFrame::Kind::beat, tree_->node_rank()));
    });
  }
  check_silence(now);
  arm(busy() ? kBusyTick : Duration(kGangBeat));
}

void TreeLink::check_silence(Instant now) {
  const bool we_were_away = now - last_tick_ > kAwayFor;
  last_tick_ = now;
  std::vector<int> lost;
  for_neighbours([&](Neighbour& n) {
    // Only time in which this process ran counts.
    if (we_were_away && n.heard.ns != 0) n.heard = now;
    if (is_reported_lost(n.standing)) return;
    const bool joined = n.heard.ns != 0;
    const Duration silent = now - (joined ? n.heard : connecting_since_);
    const bool within_timeout =
        silent < (joined ? Duration(kNeighbourSilence) : Duration(kJoinTimeout));
    if (within_timeout && n.stream.waiting() < kMaxLinkBacklog) return;
    n.standing = after_silence(n.standing);
    lost.push_back(n.node);
  });
  for (int node : lost) {
    if (events_.neighbour_lost) events_.neighbour_lost(node);
  }
}

void TreeLink::arm(Duration period) {
  if (period == period_ || !timer_) return;
  period_ = period;
  itimerspec spec{};
  spec.it_interval.tv_sec = spec.it_value.tv_sec = period.count() / 1'000'000'000;
  spec.it_interval.tv_nsec = spec.it_value.tv_nsec = period.count() % 1'000'000'000;
  timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

Result<std::unique_ptr<GangLink>> GangLink::create(io::EventLoop& loop, Events events) {
  auto link = std::make_unique<TreeLink>(loop, std::move(events));
  TRY(link->open());
  return std::unique_ptr<GangLink>(std::move(link));
}

}  // namespace lockstep::runner
