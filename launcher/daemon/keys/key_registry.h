#pragma once
// Maps each key to its user, node or attempt. It is consulted at each handshake (ZAP) and again for
// each message: a message's key says who sent it; no field of the message does.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/base/ids.h"
#include "launcher/daemon/keys/attempt_keys.h"
#include "launcher/daemon/keys/authorized_users.h"

namespace lockstep::launcher {

inline constexpr const char* kControlDomain = "control";
inline constexpr const char* kBulkDomain = "bulk";
inline constexpr const char* kJoinDomain = "join";

class KeyRegistry {
 public:
  explicit KeyRegistry(std::string authorized_users) : file_(std::move(authorized_users)) {}

  // Accepts the keys of attempts from now on; `attempts` must outlive this.
  void add(AttemptKeys& attempts) { attempts_ = &attempts; }

  // Whether a key may connect. Keys of users, attempts and nodes may connect everywhere; any key to
  // the join socket, whose only message carries a secret; a removed node's key to the control
  // socket, to learn that it was removed. A key just added to the file may connect before the core
  // knows it; the core learns of it before it gets the key's first message.
  bool allows(const std::string& domain, const PublicKey& key) {
    if (domain == kJoinDomain || node_of(key) || client_of(key)) return true;
    return is_revoked(key) ? domain == kControlDomain : file_.lists(key);
  }
  AuthorizedUsers& file() { return file_; }
  // The user of a key. A key that came from the file is rejected as soon as its line is gone, even
  // before the core learns of that.
  std::optional<std::string> user_of(const PublicKey& key) {
    const auto it = users_.find(key);
    if (it == users_.end() || (it->second.from_file && !file_.lists(key))) return std::nullopt;
    return it->second.name;
  }
  // The caller of a request: an attempt or a user. A user who adds the key of an attempt as their
  // own gets none of its requests.
  std::optional<Caller> client_of(const PublicKey& key) {
    if (attempts_ != nullptr)
      if (auto attempt = attempts_->holder_of(key)) return *std::move(attempt);
    if (auto user = user_of(key)) return UserCaller{*std::move(user)};
    return std::nullopt;
  }
  void allow_user(const PublicKey& key, const std::string& user, bool from_file) {
    users_[key] = {user, from_file};
  }
  void revoke_user(const PublicKey& key) { users_.erase(key); }
  // Removes all keys of a removed user.
  void remove_user(const std::string& user) {
    std::erase_if(users_, [&](const auto& entry) { return entry.second.name == user; });
  }
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
  AttemptKeys* attempts_ = nullptr;
  struct KnownUser {
    std::string name;
    bool from_file = false;
  };
  std::map<PublicKey, KnownUser> users_;
  std::map<PublicKey, NodeId> nodes_;
  std::set<PublicKey> revoked_;
};

}  // namespace lockstep::launcher
