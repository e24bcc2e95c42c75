#pragma once
// Progress of this node's fetches, to answer peers that ask for it. Usable from any thread.

#include <map>
#include <mutex>
#include <optional>

#include "common/base/digest.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::transfer {

class FetchProgress {
 public:
  void begin(const Digest& root, const std::vector<bool>& here) {
    UnitsReply state;
    state.fetching = true;
    state.have.assign((here.size() + 7) / 8, '\0');
    for (std::size_t unit = 0; unit < here.size(); ++unit)
      if (here[unit]) set(state, unit);
    std::lock_guard guard(mutex_);
    fetches_[root] = std::move(state);
  }
  void has(const Digest& root, std::size_t unit) {
    std::lock_guard guard(mutex_);
    if (const auto found = fetches_.find(root); found != fetches_.end()) set(found->second, unit);
  }
  void got(const Digest& root, std::uint64_t bytes) {
    std::lock_guard guard(mutex_);
    if (const auto found = fetches_.find(root); found != fetches_.end())
      found->second.done_bytes += bytes;
  }
  void end(const Digest& root) {
    std::lock_guard guard(mutex_);
    fetches_.erase(root);
  }
  std::optional<UnitsReply> find(const Digest& root) const {
    std::lock_guard guard(mutex_);
    const auto found = fetches_.find(root);
    if (found == fetches_.end()) return std::nullopt;
    return found->second;
  }

 private:
  static void set(UnitsReply& state, std::size_t unit) {
    state.have[unit / 8] = static_cast<char>(state.have[unit / 8] | 1 << unit % 8);
  }
  mutable std::mutex mutex_;
  std::map<Digest, UnitsReply> fetches_;
};

}  // namespace lockstep::transfer
