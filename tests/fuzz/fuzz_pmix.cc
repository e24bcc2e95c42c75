// What lockstep-pmix says to its runner may be anything: bytes are a report that encodes to them,
// or none. Orders too.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runner/pmix/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::pmix;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto report = decode_report(bytes); report && encode(*report) != bytes) std::abort();
  if (const auto order = decode_order(bytes); order && encode(*order) != bytes) std::abort();
  return 0;
}
