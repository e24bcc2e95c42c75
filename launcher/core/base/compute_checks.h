#pragma once
// Requests about targets that wait for a provider's answer whether it could make such machines. Not
// part of State: if the launcher ends, the waiting requests are lost and their clients ask again.

#include <cstdint>
#include <map>
#include <vector>

#include "launcher/core/base/action.h"
#include "launcher/core/base/input.h"

namespace lockstep::launcher {

class ComputeChecks {
 public:
  static constexpr std::size_t kMost = 8;  // providers asked at the same time

  struct Waiting {
    ComputeInput::Ask ask;
    Caller caller;
    // The askers of all copies of the request: a client repeats it until it is answered.
    std::vector<ReplyTo> replies;
  };

  // Adds a repeated request to the waiting one. False: no such request waits.
  bool joins(const ComputeInput& input);
  bool is_full() const { return waiting_.size() >= kMost; }
  // Adds a check and returns its number.
  std::uint64_t add(const ComputeInput& input);
  // Removes the check and returns it. Empty `replies`: there is no check with this number.
  Waiting take(std::uint64_t check);

 private:
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
};

// True if the provider can tell from the settings alone whether it could make machines. An ssh
// provider cannot: its hosts are checked one by one when they are attached.
bool can_be_checked(const ComputeSpec& spec);
// True if the two specs differ in something that the provider reads.
bool differs_for_provider(const ComputeSpec& a, const ComputeSpec& b);

}  // namespace lockstep::launcher
