#pragma once
// Records who sent which blob, because knowing a digest gives no right to the blob. The ledger
// outlives the launcher, so that a node may refer to its outputs after a restart.
//
// The file has 24 bytes for each row, appended: 8 of the owner's name (the first of its SHA-256),
// 16 of the digest (snapshot::DigestKey). Rows that a power failure loses are sent again with their
// blobs; a node's rows are on disk before its blobs are acknowledged. Rows are removed with their
// blobs; when there are too many, those of the owner with the oldest activity go.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/reachable.h"

namespace lockstep::launcher {

inline constexpr std::size_t kMaxLedgerRows = 4'000'000;

// From any thread.
class BlobLedger {
 public:
  // A last row that was cut is dropped.
  static Result<std::unique_ptr<BlobLedger>> open(const std::string& path,
                                                  std::size_t most_rows = kMaxLedgerRows);

  bool has(const std::string& owner, const snapshot::DigestKey& key);
  // Those that `owner` did not send.
  std::vector<snapshot::DigestKey> not_sent(const std::string& owner,
                                            const std::vector<snapshot::DigestKey>& keys);
  // `durable`: before it returns.
  Status add(const std::string& owner, const std::vector<snapshot::DigestKey>& keys, bool durable);
  // After blobs were removed: rows of others than these (sorted) go, but for what was added since
  // begin_trim(), which comes before `here` is listed.
  void begin_trim();
  Status keep_only(const std::vector<snapshot::DigestKey>& here);
  std::size_t rows() const;

 private:
  struct KeyHash {
    std::size_t operator()(const snapshot::DigestKey& key) const noexcept;
  };
  using Keys = std::unordered_set<snapshot::DigestKey, KeyHash>;
  struct Owner {
    Keys keys;
    std::uint64_t used = 0;
  };
  using OwnerId = std::uint64_t;
  BlobLedger(std::string path, std::size_t most_rows) : path_(std::move(path)), most_(most_rows) {}
  static OwnerId id_of(const std::string& owner);
  Status load();
  Status rewrite();
  void make_room(OwnerId except);

  const std::string path_;
  const std::size_t most_;
  mutable std::mutex mutex_;  // of what follows
  io::Fd file_;
  std::unordered_map<OwnerId, Owner> owners_;
  std::size_t rows_ = 0, rows_in_file_ = 0;
  Keys fresh_;  // since begin_trim()
  bool is_trimming_ = false;
  std::uint64_t uses_ = 0;
};

}  // namespace lockstep::launcher
