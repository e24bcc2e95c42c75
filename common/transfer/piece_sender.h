#pragma once
// Sends pieces of blobs: packs them into messages of a good size, and counts them. It does not
// decide which pieces are sent.

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/transfer/request_window.h"

namespace lockstep::transfer {

class PieceSender {
 public:
  // `on_durable` is called for each message with the raw bytes that became durable on the other
  // side.
  PieceSender(RequestWindow& window, std::function<void(std::uint64_t raw)> on_durable)
      : window_(window), on_durable_(std::move(on_durable)) {}

  // Both may wait until the request window has room.
  Status add(BlobPiece piece, std::uint64_t raw_size);
  Status add_blob(const Digest& digest, std::string_view whole);
  Status flush();  // sends the rest, without waiting for the reply

  std::uint64_t bytes_sent() const { return bytes_sent_; }  // bytes before compression
  std::uint64_t wire_bytes() const { return wire_bytes_; }  // after compression

 private:
  RequestWindow& window_;
  std::function<void(std::uint64_t)> on_durable_;
  PutBlobs message_;
  std::uint64_t message_bytes_ = 0, message_raw_ = 0;
  std::uint64_t bytes_sent_ = 0, wire_bytes_ = 0;
};

}  // namespace lockstep::transfer
