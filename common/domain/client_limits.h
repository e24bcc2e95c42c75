#pragma once
// Limits on what users' programs may send; a refusal names the limit that was reached. Clients
// check the first two before they send; the launcher checks all.

#include <cstddef>

namespace lockstep {

inline constexpr std::size_t kMaxUserMessageBytes = 2u << 20;
// Names and values of one job's environment_variables together.
inline constexpr std::size_t kMaxVariablesBytes = 1u << 20;
// Of one key, by default: the average rate over time; a burst may be as large as kUserMessagesBurst
// says.
inline constexpr int kUserMessagesPerSecond = 200;
inline constexpr int kUserBurstSeconds = 5;

}  // namespace lockstep
