#pragma once
// Computes the digests of scanned files, reading them on several threads. It knows nothing of
// caches and snapshots. Its results are the digests and the files that it left out.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/capture/capture_options.h"
#include "common/snapshot/capture/content_taker.h"
#include "common/snapshot/capture/scanned.h"

namespace lockstep::snapshot {

// A file that the stat cache does not know.
struct ToHash {
  std::size_t folder = 0, file = 0;
};

using FileDigests = std::vector<std::vector<Digest>>;  // [folder][file], as in the scan

class Hasher {
 public:
  Hasher(const std::string& directory, const CaptureOptions& options, Scan& scan,
         FileDigests& digests)
      : directory_(directory), options_(options), scan_(scan), digests_(digests) {}

  Status run(const std::vector<ToHash>& work);
  std::uint64_t bytes_read() const { return bytes_read_; }
  // Removes the skipped files from the scan.
  void take_out_skipped();

 private:
  // A file that is left out of the snapshot. errnum 0: it changed during every read.
  struct LeftOut {
    ToHash item;
    int errnum = 0;
  };
  // Whether the holes of a file may be read. False: all holes together would exceed
  // CaptureOptions::most_holes.
  bool may_read_holes(std::uint64_t holes);
  // A reading of a file, from its beginning to its end.
  struct Reading {
    Digest digest;
    std::uint64_t size = 0;
    Content content;  // empty when no ContentTaker takes it
  };
  void worker(const std::vector<ToHash>& work);
  Status hash(const ToHash& item, std::string& buffer);
  Status accept(const ToHash& item, const FileIdentity& identity, std::uint32_t mode,
                Reading reading);
  // The three reads of a file return 0, or the errno of the failed call.
  int read(int fd, std::string& buffer, std::uint64_t size, Reading& reading);
  int read_and_keep(int fd, std::uint64_t size, Reading& reading);
  int read_and_hash(int fd, std::string& buffer, std::uint64_t most, Reading& reading);
  void drop(Reading& reading);
  Status unreadable(int errnum, const ToHash& item, const std::string& path);
  void leave_out(const ToHash& item, int errnum);

  const std::string& directory_;
  const CaptureOptions& options_;
  Scan& scan_;
  FileDigests& digests_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<std::uint64_t> holes_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status first_error_;
  std::vector<LeftOut> left_out_;
};

}  // namespace lockstep::snapshot
