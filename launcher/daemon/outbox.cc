#include "launcher/daemon/outbox.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "common/wire/control.h"

namespace lockstep::launcher {

void Outbox::put(io::ServerSocket& socket, std::string peer, std::uint64_t reply_to, Message body) {
  Envelope envelope;
  envelope.sequence = ++sequence_;
  envelope.reply_to = reply_to;
  envelope.body = std::move(body);
  items_.push_back({&socket, std::move(peer), std::move(envelope)});
}

void Outbox::flush(const std::function<void(const std::string& peer)>& gone) {
  for (auto& item : std::exchange(items_, {})) {
    auto bytes = std::holds_alternative<Desired>(item.envelope.body)
                     ? desired_.encode(std::move(item.envelope))
                     : wire::encode(item.envelope);
    if (bytes.size() > kMaxControlMessageBytes) {
      item.envelope.body = Refused{
          ErrorCode::resource_exhausted,
          fmt::format("the answer has {} bytes, and {} are possible; ask for fewer jobs (--limit)",
                      bytes.size(), kMaxControlMessageBytes)};
      bytes = wire::encode(item.envelope);
    }
    if (const auto sent = item.socket->send(item.peer, bytes); !sent) {
      spdlog::debug("a message was dropped: {}", sent.error().message);
      gone(item.peer);
    }
  }
}

}  // namespace lockstep::launcher
