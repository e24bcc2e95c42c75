// TensorBoard's event files: bytes in pieces give the same scalars as at once, and no more than the
// bytes can hold. The first byte says how long the pieces are. Checksums are right in half of the
// runs: a fuzzer does not guess them, so records are also made of the bytes.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "launcher/metrics/sources/event_file.h"
#include "tests/unit/launcher/metrics/event_bytes.h"

namespace {

using namespace lockstep;

std::vector<metrics::NamedPoint> read(std::string_view bytes, std::size_t piece, bool* good) {
  metrics::EventFileReader reader("tb/events.out.tfevents.1");
  std::vector<metrics::NamedPoint> points;
  *good = true;
  for (std::size_t at = 0; at < bytes.size() && *good; at += piece)
    *good = reader.take(bytes.substr(at, piece), &points).has_value();
  if (reader.offset() > bytes.size()) std::abort();
  return points;
}

void try_bytes(std::string_view bytes, std::size_t piece) {
  bool good = false, good_in_pieces = false;
  const auto whole = read(bytes, bytes.size() + 1, &good);
  const auto pieces = read(bytes, piece, &good_in_pieces);
  if (good != good_in_pieces || whole != pieces || whole.size() > bytes.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try_bytes(bytes, piece);
  try_bytes(test::record(bytes) + test::record(test::event(1, 2, bytes)), piece);
  return 0;
}
