#pragma once
// The replies of a service with several adapters. The name of a connection begins with the letter
// of its adapter, so that two adapters never share a name; the adapter itself sees the rest.

#include <map>
#include <string>

#include "launcher/api/ports/replies.h"

namespace lockstep::launcher {

class ReplyRouter final : public Replies {
 public:
  // The name that Asker::connection and Service::gone take, and the adapter's own name in it.
  static std::string connection_of(char adapter, const std::string& name);
  static std::string name_in_adapter(const std::string& connection);

  // Sends replies to connections of this letter to `replies` from now on; it must outlive the
  // service's last reply. Each letter is given once.
  void add(char adapter, Replies& replies);

  // Sends to a connection. One without an adapter is gone: the reply is dropped.
  void send(const std::string& connection, std::uint64_t reply_to, ClientReply reply) override;
  bool is_gone(const std::string& connection) const override;

 private:
  Replies* adapter_of(const std::string& connection) const;

  std::map<char, Replies*> adapters_;
};

}  // namespace lockstep::launcher
