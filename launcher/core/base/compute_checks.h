#pragma once
// Requests about targets that wait until the provider has said whether it could make such machines.
// Not part of State: a request that waits when the launcher ends is lost, and its client asks
// again.

#include <cstdint>
#include <map>
#include <vector>

#include "launcher/core/base/action.h"
#include "launcher/core/base/input.h"

namespace lockstep::launcher {

class ComputeChecks {
 public:
  static constexpr std::size_t kMost = 8;  // providers that are asked at the same time

  struct Waiting {
    ComputeInput::Ask ask;
    Caller caller;
    std::vector<ReplyTo> replies;  // a client repeats its request until it is answered
  };

  // Clients repeat what is not answered soon; true: this is such a repetition, and it waits too.
  bool joins(const ComputeInput& input);
  bool is_full() const { return waiting_.size() >= kMost; }
  // The number of the new check.
  std::uint64_t add(const ComputeInput& input);
  // Empty `replies`: there is no such check.
  Waiting take(std::uint64_t check);

 private:
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
};

// True if a provider can tell from the settings alone whether it could make machines. Hosts are
// looked at when they are attached, each by itself.
bool can_be_checked(const ComputeSpec& spec);
// True if a provider would see a difference.
bool differs_for_provider(const ComputeSpec& a, const ComputeSpec& b);

}  // namespace lockstep::launcher
