#pragma once
// Records who sent which blob; knowing a blob's digest is not enough to be recorded. It is a file,
// so that a node which reports its outputs after the launcher's restart is still known to have sent
// them.
//
// The file is appended to, 24 bytes for each row: the first 8 of the SHA-256 of the owner's name,
// and 16 of the digest (snapshot::DigestKey). Rows of users that a power failure loses cost them a
// second upload; a node's rows are on disk before the launcher confirms its blobs. A row is removed
// with its blob; when there are too many rows, the owner who has the most loses their oldest.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/content/reachable.h"

namespace lockstep::launcher {

// The largest tree fits into it.
inline constexpr std::size_t kMaxLedgerRows = snapshot::kMaxReachable + 500'000;

// The rows of blobs and their owners. May be called from any thread.
class BlobLedger {
 public:
  // Drops an incomplete last row, and logs that.
  static Result<std::unique_ptr<BlobLedger>> open(const std::string& path,
                                                  std::size_t most_rows = kMaxLedgerRows);

  bool has(const std::string& owner, const snapshot::DigestKey& key);
  // Returns the keys that `owner` did not send.
  std::vector<snapshot::DigestKey> not_sent(const std::string& owner,
                                            std::span<const snapshot::DigestKey> keys);
  // Adds rows. `durable`: they are on disk when it returns. After an error none of them is known.
  Status add(const std::string& owner, const std::vector<snapshot::DigestKey>& keys, bool durable);
  // Removes rows after blobs were removed: keeps the rows of the blobs in `here` (sorted), and the
  // rows added since begin_trim(). Call begin_trim() before listing `here`.
  void begin_trim();
  Status keep_only(const std::vector<snapshot::DigestKey>& here);
  std::size_t rows() const;

 private:
  struct KeyHash {
    std::size_t operator()(const snapshot::DigestKey& key) const noexcept;
  };
  using Keys = std::unordered_set<snapshot::DigestKey, KeyHash>;
  // An owner's rows in the order of their arrival, so that the oldest can be removed first; no
  // owner is without rows.
  struct Owner {
    std::deque<Keys> parts;
    std::size_t rows = 0;
    bool has(const snapshot::DigestKey& key) const;
  };
  using OwnerId = std::uint64_t;
  BlobLedger(std::string path, std::size_t most_rows)
      : path_(std::move(path)), most_(most_rows), most_of_part_(most_rows / kParts + 1) {}
  // The parts that the rows of one owner may be divided into.
  static constexpr std::size_t kParts = 16;
  static OwnerId id_of(const std::string& owner);
  Status load();
  Status append(const std::string& rows, bool durable);
  void cut_back();  // cuts the file back to rows_in_file_
  void compact();
  Status rewrite();
  bool insert(Owner& owner, const snapshot::DigestKey& key);
  void make_room();

  const std::string path_;
  const std::size_t most_, most_of_part_;
  mutable std::mutex mutex_;  // guards all that follows
  io::Fd file_;
  std::unordered_map<OwnerId, Owner> owners_;
  std::size_t rows_ = 0, rows_in_file_ = 0;
  bool must_rewrite_ = false;  // the file does not end where rows_in_file_ says, or is damaged
  Keys fresh_;                 // the rows added since begin_trim()
  bool is_trimming_ = false;
};

}  // namespace lockstep::launcher
