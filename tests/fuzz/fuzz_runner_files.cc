// The messages between agent and runner and the files of an attempt directory.

#include "common/wire/runners/runner_codec.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto read = wire::decode_runner_control(bytes))
    if (!(wire::decode_runner_control(wire::encode(*read)) == *read)) std::abort();
  if (const auto read = wire::decode_assignment(bytes))
    if (!(wire::decode_assignment(wire::encode(*read)) == *read)) std::abort();
  if (const auto read = wire::decode_exit_report(bytes))
    if (!(wire::decode_exit_report(wire::encode(*read)) == *read)) std::abort();
  if (const auto read = wire::decode_workspace_plan(bytes))
    if (!(wire::decode_workspace_plan(wire::encode(*read)) == *read)) std::abort();
  if (const auto read = wire::decode_node_fabric(bytes))
    if (!(wire::decode_node_fabric(wire::encode(*read)) == *read)) std::abort();
  return 0;
}
