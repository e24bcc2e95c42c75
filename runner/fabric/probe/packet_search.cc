#include "runner/fabric/probe/packet_search.h"

#include <algorithm>

namespace lockstep::runner {

PacketSearch::PacketSearch(int full)
    : full_(std::clamp(full, kSmallestPacket, kLargestPacket)),
      passes_(kSmallestPacket - 1),
      fails_(full_ + 1) {
  plan_round();
}

// Tries sizes between the largest that passed and the smallest that failed.
void PacketSearch::plan_round() {
  const int untried = fails_ - passes_ - 1;
  const int count = std::min(untried, kSizesPerRound);
  round_.clear();
  for (int i = 1; i <= count; ++i) round_.push_back(passes_ + untried * i / count);
  if (!heard_any() && !round_.empty()) round_.front() = kSmallestPacket;
}

void PacketSearch::heard(int size) {
  if (size < fails_) passes_ = std::max(passes_, size);
}

void PacketSearch::end_round() {
  if (is_over()) return;
  const auto failed = std::upper_bound(round_.begin(), round_.end(), passes_);
  if (failed != round_.end()) fails_ = *failed;
  plan_round();
  if (!heard_any()) round_.clear();  // even the smallest size is dropped
}

}  // namespace lockstep::runner
