#include "launcher/words/found/about_found.h"

#include <algorithm>

namespace lockstep::words {

About about(const NamedFound& named) {
  About about;
  about.job = named.job;
  about.node_of = [nodes = named.nodes](int node_rank) {
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const RankedNode& one) {
      return one.node_rank == node_rank;
    });
    return node == nodes.end() ? std::string() : node->name;
  };
  about.stacks_of_attempt = static_cast<std::uint32_t>(named.stacks_of_attempt);
  return about;
}

}  // namespace lockstep::words
