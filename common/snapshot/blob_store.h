#pragma once
// Content-addressed blobs on disk. Small ones are appended to packs, larger ones have a file each,
// cut into pieces that are compressed when that helps. It owns <root> alone (a lock file); it never
// trusts what it reads: a blob that does not match its digest is dropped, and so becomes missing
// again.
//
//   <root>/lock            held while open
//   <root>/version         kBlobStoreVersion, as text
//   <root>/packs/N.pack    blobs up to kPackedBytes, appended; commit marks after each fdatasync
//   <root>/ab/cdef…        one larger blob: header, table of pieces, pieces
//   <root>/tmp/            blobs that are being written; emptied at open
//   <root>/bad/            what fsck found damaged and moved aside
//
// All methods may be called from any thread. Writers wait for each other; readers for nobody.

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
#include "common/domain/bulk.h"

namespace lockstep::snapshot {

inline constexpr std::size_t kPackedBytes = kMaxPieceBytes;  // what is one piece
inline constexpr std::size_t kMaxOpenUploads =
    256;  // blobs that are half there, over all uploaders

// Grows when an older program could not read the store. 2: packs hold blobs of more than 128 KiB.
inline constexpr int kBlobStoreVersion = 2;

struct BlobWanted {
  Digest digest;
  std::uint64_t size = 0;  // raw bytes as its directory says; 0 for a root that is not here
  bool directory = false;
};

// How long a blob is kept before anything refers to it (blob_gc.h). Brief: the sender checks again
// when it needs the blob, and sends it again if it is gone.
enum class Lease { lasting, brief };

class BlobStore {
 public:
  enum class Mode { use, look };  // look: nothing that is there already is changed by opening it
  // Makes what does not exist. conflict: another process holds this store. unsupported: it was made
  // by a newer version.
  static Result<std::unique_ptr<BlobStore>> open(const std::string& root, Mode mode = Mode::use);
  ~BlobStore();
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  bool has(const Digest& digest) const;  // false for what is about to be collected
  std::optional<std::uint64_t> size(const Digest& digest) const;  // raw bytes

  // What put() says of a full disk, in the same words at each try.
  std::string no_space() const;

  // Which of these are not here. What is not listed is durable.
  Result<std::vector<Digest>> missing(const std::vector<Digest>& digests,
                                      Lease lease = Lease::lasting);
  // What is missing for the complete tree below `root`: its directories that are not here, and all
  // blobs that known directories name. Empty = the closure is whole and durable (remembered, so
  // that asking again costs nothing). Ask again after directories have arrived: they may name more.
  Result<std::vector<Digest>> missing_from(const Digest& root);
  // The same with sizes, for a cache: without waiting for the disk.
  Result<std::vector<BlobWanted>> missing_blobs_from(const Digest& root);

  Result<std::vector<Digest>> list() const;  // all that are here, in no order
  // Protects everything below this tree from collection for a while, until something refers to it.
  void lease(const Digest& root);

  // A whole blob; corrupt when the digest is not that of `raw`. Durable after sync().
  Status put(const Digest& digest, std::string_view raw);
  // One piece, in any order, any number of times; true when the blob is complete and verified.
  // Uploads of different `uploader`s (a peer's key) never mix. Durable after sync().
  Result<bool> put_piece(const BlobPiece& piece, std::string_view uploader = {},
                         Lease lease = Lease::lasting);
  // Forgets the half uploads of a peer that is gone.
  void abandon(std::string_view uploader);
  // Makes all that was put durable: one fdatasync for all small blobs. Cheap when there is nothing.
  Status sync();
  // How often a sync failed and dropped the blobs that it should have made durable. A caller that
  // puts on one thread and syncs on another compares this count, because a later sync of the
  // remaining blobs succeeds.
  std::uint64_t losses() const;

  // A whole blob, verified. not_found, corrupt (dropped), resource_exhausted (larger than `limit`).
  Result<std::string> get(const Digest& digest, Bytes limit = mebibytes(256)) const;
  // Streams a blob in order, in parts of at most kMaxPieceBytes. The digest is verified at the end:
  // after an error, discard all parts.
  using Sink = std::function<Status(std::string_view part)>;
  Status stream(const Digest& digest, const Sink& sink) const;
  // The piece at `offset` (a multiple of kMaxPieceBytes) as it is stored, to be sent to a peer, who
  // verifies it. An empty blob has one empty piece.
  Result<BlobPiece> piece(const Digest& digest, std::uint64_t offset) const;

 private:
  friend class BlobCollection;
  friend class BlobCheck;
  struct Impl;
  explicit BlobStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::snapshot
