// snapshot::decode_directory: what it accepts is canonical, and no name in it leaves its directory.

#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/snapshot/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::snapshot;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto directory = decode_directory(bytes);
  if (!directory) return 0;
  for (const Entry& entry : directory->entries) {
    CHECK(why_bad_name(entry.name).empty(), "a name that leaves its directory was accepted");
  }
  CHECK(encode(*directory) == bytes, "two encodings of one directory were accepted");
  return 0;
}
