#include "runner/gang/gang_link.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/wire/runners/runner_codec.h"
#include "runner/core/gang_rows.h"
#include "runner/gang/gang_link_impl.h"
#include "runner/gang/link_stream.h"
#include "runner/gang/neighbour.h"

namespace lockstep::runner {

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
  // Without this message a fence could wait for ever, so a neighbour whose message cannot be
  // decoded counts as lost.
  if (!message) {
    via.standing = after_refusal(via.standing);
    return;
  }
  consume(via, frame.from, frame.to == kToNeighbour, std::move(*message));
}

// Forwards messages for other nodes: to the next hop of one node, or to all neighbours but
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
  // Keys differ between attempts, so a hello of another attempt is forged or a bug.
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

// Starts the ranks when each node has the launcher's table.
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

}  // namespace lockstep::runner
