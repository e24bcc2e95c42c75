// Whatever the control decoder accepts, it accepts again after encoding, unchanged.

#include "common/wire/messages/control.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

template <typename Body>
void stays_the_same(std::string_view bytes) {
  using namespace lockstep;
  const auto read = wire::decode_envelope<Body>(bytes);
  if (read && !(wire::decode_envelope<Body>(wire::encode(*read)) == *read)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)wire::peek_sequence(bytes);
  stays_the_same<AgentMessage>(bytes);
  stays_the_same<AgentReply>(bytes);
  stays_the_same<ClientRequest>(bytes);
  stays_the_same<ClientReply>(bytes);
  stays_the_same<JoinMessage>(bytes);
  stays_the_same<JoinReply>(bytes);
  return 0;
}
