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
#include "runner/core/gang_rows.h"
#include "runner/gang/gang_tree.h"
#include "runner/gang/link_stream.h"
#include "runner/gang/neighbour.h"

namespace lockstep::runner {
namespace {

constexpr char kZapDomain[] = "gang";
constexpr Duration kBusyTick = milliseconds(2);      // while dialling, or while a queue is full
constexpr Duration kAwayFor = milliseconds(2'500);   // a tick this late: we ourselves were stopped
constexpr Duration kFirstRedial = milliseconds(30);  // doubles up to kLastRedial
constexpr Duration kLastRedial = milliseconds(1'000);
constexpr Duration kByeAgainAfter = milliseconds(50);

struct Neighbour {
  int node = 0;
  LinkStream stream;
  std::string peer;  // routing id of a child's live connection; "" until its first frame
  Instant heard;     // 0 = never
  Standing standing = Standing::expected;
};

class TreeLink final : public GangLink {
 public:
  TreeLink(io::EventLoop& loop, Events events)
      : loop_(loop),
        events_(std::move(events)),
        keys_(io::generate_key_pair()),
        transport_(loop, [this](const std::string&, const PublicKey& key) {
          return child_of_key_.count(key) > 0;
        }) {}
  ~TreeLink() override;
  Status open();

  std::uint16_t port() const override { return port_; }
  const PublicKey& public_key() const override { return keys_.public_key; }
  void connect(const AttemptId& attempt, int node_rank, SharedGang gang,
               const std::optional<GangShare>& share) override;
  const SharedGang& table() const override { return table_->whole(); }
  void send_up(const GangMessage& message) override;
  void send_down(const GangMessage& message) override;
  void send_to(int node_rank, const GangMessage& message) override;
  void broadcast(const GangMessage& message) override;
  bool settled() override;
  std::uint32_t knows() const override { return knows_; }
  int radix() const override { return tree_ ? tree_->radix() : kGangTreeRadix; }
  int parent() const override { return tree_ ? tree_->parent() : -1; }
  std::vector<int> children() const override;

 private:
  void dial();
  void redial_if_due(Instant now);
  void on_server();
  void on_client();
  void on_timer();
  void handle(Neighbour& from, const std::string& bytes);
  void deliver(Neighbour& via, LinkFrame frame);
  void consume(Neighbour& via, int from, bool is_of_neighbour, GangMessage message);
  void admit(const std::vector<PublicKey>& keys);
  void hear_hello(Neighbour& child, const GangHello& hello);
  void take_rows(GangRows rows);
  void refuse_table(const Why& why);
  void pass_table_on();
  void start_when_all_are_ready();
  void start(std::uint32_t knows);
  void relay(int except, int from, int to, const std::string& payload);
  bool transmit(Neighbour& to, const LinkFrame& frame);
  void pump(Neighbour& to);
  void check_silence(Instant now);
  void arm(Duration period);
  bool busy() const;
  template <typename F>
  void for_neighbours(F f);

  io::EventLoop& loop_;
  Events events_;
  io::KeyPair keys_;
  std::map<PublicKey, int> child_of_key_;  // whose connections are accepted
  io::Transport transport_;
  std::optional<io::ServerSocket> server_;
  std::optional<io::ClientSocket> client_;
  std::uint16_t port_ = 0;

  AttemptId attempt_;
  std::optional<TableRelay> table_;
  std::vector<std::string> rows_;  // the table for children, encoded; until the start
  std::optional<GangTree> tree_;
  std::optional<Neighbour> up_;
  std::map<int, Neighbour> down_;
  std::set<int> unready_;    // children whose subtrees are not connected yet
  bool said_ready_ = false;  // to the parent, once: all below is connected, and the table is here
  // Of GangStart, which comes once.
  enum class Start { awaited, given, refused } start_ = Start::awaited;
  std::uint32_t knows_ = kGangKnows;  // the least of our subtree; once started, of the gang

  io::SystemClock clock_;
  io::Fd timer_;
  Duration period_{0};
  Instant connecting_since_, last_tick_, last_beat_, next_dial_;
  Duration redial_delay_ = kFirstRedial;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

template <typename F>
void TreeLink::for_neighbours(F f) {
  if (up_) f(*up_);
  for (auto& [node, child] : down_) f(child);
}

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

// What was said last (GangDrained) must arrive although we leave, and so must the bye: a connection
// that is closed while something unread comes in is reset, and what was sent last may be lost with
// it. So wait a moment for the answers, but for neighbours that are silent or leave as well. The
// loop has ended by then: nobody waits for it, and we wait no longer than kFlushTimeout.
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
  // Not from within this call: the caller may not have finished its own turn.
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

// A parent that does not know its children yet refuses the handshake, and libzmq does not try again
// after a refusal: so each dial is a new socket.
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
  if (!client) return;  // out of descriptors, perhaps: the next dial tries again
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
    if (from.peer != incoming->peer) {  // its first connection, or a new one
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

void TreeLink::handle(Neighbour& from, const std::string& bytes) {
  auto frame = decode_frame(bytes);
  if (!frame || !is_listened_to(from.standing)) return;
  from.heard = clock_.now();
  from.standing = after_frame(from.standing);
  if (frame->kind == LinkFrame::Kind::heard) from.standing = after_answer(from.standing);
  if (frame->kind == LinkFrame::Kind::bye) {
    from.standing = after_bye(from.standing);
    transmit(from, from.stream.control(LinkFrame::Kind::heard, tree_->node_rank()));
  }
  if (from.stream.accept(*frame)) deliver(from, std::move(*frame));
  if (from.stream.take_gap()) {
    transmit(from, from.stream.control(LinkFrame::Kind::resend, tree_->node_rank()));
  }
}

void TreeLink::deliver(Neighbour& via, LinkFrame frame) {
  const int self = tree_->node_rank();
  if (frame.from < 0 || frame.from >= tree_->nodes()) return;
  if (frame.to >= 0 && frame.to != self) {
    if (frame.to < tree_->nodes()) relay(via.node, frame.from, frame.to, frame.payload);
    return;
  }
  if (frame.to == kToEveryone) relay(via.node, frame.from, kToEveryone, frame.payload);
  auto message = wire::decode_gang(frame.payload);
  // Without this message a fence could wait for ever: a neighbour whose words we cannot read is
  // lost.
  if (!message) {
    via.standing = after_refusal(via.standing);
    return;
  }
  consume(via, frame.from, frame.to == kToNeighbour, std::move(*message));
}

// Passes on what is not for us alone: to the next hop of one node, or to all neighbours but
// `except`.
void TreeLink::relay(int except, int from, int to, const std::string& payload) {
  const int hop = to >= 0 ? tree_->next_hop(to) : -1;
  for_neighbours([&](Neighbour& n) {
    if (n.node == except || (to >= 0 && n.node != hop)) return;
    n.stream.push(from, to, payload);
    pump(n);
  });
}

void TreeLink::consume(Neighbour& via, int from, bool is_of_neighbour, GangMessage message) {
  const bool is_of_child = is_of_neighbour && down_.count(via.node) != 0;
  const bool is_of_parent = is_of_neighbour && !is_of_child;
  if (const auto* hello = std::get_if<GangHello>(&message)) {
    if (is_of_child) hear_hello(via, *hello);
  } else if (const auto* ready = std::get_if<GangReady>(&message)) {
    if (!is_of_child) return;
    unready_.erase(via.node);
    knows_ = std::min(knows_, ready->knows);
    start_when_all_are_ready();
  } else if (const auto* all = std::get_if<GangStart>(&message)) {
    if (is_of_parent) start(all->knows);
  } else if (auto* rows = std::get_if<GangRows>(&message)) {
    if (is_of_parent) take_rows(std::move(*rows));
  } else if (events_.received) {
    events_.received(from, std::move(message));
  }
}

void TreeLink::hear_hello(Neighbour& child, const GangHello& hello) {
  // Keys are per attempt, so another attempt's hello is our own bug or a forged one.
  if (hello.attempt != attempt_ || hello.node_rank != child.node) {
    child.standing = after_refusal(child.standing);
    return;
  }
  if (hello.awaits_rows) table_->ask(child.node);
  pass_table_on();
}

// ---- the table ----------------------------------------------------------------------------------

void TreeLink::take_rows(GangRows rows) {
  if (const Why wrong = table_->take(std::move(rows))) return refuse_table(wrong);
  pass_table_on();
  start_when_all_are_ready();
}

void TreeLink::refuse_table(const Why& why) {
  if (std::exchange(start_, Start::refused) != Start::awaited) return;
  if (events_.table_refused) events_.table_refused(why);
}

void TreeLink::pass_table_on() {
  for (const int child : table_->due()) {
    if (rows_.empty())
      for (GangRows& rows : cut_into_rows(attempt_, *table_->whole()))
        rows_.push_back(wire::encode(GangMessage(std::move(rows))));
    Neighbour& to = down_.at(child);
    for (const std::string& rows : rows_) to.stream.push(tree_->node_rank(), kToNeighbour, rows);
    pump(to);
  }
}

// ---- the start ----------------------------------------------------------------------------------

// So no rank of the gang starts before each node has the launcher's table.
void TreeLink::start_when_all_are_ready() {
  if (!unready_.empty() || !table_->whole()) return;
  if (tree_->parent() < 0) {
    start(knows_);
  } else if (!std::exchange(said_ready_, true)) {
    send_up(GangReady{tree_->node_rank(), knows_});
  }
}

void TreeLink::start(std::uint32_t knows) {
  if (start_ != Start::awaited) return;
  if (!table_->whole()) return refuse_table(table_->incomplete());
  start_ = Start::given;
  rows_.clear();
  knows_ = std::min(knows_, knows);
  send_down(GangStart{knows_});
  if (events_.connected) events_.connected();
}

void TreeLink::send_up(const GangMessage& message) {
  if (!up_) return;
  up_->stream.push(tree_->node_rank(), kToNeighbour, wire::encode(message));
  pump(*up_);
}

void TreeLink::send_down(const GangMessage& message) {
  if (down_.empty()) return;
  const std::string payload = wire::encode(message);
  for (auto& [node, child] : down_) {
    child.stream.push(tree_->node_rank(), kToNeighbour, payload);
    pump(child);
  }
}

void TreeLink::send_to(int node_rank, const GangMessage& message) {
  CHECK(tree_, "a gang link sends after connect");
  if (node_rank == tree_->node_rank()) {
    loop_.post([this, alive = alive_, message] {
      if (*alive && events_.received) events_.received(tree_->node_rank(), message);
    });
    return;
  }
  relay(-1, tree_->node_rank(), node_rank, wire::encode(message));
}

void TreeLink::broadcast(const GangMessage& message) {
  if (!tree_ || tree_->nodes() == 1) return;
  relay(-1, tree_->node_rank(), kToEveryone, wire::encode(message));
}

std::vector<int> TreeLink::children() const {
  return tree_ ? tree_->children() : std::vector<int>{};
}

bool TreeLink::transmit(Neighbour& to, const LinkFrame& frame) {
  const std::string bytes = encode_frame(frame);
  const bool is_parent = up_ && &to == &*up_;
  Status sent =
      is_parent ? (client_ ? client_->send(bytes)
                           : Status(make_error(ErrorCode::unavailable, "not dialled")))
                : (to.peer.empty() ? Status(make_error(ErrorCode::unavailable, "not connected yet"))
                                   : server_->send(to.peer, bytes));
  return sent.has_value();
}

// Puts on the wire what the socket takes now; the rest waits for the next tick.
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
    if (we_were_away && n.heard.ns != 0) n.heard = now;  // count only time in which we listened
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

}  // namespace

Result<std::unique_ptr<GangLink>> GangLink::create(io::EventLoop& loop, Events events) {
  auto link = std::make_unique<TreeLink>(loop, std::move(events));
  TRY(link->open());
  return std::unique_ptr<GangLink>(std::move(link));
}

}  // namespace lockstep::runner
