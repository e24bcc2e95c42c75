#pragma once
// Captures a folder again and again while programs write to it. A file at rest is captured whole. A
// file that is being written is captured at intervals: only its new bytes are read and sent, and it
// is marked as partial beside its last complete version. It remembers what the receiver has; the
// caller pushes each capture and says whether it arrived. It reads with the rights of the calling
// thread, and follows no symlink.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/live/growing_file.h"
#include "common/snapshot/live/torn_files.h"

namespace lockstep::snapshot {

inline constexpr Duration kGrowingEvery = seconds(10);  // between captures of a growing file;
                                                        // the first comes after kFileAtRest
// the limit for one capture, which reads at least one file
inline constexpr Bytes kReadAtOnce = mebibytes(256);
inline constexpr std::uint64_t kAlwaysRead = 1u << 20;     // files with less to read never wait
inline constexpr Bytes kMostAhead = gibibytes(1);          // read before the rate below counts
inline constexpr std::uint64_t kBytesASecond = 32u << 20;  // read on average after that
// The limit for files that are being written.
inline constexpr std::uint64_t kHeldBytes = 32u << 20;

struct LiveClock {
  Duration steady{0};
  std::int64_t wall_ns = 0;  // the clock of the files' times
};

struct LiveTree {
  Snapshot tree;  // the tree to push, including the objects and blobs of `pieces`
  std::optional<Digest> pieces;
  std::uint64_t files = 0, partial = 0;
  Bytes size;
};

class LiveCapture {
 public:
  // Captures the changed files that are due; nullopt: there are none. `options`: only is_upper and
  // lower are used.
  Result<std::optional<LiveTree>> capture(io::Fd folder, const std::string& shown_as,
                                          const TreeOptions& options, const LiveClock& now);
  // Tells that the receiver has the last capture.
  void sent();
  // Tells that the receiver does not have the capture. `changed`: files could not be sent because
  // they changed after they were read. Files that could not be held in memory are left out for a
  // while.
  void not_sent(bool changed);
  // Files that were being rewritten in place when a program was killed: the receiver has a complete
  // version, and the present content does not begin with it. Also, without a version, files that
  // were being written then and never were complete before.
  Result<std::vector<TornFile>> torn(io::Fd folder, const std::string& shown_as, bool is_upper,
                                     const std::vector<Instant>& killed) const;

 private:
  struct Watched {
    FileIdentity seen;
    Duration since{0};         // first seen as it is
    bool has_changed = false;  // whether the file has changed, or came, since an earlier look
    // how long it has differed from the version that was sent
    std::optional<Duration> differs_since;
    Duration left_out_until{0};
  };
  struct Kept {
    Version whole, partial;  // null: none
  };
  struct Work {
    std::string path;
    FileIdentity identity;  // the file's identity when it was seen
    Rest rest = Rest::at_rest;
    Version before;
    std::uint64_t cost = 0;
    bool is_due = true;  // false: the file is read only if another one is due
  };
  using Files = std::map<std::string, Kept>;

  std::vector<Work> look(const Scan& scan, const LiveClock& now);
  std::optional<Work> judge(const std::string& path, const FileIdentity& identity,
                            const LiveClock& now);
  Watched& watch(const std::string& path, const FileIdentity& identity, const LiveClock& now);
  Version renamed(const FileIdentity& identity);
  bool read(const Scan& scan, std::vector<Work> work, LiveTree& out);
  bool may_read(const Work& work, std::uint64_t already) const;
  Digest shape_of(const Scan& scan) const;
  Result<LiveTree> build(Scan scan, const std::string& shown_as, const TreeOptions& options,
                         LiveTree out);

  std::map<std::string, Watched> watched_;
  Files kept_;      // the files that the receiver has
  Files captured_;  // the files that the receiver will have when the last capture has arrived
  Digest shape_, captured_shape_;
  std::vector<std::string> read_, not_held_;  // files of the last capture
  std::map<std::pair<std::uint64_t, std::uint64_t>, Version> by_inode_;  // set during a look
  std::int64_t allowance_ = static_cast<std::int64_t>(kMostAhead.count);
  Duration refilled_{0}, now_{0};
  bool has_looked_ = false;
};

}  // namespace lockstep::snapshot
