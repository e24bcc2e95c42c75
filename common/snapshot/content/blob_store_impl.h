#pragma once
// The private state of a BlobStore. Only for blob_store.cc and blob_gc.cc.

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/content/blob_file.h"
#include "common/snapshot/content/blob_pack.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Upload {
  std::unique_ptr<BlobFileWriter> file;
  std::uint64_t touched = 0;
  SteadyTime last = {};
  Lease lease = Lease::lasting;
};

struct Touched {
  std::optional<SteadyTime> lasting, brief;  // the last touch with each kind of lease
  bool has_come = false;                     // the blob arrived after the store was opened
  Asker asker = 0;                           // the first asker; 0: none
  // The last touch by `asker`; touches by others are in `lasting`.
  std::optional<SteadyTime> by_asker;
};

struct LeasedTree {
  std::optional<SteadyTime> asked, reported;  // the last time for each kind of lease
};

inline constexpr const char *kWhole = ".whole", *kFresh = ".fresh";  // ends of the names of files

struct BlobStore::Impl {
  std::string root;
  std::optional<io::FileLock> lock;
  std::unique_ptr<PackSet> packs;
  std::mutex sync_mutex;  // a sync that finds nothing to do waits for the one that is running

  // Guards incomplete uploads, and folders with files that were moved there and are not synced yet.
  std::mutex write_mutex;
  std::map<std::pair<std::string, Digest>, Upload> uploads;
  std::uint64_t touch_count = 0, file_count = 0;  // file_count numbers the files of tmp/
  std::set<std::string> unsynced_folders;

  // A whole larger blob in a cache.
  struct Whole {
    bool is_synced = false;
    // The file when its bytes were last found to match the digest, since the store was opened.
    std::optional<FileIdentity> verified = {};
  };
  bool is_cache = false;
  std::mutex whole_mutex;  // `whole`, and the names and modes of its files; taken last
  std::unordered_map<Digest, Whole> whole;
  std::function<void(const FileIdentity&)> on_damage;  // see BlobStore::on_damage
  std::optional<Error> broken;  // a folder sync failed, so every later sync fails with this error

  // Blobs that were asked for or sent lately, and blobs that are about to be removed (blob_gc.h). A
  // condemned blob counts as missing until it is sent again.
  std::mutex gc_mutex;
  std::unordered_map<Digest, Touched> touched;
  std::unordered_map<Digest, LeasedTree> leased_trees;
  std::unordered_set<Digest> condemned;
  SteadyTime opened_at = std::chrono::steady_clock::now();

  std::mutex complete_mutex;
  std::unordered_set<Digest> complete;  // directories whose whole tree is here
  std::uint64_t times_forgot = 0;       // how often `complete` was cleared because a blob was lost
  // One missing blob for each directory that was found incomplete. While that blob is missing, a
  // walk for the first missing blob does not read the directory again.
  std::unordered_map<Digest, BlobWanted> incomplete;

  std::string file_of(const Digest& digest) const {
    const std::string hex = digest.hex();
    return fmt::format("{}/{}/{}", root, hex.substr(0, 2), hex.substr(2));
  }
  std::string whole_of(const Digest& digest, bool is_synced) const {
    return file_of(digest) + (is_synced ? kWhole : kFresh);
  }
  BlobLayout layout() const { return is_cache ? BlobLayout::whole : BlobLayout::pieces; }
  Status open_cache();
  bool has_whole(const Digest& digest);
  void has_come_whole(const Digest& digest);
  std::optional<FileIdentity> linked_file(const Digest& digest);  // nullopt: no tree has the blob's
                                                                  // file
  std::uint64_t remove_whole(const Digest& digest);
  Status sync_whole();
  Status sync_whole(const Digest& digest);
  Result<BlobFileReader> open_whole(const Digest& digest);
  Result<BlobFileReader> open_file(const Digest& digest);
  Status verify(const Digest& digest, const BlobFileReader& file);
  bool is_condemned(const Digest& digest);
  bool spare(const Digest& digest);  // Keeps a blob from being removed. True: it was condemned
                                     // until now.
  void touch(const Digest& digest, Lease lease = Lease::lasting, Asker asker = 0);
  void has_come(const Digest& digest);
  bool on_disk(const Digest& digest);
  Status put_large(const Digest& digest, std::string_view raw);
  Result<bool> add_to_upload(const BlobPiece& piece, std::string_view uploader, Lease lease);
  Result<bool> take_piece(const BlobPiece& piece, std::string_view uploader, Lease lease,
                          Asker asker);
  Error named(Error error) const;
  std::string not_written(std::string_view cause) const;
  Result<std::unique_ptr<BlobFileWriter>> new_file(const Digest& digest, std::uint64_t size);
  Status move_into_place(const Digest& digest, BlobFileWriter& file);
  void forget(const Digest& digest);
  void distrust();                             // clears `complete`: those trees may be incomplete
  std::uint64_t remove(const Digest& digest);  // returns the disk space of the blob's own file
  Result<BlobPiece> piece(const Digest& digest, std::uint64_t offset);
  bool is_complete(const Digest& directory);
  std::optional<BlobWanted> known_missing(const BlobStore& store, const Digest& directory);
  Status walk(const BlobStore& store, const Digest& tree, const Walk& how,
              std::vector<BlobWanted>& missing, std::vector<Digest>& visited);
  struct MissingWalk;
  struct OpenDirectory {
    BlobWanted blob;
    int depth = 0;  // 0: the root
  };
  Status read_entries(MissingWalk& walk, const OpenDirectory& directory, const std::string& bytes);
};

}  // namespace lockstep::snapshot
