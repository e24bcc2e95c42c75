// The link to the runners of the gang's other nodes: the tree that connects them, and who receives
// their messages.

#include <spdlog/spdlog.h>

#include <utility>
#include <variant>

#include "common/domain/why/all/convert.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

bool is_of_probe(const GangMessage& message) {
  return std::holds_alternative<ProbeOffer>(message) ||
         std::holds_alternative<ProbePlan>(message) ||
         std::holds_alternative<ProbeFindings>(message) ||
         std::holds_alternative<ProbeOutcome>(message);
}

}  // namespace

void Runner::perform(const ConnectGang& action) {
  if (!link_) return;
  link_->connect(orders_.assignment.attempt, orders_.assignment.node_rank, action.gang,
                 action.share);
  check_parent(action);
}

// Called before the core learns of it, since messages of the watch may come at once.
void Runner::gang_connected() {
  parent_check_.reset();
  if (is_watched() && link_->knows() >= kGangWatches)
    make_gang_watch(*link_->table());
  else if (is_watched())
    spdlog::info("an older runner is in the gang: its ranks are not compared");
  feed(GangConnected{link_->table(), link_->knows()});
}

// Handles the silence of a neighbour, unless its runner left because its ranks were done.
void Runner::neighbour_lost(int node_rank) {
  feed(PeerLost{node_rank});
  if (others_over_.count(node_rank) != 0) return;
  lingers_since_ = {};
  write_soon();
  if (gang_watch_) gang_watch_->neighbour_lost(clock_.now(), node_rank);
}

void Runner::perform(const TellGang& action) {
  if (link_) link_->broadcast(action.message);
}

void Runner::gang_received(int from, GangMessage message) {
  if (take_watched(from, message)) return;
  if (auto* abort = std::get_if<GangAbort>(&message)) {
    end_watch();
    spdlog::info("node rank {} ended the gang: {}", abort->node_rank, log_text(abort->why));
    feed(AbortFromPeer{std::move(*abort)});
  } else if (const auto* done = std::get_if<GangNodeDone>(&message)) {
    spdlog::debug("the ranks of node rank {} are done", from);
    note_other_over(done->node_rank);
    feed(PeerDone{*done});
  } else if (is_of_probe(message)) {
    if (stage_ == Stage::supervising && link_->table()) probe().receive(from, std::move(message));
  } else if (launching_ == Launching::ready) {
    bootstrap_->receive(message);
  } else {
    early_.push_back(std::move(message));
  }
}

// Contributions go up the tree, unions go down; direct modex goes to one node.
void Runner::send_to_gang(const GangMessage& message) {
  if (!link_) return;
  if (std::holds_alternative<FencePart>(message))
    link_->send_up(message);
  else if (std::holds_alternative<FenceDone>(message))
    link_->send_down(message);
  else if (const auto* request = std::get_if<ModexRequest>(&message))
    link_->send_to(request->to_node, message);
  else if (const auto* reply = std::get_if<ModexReply>(&message))
    link_->send_to(reply->to_node, message);
  else
    link_->broadcast(message);
}

// Ranks of another node may still need our last FenceDone if the network loses data or is
// interrupted; without it they stay in MPI_Finalize for ever. Until they have it this part has not
// ended, so that it can still be given up or canceled.
bool Runner::others_need_us() { return link_ && clock_.now() < settle_until_ && !link_->settled(); }

}  // namespace lockstep::runner
