// decode_frame() of any bytes is a frame that encodes to them, or none; and a LinkStream hands over
// no frame twice or out of order, and forgets nothing that was not acknowledged.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runner/gang/link_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::runner;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto frame = decode_frame(bytes); frame && encode_frame(*frame) != bytes) std::abort();

  constexpr std::size_t kFrameBytes = 32;
  LinkStream stream;
  std::uint64_t handled = 0;
  stream.push(0, 1, "a");
  stream.push(0, 1, "b");
  for (; bytes.size() >= kFrameBytes; bytes.remove_prefix(kFrameBytes)) {
    const auto frame = decode_frame(bytes.substr(0, kFrameBytes));
    if (!frame) continue;
    const std::size_t waiting = stream.waiting();
    if (stream.accept(*frame) && frame->sequence != ++handled) std::abort();
    if (frame->acknowledged == 0 && stream.waiting() != waiting) std::abort();
    if (const auto next = stream.next()) {
      if (next->payload != "a" && next->payload != "b") std::abort();
      stream.sent();
    }
    (void)stream.take_gap();
    if (stream.acknowledgement_due()) stream.acknowledgement_sent();
  }
  return 0;
}
