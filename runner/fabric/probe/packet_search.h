#pragma once
// Searches for the largest packet that passes between two nodes, if full packets do not. In each
// round several sizes are tried at once, each as one segment of its own connection (TCP forbids to
// fragment its packets), and the answers narrow the range. No input, output or clock here.

#include <vector>

namespace lockstep::runner {

inline constexpr int kSmallestPacket = 576;  // every network passes it (RFC 791)
inline constexpr int kSizesPerRound = 16;
inline constexpr int kLargestPacket = 65'535;

class PacketSearch {
 public:
  explicit PacketSearch(int full);  // bytes with all heads: the smaller MTU of both ends
  // The sizes of this round, in order; none: the search is over.
  const std::vector<int>& sizes() const { return round_; }
  void heard(int size);  // an answer to one of them
  void end_round();
  bool is_over() const { return round_.empty(); }
  // The largest packet that passes; 0: none does.
  int largest() const { return heard_any() ? passes_ : 0; }
  bool passes_full() const { return passes_ >= full_; }

 private:
  bool heard_any() const { return passes_ >= kSmallestPacket; }
  void plan_round();

  const int full_;
  int passes_, fails_;  // no packet of `fails_` passes
  std::vector<int> round_;
};

}  // namespace lockstep::runner
