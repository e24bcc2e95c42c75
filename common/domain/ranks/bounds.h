#pragma once
// How many nodes and ranks one job may have, and the rules of their numbers in tables.

#include "common/base/table.h"

namespace lockstep {

inline constexpr int kMaxNodesPerJob = 10'000;
inline constexpr int kMaxRanksPerNode = 1'024;
inline constexpr int kMaxRankNumber = kMaxNodesPerJob * kMaxRanksPerNode;

inline constexpr Rule kRankRule{.low = 0, .high = kMaxRankNumber};
inline constexpr Rule kNodeRankRule{.low = 0, .high = kMaxNodesPerJob - 1};

inline constexpr std::int64_t kMostOfRank = std::int64_t{1} << 53;  // the largest number in a table
                                                                    // about a rank
inline constexpr Rule kMeasureRule{.low = -kMostOfRank, .high = kMostOfRank};

}  // namespace lockstep
