// The text of a join token: whatever is accepted is accepted again after encoding.

#include "common/wire/join_token.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = wire::decode_join_token(bytes);
  if (read && !wire::decode_join_token(wire::encode(*read))) std::abort();
  return 0;
}
