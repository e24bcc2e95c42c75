#pragma once
// The other side of transfer.h: what a daemon that owns a blob store answers. It has no socket and
// no thread: a worker calls it and posts the messages back. The caller decides who may ask.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/bulk.h"
#include "common/snapshot/blob_store.h"

namespace lockstep::transfer {

// A full disk is a temporary refusal: the peer may ask again. For PutBlobs, no_space is set too.
BulkRefused refusal(const Error& error);

// MissingBlobs -> MissingBlobsReply; PutBlobs -> PutBlobsReply (after a sync) or BulkRefused.
// `peer` keeps the half uploads of different peers apart.
BulkMessage answer(snapshot::BlobStore& store, const MissingBlobs& request,
                   snapshot::Lease lease = snapshot::Lease::lasting);
BulkMessage answer(snapshot::BlobStore& store, const PutBlobs& request, std::string_view peer);

// The same in two steps, which may be those of two threads: one sync serves many requests.
struct PutAnswer {
  BulkMessage reply;  // to be sent once it is durable
  std::uint64_t losses = 0;
};
// Called for each piece: whether its blob was here before (the piece is then ignored), and whether
// it is here now. An error refuses the request.
using OnPiece = std::function<Status(const BlobPiece& piece, bool was_here, bool is_here)>;
PutAnswer put(snapshot::BlobStore& store, const PutBlobs& request, std::string_view peer,
              snapshot::Lease lease = snapshot::Lease::lasting, const OnPiece& on_piece = {});
// Syncs the store; answers whose blobs could not be made durable become refusals.
void make_durable(snapshot::BlobStore& store, const std::vector<PutAnswer*>& answers);

// A message of this size has room for one more piece and its digests below the message limit.
inline constexpr std::size_t kEnoughForOneMessage = 5u << 19;

// The answers to one GetBlobs, one message at a time, so that the sender may wait for its queue: at
// most kMaxBulkMessageBytes each, the last one marked. BulkRefused ends them as well.
class BlobReader {
 public:
  // A message ends once it holds `enough` bytes: smaller ones take turns with other streams'.
  BlobReader(const snapshot::BlobStore& store, GetBlobs request,
             std::size_t enough = kEnoughForOneMessage);
  std::optional<BulkMessage> next();  // nullopt: the last one was given out

 private:
  Status fill(BlobData& data);
  const snapshot::BlobStore& store_;
  GetBlobs request_;
  std::size_t enough_;
  std::size_t index_ = 0;
  std::uint64_t offset_ = 0;
  bool done_ = false;
};

}  // namespace lockstep::transfer
