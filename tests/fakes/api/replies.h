#pragma once
// An adapter that keeps what it is to send.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/api/ports/replies.h"

namespace lockstep::test {

class FakeReplies final : public launcher::Replies {
 public:
  struct Sent {
    std::string connection;
    std::uint64_t reply_to = 0;
    ClientReply reply;
  };
  void send(const std::string& connection, std::uint64_t reply_to, ClientReply reply) override {
    sent.push_back({connection, reply_to, std::move(reply)});
  }
  bool is_gone(const std::string& connection) const override { return gone.count(connection) != 0; }

  std::vector<Sent> sent;
  std::set<std::string> gone;
};

}  // namespace lockstep::test
