#include "launcher/daemon/outbox.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "common/wire/control.h"

namespace lockstep::launcher {

std::string Outbox::encode(Envelope<AgentReply>& envelope) {
  const bool is_desired = std::holds_alternative<Desired>(envelope.body);
  return is_desired ? desired_.encode(std::move(envelope)) : wire::encode(envelope);
}

std::string Outbox::encode(Envelope<ClientReply>& envelope) {
  auto bytes = wire::encode(envelope);
  if (bytes.size() <= kMaxControlMessageBytes) return bytes;
  envelope.body = Refused{
      ErrorCode::resource_exhausted,
      fmt::format("the answer has {} bytes, and {} are possible; ask for fewer jobs (--limit)",
                  bytes.size(), kMaxControlMessageBytes)};
  return wire::encode(envelope);
}

std::string Outbox::encode(Envelope<JoinReply>& envelope) { return wire::encode(envelope); }

void Outbox::flush(const std::function<void(const std::string& peer)>& gone) {
  for (auto& item : std::exchange(items_, {})) {
    const auto bytes =
        std::visit([this](auto& envelope) { return encode(envelope); }, item.envelope);
    if (const auto sent = item.socket->send(item.peer, bytes); !sent) {
      spdlog::debug("a message was dropped: {}", sent.error().message);
      gone(item.peer);
    }
  }
}

}  // namespace lockstep::launcher
