#pragma once
// A server on this machine that accepts connections and never answers, as an index that a tool
// waits for. An address of another network would not do: some networks refuse it at once.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "common/base/check.h"
#include "common/io/file_system.h"

namespace lockstep::test {

class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    CHECK(::bind(listener_.get(), generic, size) == 0 && ::listen(listener_.get(), 64) == 0 &&
              ::getsockname(listener_.get(), generic, &size) == 0,
          "a port of this machine");
    port_ = ntohs(address.sin_port);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/simple"; }

 private:
  io::Fd listener_;
  int port_ = 0;
};

}  // namespace lockstep::test
