#pragma once
// The connection over which each session of a node can be reached: the one that its last message
// came from. Two agents with the same key (a cloned image) have two sessions and are kept apart.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"

namespace lockstep::launcher {

class NodeLinks {
 public:
  void heard(const PublicKey& key, SessionId session, const std::string& peer,
             const std::string& address) {
    auto& links = links_[key];
    std::erase_if(links, [session](const Link& link) { return link.session == session; });
    if (links.size() >= kMaxSessionsPerKey) links.erase(links.begin());
    links.push_back({session, peer, address});
  }
  std::optional<std::string> peer_of(const PublicKey& key, SessionId session) const {
    const auto it = links_.find(key);
    if (it == links_.end()) return std::nullopt;
    for (const auto& link : it->second)
      if (link.session == session) return link.peer;
    return std::nullopt;
  }
  // The address that the key's newest message came from; "" if unknown.
  std::string address_of(const PublicKey& key) const {
    const auto it = links_.find(key);
    return it == links_.end() || it->second.empty() ? "" : it->second.back().address;
  }
  void accepted(NodeId node, const PublicKey& key, SessionId session) {
    current_[node] = {key, session};
  }
  struct Current {
    PublicKey key;
    SessionId session;
  };
  const std::map<NodeId, Current>& all() const { return current_; }
  std::optional<Current> current(NodeId node) const {
    const auto it = current_.find(node);
    if (it == current_.end()) return std::nullopt;
    return it->second;
  }

 private:
  static constexpr std::size_t kMaxSessionsPerKey = 4;
  struct Link {
    SessionId session;
    std::string peer, address;
  };
  std::map<PublicKey, std::vector<Link>> links_;
  std::map<NodeId, Current> current_;
};

}  // namespace lockstep::launcher
