#pragma once
// The owner of each key. Consulted at each handshake (ZAP) and again for each message: the sender's
// identity is its key and never a field.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/ids.h"
#include "launcher/daemon/authorized_users.h"

namespace lockstep::launcher {

inline constexpr const char* kControlDomain = "control";
inline constexpr const char* kBulkDomain = "bulk";
inline constexpr const char* kJoinDomain = "join";

class KeyRegistry {
 public:
  explicit KeyRegistry(std::string authorized_users) : file_(std::move(authorized_users)) {}

  // Users and nodes; on the join socket, whose one message holds a secret, anybody; on the control
  // socket also a node that was removed, to be told so. A key that is new in the file is let in
  // before the core has heard of it, which it does before it hears the key's first message.
  bool lets_in(const std::string& domain, const PublicKey& key) {
    if (domain == kJoinDomain || node_of(key) || user_of(key)) return true;
    return is_revoked(key) ? domain == kControlDomain : file_.lists(key);
  }
  AuthorizedUsers& file() { return file_; }
  // A key of the file is out as soon as its line is, before the core has heard of that.
  std::optional<std::string> user_of(const PublicKey& key) {
    const auto it = users_.find(key);
    if (it == users_.end() || (it->second.from_file && !file_.lists(key))) return std::nullopt;
    return it->second.name;
  }
  void allow_user(const PublicKey& key, const std::string& user, bool from_file) {
    users_[key] = {user, from_file};
  }
  void revoke_user(const PublicKey& key) { users_.erase(key); }
  std::optional<NodeId> node_of(const PublicKey& key) const {
    const auto it = nodes_.find(key);
    if (it == nodes_.end()) return std::nullopt;
    return it->second;
  }
  void allow_node(const PublicKey& key, NodeId node) { nodes_[key] = node; }
  void revoke_node(const PublicKey& key) {
    nodes_.erase(key);
    revoked_.insert(key);
  }
  bool is_revoked(const PublicKey& key) const { return revoked_.count(key) != 0; }

 private:
  AuthorizedUsers file_;
  struct KnownUser {
    std::string name;
    bool from_file = false;
  };
  std::map<PublicKey, KnownUser> users_;
  std::map<PublicKey, NodeId> nodes_;
  std::set<PublicKey> revoked_;
};

}  // namespace lockstep::launcher
