// Whatever the control decoder accepts, it accepts again after encoding, unchanged.

#include "common/wire/control.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)wire::peek_sequence(bytes);
  const auto read = wire::decode_envelope(bytes);
  if (read && !(wire::decode_envelope(wire::encode(*read)) == *read)) std::abort();
  return 0;
}
