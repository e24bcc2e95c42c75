#pragma once
// A gang of four ranks on four nodes, for sentences.

#include "launcher/words/found/say_found.h"

namespace lockstep::words {

inline const About kTrain{"train", [](int node_rank) { return "n" + std::to_string(node_rank); }};

inline FoundRank rank_that(int rank, std::string doing, std::string at = "", std::string call = "",
                           std::string on = "") {
  FoundRank found;
  found.rank = found.node_rank = rank;
  found.doing = std::move(doing);
  found.at = std::move(at);
  found.call = std::move(call);
  found.on = std::move(on);
  return found;
}

inline Found finding(FoundKind kind, std::vector<FoundRank> ranks, Duration lasting,
                     std::vector<int> waiting = {}) {
  Found found;
  found.kind = kind;
  found.ranks = std::move(ranks);
  found.lasting = lasting;
  found.waiting = std::move(waiting);
  return found;
}

}  // namespace lockstep::words
