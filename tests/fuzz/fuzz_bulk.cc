// Whatever the bulk decoder accepts, it accepts again after encoding, unchanged.

#include "common/wire/messages/bulk.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = wire::decode_bulk(bytes);
  if (read && !(wire::decode_bulk(wire::encode(*read)) == *read)) std::abort();
  return 0;
}
