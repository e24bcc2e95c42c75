#include "launcher/daemon/servers/bulk_sender.h"

#include <spdlog/spdlog.h>

#include "common/wire/messages/bulk.h"

namespace lockstep::launcher {

BlobService::Sent BulkSender::send(const std::string& peer, std::uint64_t reply_to,
                                   const BulkMessage& body) {
  const auto sent = socket_.send(
      peer, wire::encode(BulkEnvelope{wire::kBulkVersion, ++sequence_, reply_to, body}));
  if (sent) return BlobService::Sent::yes;
  spdlog::debug("a bulk message was dropped: {}", sent.error().message);
  return sent.error().code == ErrorCode::resource_exhausted ? BlobService::Sent::full
                                                            : BlobService::Sent::gone;
}

}  // namespace lockstep::launcher
