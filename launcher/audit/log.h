#pragma once
// Writes the audit log, on one thread. add() numbers and chains an entry. write() hands all entries
// to the kernel, so that a later kill of the process loses none. A worker then makes them durable.
// The log is bounded: segments have a maximum size, and when there are too many, the oldest is
// removed and an entry records that. It knows nothing of requests.

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/people/audit.h"
#include "common/io/file_system.h"
#include "launcher/audit/folder.h"

namespace lockstep::launcher {

struct AuditLimits {
  Bytes segment = mebibytes(16);
  std::size_t segments = 64;
};
// Limits for a log of `in_all` bytes (kLeastAudit or more): about 64 segments, each of 64 KiB to
// 16 MiB.
AuditLimits audit_limits(Bytes in_all);
inline constexpr Bytes kLeastAudit = kibibytes(256);
inline constexpr Bytes kDefaultAudit = mebibytes(1'024);

// Files that a worker has to make durable; run() does it, and then removes old segments.
class AuditSync {
 public:
  Status run() const;

 private:
  friend class AuditLog;
  std::string folder_;
  std::vector<std::shared_ptr<io::Fd>> files_;
  bool is_new_segment_ = false;
  AuditMark head_;
  std::vector<std::string> remove_;  // segments to remove once all the above is on disk
};

class AuditLog {
 public:
  // Continues the newest segment. It cuts off an unfinished last entry; if the last entry is
  // damaged, or entries are missing, it starts a new segment. Either is noted in the log. Errors:
  // io.
  static Result<AuditLog> open(const std::string& folder, AuditLimits limits, Instant now);

  // The problems that open() found, as texts for people.
  const std::vector<std::string>& findings() const { return findings_; }

  void add(AuditEntry entry);  // adds an entry, and sets `number`
  // Writes entries. After an error some are not in the file yet (waiting()); the next write() tries
  // again.
  Status write(Instant now);
  std::size_t waiting() const { return waiting_.size(); }
  // The entries to make durable next; nullopt if everything written was taken already.
  std::optional<AuditSync> take_sync();
  // Tells that a sync failed: its data may not be on disk, and its files are not written again.
  void sync_failed(const std::string& why, Instant now);
  // The newest entry that is in the file.
  const AuditMark& written() const { return written_; }
  const std::string& folder() const { return folder_; }

 private:
  struct Waiting {
    std::string text;
    AuditMark mark;
  };
  AuditLog(std::string folder, AuditLimits limits) : folder_(std::move(folder)), limits_(limits) {}
  void record(const std::string& what, const std::string& object, const std::string& detail,
              Instant now);
  using Note = std::array<std::string, 3>;  // operation, object and detail of an entry to record
  Status take_up(Instant now);
  Result<bool> take_up_segments(const std::vector<AuditSegment>& segments,
                                std::vector<Note>& notes);
  Status begin_segment();
  Status append(const Waiting& waiting);
  Status rotate(Instant now);
  void remove_oldest(Instant now);

  std::string folder_;
  AuditLimits limits_;
  std::vector<std::string> findings_;
  AuditMark last_;     // the newest entry that was added
  AuditMark written_;  // the newest entry that is in the file
  std::deque<Waiting> waiting_;
  std::shared_ptr<io::Fd> file_;
  std::uint64_t segment_ = 0;  // number of the segment in file_
  std::uint64_t size_ = 0;     // the bytes of its whole entries
  bool torn_ = false;          // bytes behind size_ have to be cut off
  std::vector<std::pair<std::shared_ptr<io::Fd>, std::uint64_t>> torn_files_;  // earlier segments
  bool is_dirty_ = false;  // something was written since the last take_sync()
  bool is_new_segment_ = false;
  std::vector<std::shared_ptr<io::Fd>> ended_;  // full segments since the last take_sync()
  std::vector<std::string> remove_;
};

}  // namespace lockstep::launcher
