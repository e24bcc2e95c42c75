#include "common/snapshot/content/stored_size.h"

#include <unordered_map>

#include "common/snapshot/content/blob_pack.h"
#include "common/snapshot/content/walk_meter.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr std::uint64_t kBlock = 4096;

class Sizer {
 public:
  enum class Count { files, files_and_directories, blocks, blocks_of_small };
  Sizer(const BlobStore& store, const Walk& walk, Count count)
      : store_(store), meter_(walk), count_(count) {}

  // The size of a directory. Each directory is read once, however often it is named: a small object
  // can name 2^n files.
  Result<std::uint64_t> size_of(const Digest& directory, int depth) {
    if (const auto known = known_.find(directory); known != known_.end()) return known->second;
    if (depth > kMaxTreeDepth)
      return make_error(ErrorCode::corrupt,
                        "the tree has more than " + std::to_string(kMaxTreeDepth) + " levels");
    TRY_ASSIGN(const std::string object, meter_.read(store_, directory, depth));
    TRY_ASSIGN(const Directory entries, decode_directory(object));
    std::uint64_t bytes = count_ == Count::files_and_directories ? object.size() : 0;
    for (const Entry& entry : entries.entries) {
      TRY(meter_.entry());
      if (entry.kind == EntryKind::file)
        bytes = sum(bytes, counted(store_.size(entry.digest).value_or(entry.size)));
      if (entry.kind != EntryKind::directory) continue;
      TRY_ASSIGN(const std::uint64_t below, size_of(entry.digest, depth + 1));
      bytes = sum(bytes, below);
    }
    known_[directory] = bytes;
    return bytes;
  }

 private:
  std::uint64_t counted(std::uint64_t size) const {
    switch (count_) {
      case Count::files:
      case Count::files_and_directories: return size;
      case Count::blocks_of_small:
        if (size > kPackedBytes) return 0;
        break;
      case Count::blocks: break;
    }
    return sum(size, kBlock - 1) / kBlock * kBlock;
  }
  static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
  }
  struct Hash {
    std::size_t operator()(const Digest& digest) const {
      return std::hash<std::string>()(digest.hex());
    }
  };

  const BlobStore& store_;
  WalkMeter meter_;
  const Count count_;
  std::unordered_map<Digest, std::uint64_t, Hash> known_;
};

}  // namespace

Result<Bytes> tree_size(const BlobStore& store, const Digest& root, const Walk& walk) {
  TRY_ASSIGN(const std::uint64_t bytes, Sizer(store, walk, Sizer::Count::files).size_of(root, 0));
  return Bytes{bytes};
}

Result<Bytes> stored_size(const BlobStore& store, const Digest& root, const Walk& walk) {
  TRY_ASSIGN(const std::uint64_t bytes,
             Sizer(store, walk, Sizer::Count::files_and_directories).size_of(root, 0));
  return Bytes{bytes};
}

Result<Bytes> written_size(const BlobStore& store, const Digest& root, bool are_linked) {
  const Walk walk;
  const auto count = are_linked ? Sizer::Count::blocks_of_small : Sizer::Count::blocks;
  TRY_ASSIGN(const std::uint64_t bytes, Sizer(store, walk, count).size_of(root, 0));
  return Bytes{bytes};
}

}  // namespace lockstep::snapshot
