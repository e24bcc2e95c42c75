#pragma once
// Limits on what users' programs may send; a refusal names the limit that was reached. Clients
// check the first two before they send; the launcher checks all.

#include <cstddef>

namespace lockstep {

inline constexpr std::size_t kMaxUserMessageBytes = 2u << 20;
// Names and values of one job's environment_variables together.
inline constexpr std::size_t kMaxVariablesBytes = 1u << 20;
// The default rate limit of one key: so many messages per second on average, and at once as many as
// in kUserBurstSeconds.
inline constexpr int kUserMessagesPerSecond = 200;
inline constexpr int kUserBurstSeconds = 5;

}  // namespace lockstep
