// Any file is a cache: a damaged one an empty one.

#include <cstdint>

#include "common/snapshot/stat_cache.h"
#include "tests/fuzz/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::Scratch scratch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto cache = snapshot::StatCache::load(scratch.write("cache", bytes));
  if (cache.size() > size / sizeof(snapshot::StatCache::Row)) std::abort();
  (void)cache.find({1, 2, 3, 4, 5});
  (void)cache.find({});
  return 0;
}
