// What the agent reads of processes and files that users can write to: events of lockstep-env, the
// locks in them, activations, records of images; and orders. What is read is written as it was.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "envs/docker/record.h"
#include "envs/order.h"

namespace {

using namespace lockstep::envs;

template <typename Value>
void write_and_read(const lockstep::Result<Value>& value,
                    lockstep::Result<Value> (*read)(std::string_view)) {
  if (!value) return;
  const auto text = to_json(*value);
  const auto again = read(text);
  if (!again || to_json(*again) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  write_and_read(event_from_json(text), event_from_json);
  write_and_read(lock_from_json(text), lock_from_json);
  write_and_read(activation_from_json(text), activation_from_json);
  write_and_read(image_record_from_json(text), image_record_from_json);
  write_and_read(order_from_json(text), order_from_json);
  return 0;
}
