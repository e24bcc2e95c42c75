#pragma once
// Sends messages over the bulk socket, for the server of that socket and for BlobService, whose
// answers come later. It numbers them. A message that a full queue has no room for is not kept.

#include <string>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/net/transport.h"
#include "launcher/daemon/blobs/blob_server.h"

namespace lockstep::launcher {

class BulkSender {
 public:
  explicit BulkSender(io::ServerSocket& socket) : socket_(socket) {}

  BlobService::Sent send(const std::string& peer, std::uint64_t reply_to, const BulkMessage& body);
  // Whether the connection is known to be closed.
  bool is_gone(const std::string& peer) const { return socket_.is_gone(peer); }

 private:
  io::ServerSocket& socket_;
  std::uint64_t sequence_ = 0;
};

}  // namespace lockstep::launcher
