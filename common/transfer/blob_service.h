#pragma once
// The server side of transfer.h: the replies of a daemon that owns a blob store. It has no socket
// and no thread: a worker calls it and posts the replies back. The caller checks permissions.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::transfer {

// Turns an error into a refusal. If a limit was reached, for_now is set, so that the asker may ask
// again.
BulkRefused refusal(const Error& error);
// The refusal of an upload: for_now and no_space are set unless the sender is wrong, since all
// other errors concern this side's own disk, and nothing that was sent may be lost for them.
BulkRefused not_stored(const Error& error);

// Answers MissingBlobs -> MissingBlobsReply; PutBlobs -> PutBlobsReply (after a sync) or
// BulkRefused. `peer` keeps the incomplete uploads of different peers apart.
BulkMessage answer(snapshot::BlobStore& store, const MissingBlobs& request,
                   snapshot::Lease lease = snapshot::Lease::lasting);
BulkMessage answer(snapshot::BlobStore& store, const PutBlobs& request, std::string_view peer);

// The reply to PutBlobs in two steps, put() and make_durable(), which may run on two threads, so
// that one sync serves many requests.
struct PutAnswer {
  BulkMessage reply;  // the reply, to be sent after make_durable()
  std::uint64_t losses = 0;
};
// Called for each piece. `was_here`: its blob was complete before, so the store ignored the piece;
// `is_here`: the blob is complete now. An error refuses the request.
using OnPiece = std::function<Status(const BlobPiece& piece, bool was_here, bool is_here)>;
PutAnswer put(snapshot::BlobStore& store, const PutBlobs& request, std::string_view peer,
              snapshot::Lease lease = snapshot::Lease::lasting, const OnPiece& on_piece = {},
              snapshot::Asker asker = 0);
// Syncs the store. Answers whose blobs could not be made durable become refusals.
void make_durable(snapshot::BlobStore& store, const std::vector<PutAnswer*>& answers);

// A message of this size still fits one more whole piece and all digests.
inline constexpr std::size_t kEnoughForOneMessage = 5u << 19;

// The replies to one GetBlobs, one message at a time, so that the sender can wait for its queue.
// Each has at most kMaxBulkMessageBytes. The last one is marked, or is a BulkRefused.
class BlobReader {
 public:
  // Reads blobs into messages. A message ends once it has `enough` bytes. With smaller messages,
  // streams take turns more often.
  BlobReader(const snapshot::BlobStore& store, GetBlobs request,
             std::size_t enough = kEnoughForOneMessage);
  std::optional<BulkMessage> next();  // nullopt: there are no more

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
