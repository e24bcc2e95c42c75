#include "launcher/daemon/servers/outbox.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/wire/messages/control.h"

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
      fmt::format(
          "the answer has {} bytes, and at most {} are possible; ask for fewer jobs (--limit)",
          bytes.size(), kMaxControlMessageBytes)};
  return wire::encode(envelope);
}

std::string Outbox::encode(Envelope<JoinReply>& envelope) { return wire::encode(envelope); }

// Replies that may have megabytes.
bool Outbox::is_page(const ClientReply& body) {
  return std::holds_alternative<JobsReply>(body) || std::holds_alternative<NodesReply>(body) ||
         std::holds_alternative<EnvironmentsReply>(body) ||
         std::holds_alternative<EventsReply>(body) || std::holds_alternative<UsersReply>(body) ||
         std::holds_alternative<QuotasReply>(body) || std::holds_alternative<ComputesReply>(body) ||
         std::holds_alternative<MetricsReply>(body);
}

void Outbox::hold() {
  const auto waits = [](const std::unique_ptr<Item>& item) {
    const auto* reply = std::get_if<Envelope<ClientReply>>(&item->envelope);
    return reply == nullptr || !std::holds_alternative<StatusReply>(reply->body);
  };
  const auto at_once = std::stable_partition(items_.begin(), items_.end(), waits);
  std::move(items_.begin(), at_once, std::back_inserter(held_));
  items_.erase(items_.begin(), at_once);
  pages_ = 0;  // no further ones are made while it waits
}

void Outbox::release() {
  std::move(items_.begin(), items_.end(), std::back_inserter(held_));
  items_ = std::exchange(held_, {});
}

void Outbox::each_held_reply(
    const std::function<void(const std::string& peer, std::uint64_t reply_to)>& visit) const {
  for (const auto& item : held_)
    if (const auto* reply = std::get_if<Envelope<ClientReply>>(&item->envelope))
      if (reply->reply_to != 0) visit(item->peer, reply->reply_to);
}

void Outbox::flush(const std::function<void(const std::string& peer)>& gone) {
  pages_ = 0;
  const Items items = std::exchange(items_, {});
  // Messages for one peer are sent together, which wakes the peer once.
  std::vector<Item*> sorted(items.size());
  std::transform(items.begin(), items.end(), sorted.begin(),
                 [](const auto& item) { return item.get(); });
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Item* a, const Item* b) { return a->peer < b->peer; });
  for (Item* item : sorted) {
    const auto bytes =
        std::visit([this](auto& envelope) { return encode(envelope); }, item->envelope);
    if (const auto sent = item->socket->send(item->peer, bytes); !sent) {
      spdlog::debug("a message was dropped: {}", sent.error().message);
      gone(item->peer);
    }
  }
}

}  // namespace lockstep::launcher
