#pragma once
// Transfers blobs over the bulk socket, on a thread that may block: the CLI's upload of a snapshot
// and a node's download. Both limit the bytes in flight and send lost requests again; every request
// is idempotent. During a call, nothing else may use its socket.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::io {
class ClientSocket;
}

namespace lockstep::transfer {

struct Progress {
  std::uint64_t done_bytes = 0;   // raw bytes that have arrived, there (upload) or here (download)
  std::uint64_t total_bytes = 0;  // raw bytes that were missing at the start
  int peers = 0;                  // how many peers sent some of it
};
using OnProgress = std::function<void(const Progress&)>;
// Called once when a tree's directories are in the store, before its files are fetched, with the
// raw bytes that are missing. An error ends the fetch.
using Admit = std::function<Status(Bytes missing)>;

struct TransferOptions {
  std::uint64_t window_bytes = 32u << 20;  // raw bytes in flight
  Duration retry_after = seconds(5);       // silence after which open requests are sent again
  Duration give_up_after = seconds(60);    // silence after which the transfer fails
  Duration send_within = seconds(5);       // how long each send waits for a connection
  // The time without a connection after which the transfer fails, though it could continue after a
  // silence. It must be shorter than give_up_after, and longer than a launcher takes to restart.
  Duration down_after = Duration::max();
  // For capture_and_send: the most raw bytes that were read and are not in a message yet.
  std::uint64_t held_bytes = 96u << 20;
  JobId of_job = {};                         // for downloads by users: the job that has the tree
  Admit admit = {};                          // for fetch_tree()
  std::optional<AttemptId> of_attempt = {};  // see BulkEnvelope
  bool final_outputs = false;                // see BulkEnvelope
};

struct UploadResult {
  std::uint64_t blobs_sent = 0;
  std::uint64_t bytes_sent = 0;  // raw
  std::uint64_t wire_bytes = 0;  // after compression
};

// Sends the blobs that the other side does not have. Errors: conflict: a file changed since it was
// captured (named); resource_exhausted: the other side cannot store it now; unavailable: it did not
// answer, or was too busy, for give_up_after.
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
  std::uint64_t durable_bytes = 0;  // raw bytes that are durable on the other side
};
Result<Captured> capture_and_send(io::ClientSocket& socket, const std::string& directory,
                                  snapshot::CaptureOptions capture, const OnProgress& progress = {},
                                  TransferOptions options = {});

// Fetches the blobs `wanted` of the tree `root` into a store. BlobWanted::size may be 0 when it is
// not known. Errors: not_found: the other side lacks some blobs, which the message names; conflict:
// we may not fetch this tree, or the blobs do not belong to it.
Status download(io::ClientSocket& socket, const Digest& root,
                const std::vector<snapshot::BlobWanted>& wanted, snapshot::BlobStore& into,
                const OnProgress& progress = {}, TransferOptions options = {});

// Fetches the missing directories of the tree below `root`, level by level.
Status download_directories(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
                            TransferOptions options = {});
// Fetches everything that is missing below `root`: first the directories, then their files.
Status download_tree(io::ClientSocket& socket, const Digest& root, snapshot::BlobStore& into,
                     const OnProgress& progress = {}, TransferOptions options = {});

}  // namespace lockstep::transfer
