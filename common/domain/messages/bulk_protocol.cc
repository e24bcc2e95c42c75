#include "common/domain/messages/bulk_protocol.h"

namespace lockstep {

Word describe(LogStream stream) {
  switch (stream) {
    case LogStream::out: return {1, "out"};
    case LogStream::err: return {2, "err"};
    case LogStream::environment: return {3, "environment"};
  }
  return {};
}

std::string owner_of(const LogKey& key) {
  const std::string who =
      key.stream == LogStream::environment ? "the environment on node " : "rank ";
  return who + std::to_string(key.rank) + " of " + to_string(key.attempt);
}

}  // namespace lockstep
