#pragma once
// Content-addressed blobs on disk. Small blobs are appended to packs. Larger ones have a file each,
// cut into pieces that are compressed when that saves space. One process at a time owns <root> (a
// lock file). The store verifies what it reads: a blob that does not match its digest is dropped,
// and then counts as missing.
//
//   <root>/lock            held while open
//   <root>/version         kBlobStoreVersion, as text
//   <root>/packs/N.pack    blobs up to kPackedBytes, appended; commit marks after each fdatasync
//   <root>/ab/cdef…        one larger blob: header, pieces, table of pieces
//   <root>/ab/cdef….whole  in a cache: one larger blob as it is
//   <root>/ab/cdef….fresh  the same until its first sync; removed by the first open after a boot
//   <root>/boot            in a cache: the boot in which it was opened last
//   <root>/tmp/            blobs that are being written; emptied at open
//   <root>/bad/            damaged blobs that fsck moved here
//
// All methods may be called from any thread. Writers wait for each other; readers wait for nobody.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/snapshot/content/walk.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

inline constexpr std::size_t kMaxOpenUploads =
    256;  // incomplete blobs of all uploaders together, each of them a file in tmp/

// Incremented when older programs cannot read the store. 2: packs hold blobs of more than 128 KiB.
inline constexpr int kBlobStoreVersion = 2;

struct BlobWanted {
  Digest digest;
  std::uint64_t size = 0;  // raw bytes, from its directory; 0 for a root that is not in the store
  bool directory = false;
};

// How long a blob that was sent or asked for is kept while nothing refers to it (blob_gc.h). Brief:
// the asker asks again when it needs the blob, and sends it again if it is gone.
enum class Lease { lasting, brief };

// The sender or asker of blobs: a number for a running job that sends its outputs so far; 0: any
// other. While only one such job has touched a blob, the blob belongs to it, and is removed soon
// after the job has replaced it by a newer version (BlobCollection::release).
using Asker = std::uint64_t;

class BlobStore {
 public:
  // How the store is opened. look: opening changes no existing file. cache: a blob that is lost in
  // a power cut can be fetched again, so larger blobs are durable only after sync(); they are
  // stored whole (see link()).
  enum class Mode { use, look, cache };
  // Opens the store, and makes it if it does not exist. Returns conflict if another process has it
  // open, and unsupported if a newer version made it.
  static Result<std::unique_ptr<BlobStore>> open(const std::string& root, Mode mode = Mode::use);
  ~BlobStore();
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  bool has(const Digest& digest) const;  // false for condemned blobs (blob_gc.h)
  std::optional<std::uint64_t> size(const Digest& digest) const;  // in raw bytes

  // The error text of put() on a full disk. It is the same at each call.
  std::string no_space() const;

  // Returns the `digests` that are not in the store. The others are durable.
  Result<std::vector<Digest>> missing(const std::vector<Digest>& digests,
                                      Lease lease = Lease::lasting, Asker asker = 0);
  // Returns the missing blobs of the tree below `root`: directories, and blobs that the present
  // directories name. Empty: the whole tree is here and durable; this is remembered, so that asking
  // again costs nothing. Ask again when directories have arrived, because they may name more blobs.
  // `walk` limits the walk and can end it early.
  Result<std::vector<Digest>> missing_from(const Digest& root, const Walk& walk = {});
  // As missing_from() with sizes, for a cache: it does not sync, so the blobs may not be durable.
  Result<std::vector<BlobWanted>> missing_blobs_from(const Digest& root, const Walk& walk = {});

  Result<std::vector<Digest>> list() const;  // all blobs, in no order
  // Protects everything below this tree from collection for a brief lease, because something is
  // about to refer to it: `reported` if only a node's report does.
  enum class Why { asked, reported };
  void lease(const Digest& root, Why why = Why::asked);

  // Stores a whole blob, durable after sync(). Returns corrupt if `raw` has another digest.
  Status put(const Digest& digest, std::string_view raw);
  // Stores one piece, durable after sync(). Pieces may come in any order and repeatedly. True: the
  // blob is complete and verified. Uploads of different `uploader`s (a peer's key) never mix.
  Result<bool> put_piece(const BlobPiece& piece, std::string_view uploader = {},
                         Lease lease = Lease::lasting, Asker asker = 0);
  // Deletes the incomplete uploads of a peer that is gone.
  void abandon(std::string_view uploader);
  // Deletes that peer's incomplete upload of `digest`, if there is one: its try has ended.
  void abandon(std::string_view uploader, const Digest& digest);
  // Makes all stored blobs durable: one fdatasync for all small ones. Cheap when there is nothing
  // to do.
  Status sync();
  // How often a sync failed and dropped the blobs that it should have made durable. A caller that
  // puts on one thread and syncs on another compares this number before and after, because a later
  // sync succeeds without the dropped blobs.
  std::uint64_t losses() const;

  // Returns a whole blob, verified. Errors: not_found, corrupt (dropped), resource_exhausted
  // (larger than `limit`).
  Result<std::string> get(const Digest& digest, Bytes limit = mebibytes(256)) const;
  // Passes the blob to `sink` in order, in parts of at most kMaxPieceBytes. It is verified only at
  // the end: after an error, the caller must discard all parts.
  using Sink = std::function<Status(std::string_view part)>;
  Status stream(const Digest& digest, const Sink& sink) const;
  // In a cache: makes `name` in `folder` another name of a larger blob's file, which then must not
  // be changed. False: the caller must copy the blob, because it has no file of its own that could
  // have this mode, or the file system cannot make links there. Returns corrupt if the blob was
  // damaged; it is then removed.
  Result<bool> link(const Digest& digest, int folder, const std::string& name,
                    std::uint32_t mode) const;
  // Sets the function for a cache that is called, on any thread, after a blob whose file has other
  // names too was found damaged and removed. Those names must not be used any more. Call it before
  // the store is used by several threads.
  void on_damage(std::function<void(const FileIdentity& file)> then);
  // The piece at `offset` (a multiple of kMaxPieceBytes) as it is stored. It is not verified: the
  // peer that it is sent to does that. An empty blob has one empty piece.
  Result<BlobPiece> piece(const Digest& digest, std::uint64_t offset) const;

 private:
  friend class BlobCollection;
  friend class BlobCheck;
  struct Impl;
  explicit BlobStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::snapshot
