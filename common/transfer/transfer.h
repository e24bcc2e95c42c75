#pragma once
// Blobs over the bulk socket, for a thread that may block: the CLI's upload of a snapshot and a
// node's download. Both keep a bounded number of bytes in flight and repeat what got lost; every
// request is idempotent. A socket is used by one call at a time and by nothing else meanwhile.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/blob_store.h"
#include "common/snapshot/capture.h"

namespace lockstep::io {
class ClientSocket;
}

namespace lockstep::transfer {

struct Progress {
  std::uint64_t done_bytes = 0;   // raw bytes that are over there (upload) or here (download)
  std::uint64_t total_bytes = 0;  // of what lacked
  int peers = 0;                  // that gave some of it
};
using OnProgress = std::function<void(const Progress&)>;

struct TransferOptions {
  std::uint64_t window_bytes = 32u << 20;  // raw bytes in flight
  Duration retry_after = seconds(5);       // silence after which what is open is asked again
  Duration give_up_after = seconds(60);    // silence after which the transfer fails
  Duration send_within = seconds(5);       // a connection is waited for so long at each sending
  // Of capture_and_send: raw bytes that were read and are not in a message yet.
  std::uint64_t held_bytes = 96u << 20;
  JobId of_job = {};  // of downloads by users: the job that has the tree
};

struct UploadResult {
  std::uint64_t blobs_sent = 0;
  std::uint64_t bytes_sent = 0;  // raw
  std::uint64_t wire_bytes = 0;  // after compression
};

// Sends the blobs that the other side does not have. conflict: a file changed since it was captured
// (named); resource_exhausted: the other side has no space for it now.
Result<UploadResult> upload_snapshot(io::ClientSocket& socket, const snapshot::Snapshot& snapshot,
                                     const OnProgress& progress = {}, TransferOptions options = {});

// Captures a directory and, while reading it, already sends the blobs that the other side does not
// have, from memory. Call upload_snapshot afterwards if blobs are still missing; it then has little
// left to send. A failure to send does not fail the capture and is not reported here:
// upload_snapshot meets the same failure and returns it. When the stat cache knows all files,
// nothing is asked; when the other side has all blobs, very little is. Progress counts the blobs
// found missing so far, so its total grows.
struct Captured {
  snapshot::Snapshot snapshot;
  std::uint64_t landed_bytes = 0;  // raw bytes that are durable over there
};
Result<Captured> capture_and_send(io::ClientSocket& socket, const std::string& directory,
                                  snapshot::CaptureOptions capture, const OnProgress& progress = {},
                                  TransferOptions options = {});

// Fetches blobs of the tree `root` into a store. `size` may be 0 when it is not known. Errors:
// not_found names blobs that the other side lacks too; conflict says that the other side may not
// give us this tree, or that the blobs are no parts of it.
Status download(io::ClientSocket& socket, const Digest& root,
                const std::vector<snapshot::BlobWanted>& wanted, snapshot::BlobStore& into,
                const OnProgress& progress = {}, TransferOptions options = {});

// Fetches the missing directories of the tree `root`, level by level.
Status download_directories(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
                            TransferOptions options = {});
// Everything that is missing for the tree below `root`: directories first, then what they name.
Status download_tree(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
                     const OnProgress& progress = {}, TransferOptions options = {});

}  // namespace lockstep::transfer
