// Any file is a pack of which the good records at the front count: they can be read, new ones go
// behind them, and what was cut off is not found again.

#include <cstdint>
#include <cstdlib>

#include "common/snapshot/content/blob_pack.h"
#include "tests/fuzz/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using snapshot::PackSet;
  static const fuzz::Scratch scratch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  scratch.write("1.pack", bytes);
  const auto seen = PackSet::open(scratch.path(), false);
  if (!seen) std::abort();
  const auto digests = (*seen)->digests();
  for (const Digest& digest : digests) (void)(*seen)->read(digest).has_value();
  auto packs = PackSet::open(scratch.path());
  if (!packs || (*packs)->digests().size() != digests.size()) std::abort();
  const std::string added = "added";
  const Digest digest = sha256(added);
  if (!(*packs)->append(digest, 5, false, added) || !(*packs)->sync()) std::abort();
  const auto again = PackSet::open(scratch.path());
  if (!again || !(*again)->has(digest)) std::abort();
  std::filesystem::remove(scratch.path() + "/2.pack");
  return 0;
}
