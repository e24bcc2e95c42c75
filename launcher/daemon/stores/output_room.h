#pragma once
// Limits the final outputs of ended ranks that facts do not count yet: the core learns of outputs
// only with a part's final report. It counts the bytes that nodes send for each part, and stops a
// part when its owner has no more room. Pure: the room is passed in.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/ids.h"

namespace lockstep::launcher {

class OutputRoom {
 public:
  using PartKey = std::pair<AttemptId, NodeId>;
  struct Room {
    std::optional<std::uint64_t>
        free;  // bytes of the owner's quota that nothing takes; absent: any
    // The bytes that the part has sent so far, which its final outputs replace.
    std::uint64_t replaces = 0;
  };

  // True if the node may send `bytes` more. After a refusal, the node starts from the beginning, so
  // it is allowed again only when there is room for more than it had sent.
  bool take(const PartKey& part, const std::string& owner, std::uint64_t bytes, const Room& room);
  // Forgets the parts whose final reports are here: facts count their outputs.
  void keep_only(const std::function<bool(const PartKey&)>& is_open);

 private:
  struct Sent {
    std::string owner;
    std::uint64_t bytes = 0;  // the bytes sent in this try
    std::uint64_t stuck = 0;  // how many bytes were refused the last time; 0: none
  };
  std::map<PartKey, Sent> sent_;
};

// The bytes that a part may always send, so that a job that is just over the limit ends.
inline constexpr std::uint64_t kLastOutputs = 16u << 20;

}  // namespace lockstep::launcher
