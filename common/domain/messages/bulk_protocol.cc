#include "common/domain/messages/bulk_protocol.h"

namespace lockstep {

std::string owner_of(const LogKey& key) {
  const std::string who =
      key.stream == LogStream::environment ? "the environment on node " : "rank ";
  return who + std::to_string(key.rank) + " of " + to_string(key.attempt);
}

}  // namespace lockstep
