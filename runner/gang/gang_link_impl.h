#pragma once
// The link of one node of a gang: to its parent and to its children.

#include "runner/gang/gang_link.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "runner/core/gang_rows.h"
#include "runner/gang/gang_tree.h"
#include "runner/gang/link_stream.h"
#include "runner/gang/neighbour.h"

namespace lockstep::runner {

// the first pause between dials; doubles up to kLastRedial
inline constexpr Duration kFirstRedial = milliseconds(30);

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
  void for_neighbours(F f) {
    if (up_) f(*up_);
    for (auto& [node, child] : down_) f(child);
  }

  io::EventLoop& loop_;
  Events events_;
  io::KeyPair keys_;
  std::map<PublicKey, int> child_of_key_;  // the keys whose connections are accepted
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
  std::set<int> unready_;  // children whose subtrees are not connected yet
  // whether the parent knows that everything below is connected and that the table is here
  bool said_ready_ = false;
  // The state of GangStart, which arrives once.
  enum class Start { awaited, given, refused } start_ = Start::awaited;
  std::uint32_t knows_ = kGangKnows;  // the least of our subtree; once started, of the gang

  io::SystemClock clock_;
  io::Fd timer_;
  Duration period_{0};
  Instant connecting_since_, last_tick_, last_beat_, next_dial_;
  Duration redial_delay_ = kFirstRedial;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace lockstep::runner
