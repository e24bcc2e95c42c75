#pragma once
// The writing end of the audit log, on one thread. An entry is numbered and chained when it is
// added; write() hands everything to the kernel, so that a process that is killed afterwards loses
// none of it; a worker makes it durable. Bounded: segments of one size, and when there are too many
// the oldest goes, which the chain notes. It knows nothing of requests.

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/audit.h"
#include "common/io/file_system.h"
#include "launcher/audit/folder.h"

namespace lockstep::launcher {

struct AuditLimits {
  Bytes segment = mebibytes(16);
  std::size_t segments = 64;
};
// So much in all, in as many segments as that gives: kLeastAudit at least.
AuditLimits audit_limits(Bytes in_all);
inline constexpr Bytes kLeastAudit = kibibytes(256);
inline constexpr Bytes kDefaultAudit = mebibytes(1'024);

// What a worker makes durable.
class AuditSync {
 public:
  Status run() const;

 private:
  friend class AuditLog;
  std::string folder_;
  std::vector<std::shared_ptr<io::Fd>> files_;
  bool is_new_segment_ = false;
  AuditMark head_;
  std::vector<std::string> remove_;  // segments, once all the above is on disk
};

class AuditLog {
 public:
  // Repairs the newest segment and notes that in the log: an unfinished entry is cut off; after a
  // damaged or missing entry the log continues in a new segment. Errors: io.
  static Result<AuditLog> open(const std::string& folder, AuditLimits limits, Instant now);

  // What open() found, for people.
  const std::vector<std::string>& findings() const { return findings_; }

  void add(AuditEntry entry);  // `number` is given here
  // An error: some are not in the file (waiting()); they are tried again by the next write().
  Status write(Instant now);
  std::size_t waiting() const { return waiting_.size(); }
  // nullopt: all that was written was handed out already.
  std::optional<AuditSync> take_sync();
  // A sync failed: its entries count as not on disk, and its files are not written to again.
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
  Status take_up(Instant now);
  Status begin_segment();
  Status append(const Waiting& waiting);
  Status rotate(Instant now);
  void remove_oldest(Instant now);

  std::string folder_;
  AuditLimits limits_;
  std::vector<std::string> findings_;
  AuditMark last_;     // of the newest entry that was added
  AuditMark written_;  // and of that which is in the file
  std::deque<Waiting> waiting_;
  std::shared_ptr<io::Fd> file_;
  std::uint64_t segment_ = 0;  // its number
  std::uint64_t size_ = 0;     // of that file
  bool torn_ = false;          // bytes behind size_ have to be cut off
  std::vector<std::pair<std::shared_ptr<io::Fd>, std::uint64_t>> torn_files_;  // earlier ones
  bool is_dirty_ = false;  // something was written that no sync has
  bool is_new_segment_ = false;
  std::vector<std::shared_ptr<io::Fd>> ended_;  // segments that no sync has
  std::vector<std::string> remove_;
};

}  // namespace lockstep::launcher
