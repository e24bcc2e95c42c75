// Whatever a rank writes to its PMI connection: each line gets at most one answer, each answer is
// one line, and a barrier is told once and only when all ranks are in it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runner/bootstrap/pmi1_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::runner;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  int answers = 0, barriers = 0;
  std::string keys;
  Pmi1Protocol::Events events;
  events.connected = events.finalized = [](int) {};
  events.aborted = [](int, int, const std::string&) {};
  events.refused = [](int, const std::string&) {};
  events.answer = [&](int, const std::string& line) {
    ++answers;
    if (line.empty() || line.find('\n') != line.size() - 1) std::abort();
  };
  events.barrier = [&](std::string new_keys) {
    ++barriers;
    keys = std::move(new_keys);
  };
  Pmi1Protocol protocol({"keys", 1, 2, 0}, events);
  for (int rank = 0; !bytes.empty(); rank = 1 - rank) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    if (protocol.is_in_barrier(rank)) continue;
    answers = 0;
    if (!protocol.receive(rank, line)) continue;
    if (answers > 1) std::abort();
    const bool all_wait = protocol.is_in_barrier(0) && protocol.is_in_barrier(1);
    if (barriers != (all_wait ? 1 : 0)) std::abort();
    if (!all_wait) continue;
    answers = barriers = 0;
    protocol.end_barrier(keys);
    if (answers != 2 || protocol.is_in_barrier(0) || protocol.is_in_barrier(1)) std::abort();
  }
  return 0;
}
