#include "launcher/daemon/stores/output_room.h"

#include <algorithm>

namespace lockstep::launcher {

bool OutputRoom::take(const PartKey& part, const std::string& owner, std::uint64_t bytes,
                      const Room& room) {
  Sent& own = sent_[part];
  own.owner = owner;
  if (!room.free) {
    own.bytes += bytes;
    own.stuck = 0;
    return true;
  }
  std::uint64_t others = 0;
  for (const auto& [key, sent] : sent_)
    if (key != part && sent.owner == owner) others += sent.bytes;
  const std::uint64_t free = *room.free - std::min(*room.free, others);
  const std::uint64_t allowed = std::max(free, kLastOutputs) + room.replaces;
  if (own.stuck > 0) {
    if (allowed <= own.stuck + bytes) return false;
    own.bytes = own.stuck = 0;
  }
  if (own.bytes + bytes <= allowed) {
    own.bytes += bytes;
    return true;
  }
  own.stuck = std::max<std::uint64_t>(own.bytes, 1);
  own.bytes = 0;
  return false;
}

void OutputRoom::keep_only(const std::function<bool(const PartKey&)>& is_open) {
  std::erase_if(sent_, [&](const auto& item) { return !is_open(item.first); });
}

}  // namespace lockstep::launcher
