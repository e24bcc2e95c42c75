#pragma once
// Append-only files (packs) of small blobs, with an index in memory that is rebuilt from the record
// headers. sync() makes all records so far durable, and then appends a commit mark that says up to
// where the file is durable. When the folder is opened, the records after the last mark are
// verified, and the file is cut at the first bad one. Reads verify no digests; the owner does.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/file_system.h"

namespace lockstep::snapshot {

inline constexpr std::size_t kPackedBytes = kMaxPieceBytes;  // largest blob in a pack: one piece

struct PackedBlob {
  std::uint32_t raw_size = 0;
  bool compressed = false;
  std::string data;
};

class PackSet {
 public:
  // Opens the packs. `cut`: cut off records that a crash left unfinished; false: only ignore them.
  static Result<std::unique_ptr<PackSet>> open(const std::string& folder, bool cut = true);

  bool has(const Digest& digest) const;
  std::optional<std::uint64_t> size(const Digest& digest) const;
  Result<PackedBlob> read(const Digest& digest) const;  // not_found: the pack does not have it
  // Adds a blob. `raw_size` <= kPackedBytes. The caller has verified the digest.
  Status append(const Digest& digest, std::uint32_t raw_size, bool compressed,
                std::string_view data);
  // Makes all records durable. After an error, the records that it should have made durable are
  // removed from the index and the files. Those blobs must be appended again.
  Status sync();
  bool dirty() const;
  std::uint64_t cut_backs() const {  // how many syncs failed
    std::lock_guard lock(append_mutex_);
    return cut_backs_;
  }
  void drop(const Digest& digest);  // removes it from the index only
  std::vector<Digest> digests() const;
  // Rewrites the packs of which a quarter or more is unused, without the unused records. Returns by
  // how many bytes the files became smaller.
  Result<std::uint64_t> reclaim();
  // Removes blobs from the index and from the files.
  Status expel(const std::vector<Digest>& digests);

 private:
  struct Location {
    std::uint32_t pack = 0;  // index in packs_
    std::uint32_t raw_size = 0;
    std::uint32_t stored_size = 0;
    bool compressed = false;
    std::uint64_t offset = 0;  // the offset of the data
  };
  struct Pack {
    std::string path;
    std::shared_ptr<io::Fd> fd;  // null: the pack was reclaimed
  };

  explicit PackSet(std::string folder) : folder_(std::move(folder)) {}
  Status load(const std::string& path, bool cut);
  std::uint64_t verified_end(int fd, const std::vector<std::pair<Digest, Location>>& records,
                             std::uint64_t trusted, std::uint64_t end) const;
  struct Sparse {
    std::size_t pack = 0;
    std::uint64_t bytes = 0;  // the size of its file
  };
  std::vector<Sparse> sparse_packs() const;
  using Moved = std::vector<std::pair<Digest, Location>>;  // the moved blobs, with their old
                                                           // locations
  Status move_out(std::size_t pack, Moved* moved);         // moves used records to the last pack
  void put_back(const Moved& moved);
  Status cut_back(std::size_t pack, std::uint64_t from, int error);
  Result<std::uint64_t> rewrite(std::size_t pack);  // move_out(), then removes the pack's file
  Status start_pack();
  Status write_at_end(std::string_view record);
  // Writes a record. The caller holds append_mutex_.
  Result<Location> write_record(const Digest& digest, std::uint32_t raw_size, bool compressed,
                                std::string_view data);

  const std::string folder_;
  mutable std::shared_mutex index_mutex_;  // guards packs_ and index_
  std::vector<Pack> packs_;
  std::unordered_map<Digest, Location> index_;
  mutable std::mutex append_mutex_;  // end_, synced_, next_number_; taken before index_mutex_
  std::uint64_t end_ = 0;            // the end of the last pack
  std::uint64_t synced_ = 0;         // the synced part of the last pack
  std::uint64_t next_number_ = 1;
  bool sealed_ = false;          // nothing more is written to the last pack
  std::uint64_t cut_backs_ = 0;  // how many syncs failed
  std::mutex sync_mutex_;        // taken before append_mutex_
};

}  // namespace lockstep::snapshot
