// snapshot::IgnoreFile: any text is an ignore file, and matching it takes bounded time.

#include <cstdint>
#include <string_view>

#include "common/snapshot/ignore/ignore.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::snapshot;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t split = bytes.find('\0');
  if (split == bytes.npos) return 0;
  const IgnoreFile file(".gitignore", "", bytes.substr(split + 1));
  const std::string_view path = bytes.substr(0, split);
  if (path.empty() || path.size() > 4096) return 0;
  file.match(path, false);
  file.match(path, true);
  return 0;
}
