// A journal row: whatever is accepted is accepted again after encoding, unchanged.

#include "launcher/store/facts/fact_codec.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = launcher::decode_fact(bytes);
  if (read && !(launcher::decode_fact(launcher::encode_fact(*read)) == *read)) std::abort();
  return 0;
}
