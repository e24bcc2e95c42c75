#include "runner/bootstrap/exchange.h"

#include <utility>

#include "runner/gang/gang_tree.h"

namespace lockstep::runner {

// Begins an exchange. A fence waits for ranks; in this exchange each node takes part as one rank.
GangExchange::GangExchange(const GangContext& gang, std::string kind,
                           std::function<void(GangMessage)> send,
                           std::function<void(const std::map<int, std::string>&)> known)
    : signature_(fence_signature(kind, {}, true)),
      send_(std::move(send)),
      known_(std::move(known)),
      fence_(GangTree(gang.assignment.node_rank, gang.assignment.nodes(), gang.radix), 1) {}

void GangExchange::say(std::string text) {
  std::uint64_t sequence = 0;
  perform(fence_.contribute(signature_, std::move(text), &sequence));
}

void GangExchange::receive(const GangMessage& message) {
  if (const auto* part = std::get_if<FencePart>(&message)) perform(fence_.receive(*part));
  if (const auto* done = std::get_if<FenceDone>(&message)) perform(fence_.receive(*done));
}

void GangExchange::perform(std::vector<FenceTree::Step> steps) {
  for (FenceTree::Step& step : steps) {
    if (auto* climb = std::get_if<FenceTree::Climb>(&step)) send_(std::move(climb->part));
    if (auto* descend = std::get_if<FenceTree::Descend>(&step)) send_(std::move(descend->done));
    if (auto* complete = std::get_if<FenceTree::Complete>(&step)) known_(complete->blobs);
  }
}

}  // namespace lockstep::runner
