#include "launcher/api/reply_router.h"

#include <utility>

#include "common/base/check.h"

namespace lockstep::launcher {

std::string ReplyRouter::connection_of(char adapter, const std::string& name) {
  return adapter + name;
}

std::string ReplyRouter::name_in_adapter(const std::string& connection) {
  return connection.empty() ? "" : connection.substr(1);
}

void ReplyRouter::add(char adapter, Replies& replies) {
  const bool is_new = adapters_.emplace(adapter, &replies).second;
  CHECK(is_new, "two adapters of the service have the same letter");
}

Replies* ReplyRouter::adapter_of(const std::string& connection) const {
  if (connection.empty()) return nullptr;
  const auto found = adapters_.find(connection.front());
  return found == adapters_.end() ? nullptr : found->second;
}

void ReplyRouter::send(const std::string& connection, std::uint64_t reply_to, ClientReply reply) {
  if (Replies* adapter = adapter_of(connection))
    adapter->send(name_in_adapter(connection), reply_to, std::move(reply));
}

bool ReplyRouter::is_gone(const std::string& connection) const {
  const Replies* adapter = adapter_of(connection);
  return adapter == nullptr || adapter->is_gone(name_in_adapter(connection));
}

}  // namespace lockstep::launcher
