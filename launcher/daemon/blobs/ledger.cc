#include "launcher/daemon/blobs/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/io/disk.h"

namespace lockstep::launcher {

using snapshot::DigestKey;

namespace {

constexpr std::size_t kKeyBytes = sizeof(DigestKey);
constexpr std::size_t kRowBytes = sizeof(std::uint64_t) + kKeyBytes;
constexpr std::size_t kSparedRows = 100'000;  // removed rows in the file, before it is rewritten

void append_row(std::string& to, std::uint64_t owner, const DigestKey& key) {
  to.append(reinterpret_cast<const char*>(&owner), sizeof owner);
  to.append(reinterpret_cast<const char*>(key.data()), kKeyBytes);
}

}  // namespace

std::size_t BlobLedger::KeyHash::operator()(const DigestKey& key) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, key.data(), sizeof hash);
  return hash;
}

BlobLedger::OwnerId BlobLedger::id_of(const std::string& owner) {
  OwnerId id = 0;
  std::memcpy(&id, sha256(owner).bytes.data(), sizeof id);
  return id;
}

Result<std::unique_ptr<BlobLedger>> BlobLedger::open(const std::string& path,
                                                     std::size_t most_rows) {
  std::unique_ptr<BlobLedger> ledger(new BlobLedger(path, most_rows));
  ledger->file_.reset(
      io::disk::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!ledger->file_) return errno_error(errno, "cannot open " + path);
  TRY(ledger->load());
  return ledger;
}

Status BlobLedger::load() {
  TRY_ASSIGN(const std::string bytes, io::read_file(path_, gibibytes(1)));
  for (std::size_t at = 0; at + kRowBytes <= bytes.size(); at += kRowBytes) {
    OwnerId owner = 0;
    DigestKey key;
    std::memcpy(&owner, bytes.data() + at, sizeof owner);
    std::memcpy(key.data(), bytes.data() + at + sizeof owner, kKeyBytes);
    if (insert(owners_[owner], key)) make_room();
  }
  rows_in_file_ = bytes.size() / kRowBytes;
  if (const std::size_t torn = bytes.size() % kRowBytes; torn != 0) {
    spdlog::warn(
        "{} ended in {} bytes of an unfinished row, which are dropped: the user who sent that blob "
        "sends it again",
        path_, torn);
    cut_back();
  }
  compact();
  return {};
}

bool BlobLedger::has(const std::string& owner, const DigestKey& key) {
  return not_sent(owner, {&key, 1}).empty();
}

std::vector<DigestKey> BlobLedger::not_sent(const std::string& owner,
                                            std::span<const DigestKey> keys) {
  const OwnerId id = id_of(owner);
  const std::lock_guard guard(mutex_);
  const auto found = owners_.find(id);
  if (found == owners_.end()) return {keys.begin(), keys.end()};
  std::vector<DigestKey> others;
  for (const DigestKey& key : keys)
    if (!found->second.has(key)) others.push_back(key);
  return others;
}

bool BlobLedger::Owner::has(const DigestKey& key) const {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Keys& part) { return part.count(key) != 0; });
}

// Adds a row. False: it exists already.
bool BlobLedger::insert(Owner& owner, const DigestKey& key) {
  if (owner.has(key)) return false;
  if (owner.parts.empty() || owner.parts.back().size() >= most_of_part_) owner.parts.emplace_back();
  owner.parts.back().insert(key);
  ++owner.rows;
  ++rows_;
  return true;
}

// Adds rows. A row counts only once it is in the file. Otherwise it would count until a restart and
// be lost after it.
Status BlobLedger::add(const std::string& owner, const std::vector<DigestKey>& keys, bool durable) {
  const OwnerId id = id_of(owner);
  const std::lock_guard guard(mutex_);
  if (must_rewrite_) TRY(rewrite());
  Owner& mine = owners_[id];
  std::vector<DigestKey> added;
  std::string rows;
  for (const DigestKey& key : keys) {
    if (is_trimming_) fresh_.insert(key);
    if (mine.has(key)) continue;
    added.push_back(key);
    append_row(rows, id, key);
  }
  if (rows.empty()) return {};
  TRY(append(rows, durable));
  for (const DigestKey& key : added) insert(mine, key);
  rows_in_file_ += added.size();
  make_room();
  compact();
  return {};
}

Status BlobLedger::append(const std::string& rows, bool durable) {
  if (const Status written = io::write_all(file_.get(), rows); !written) {
    cut_back();
    return written.error().within(path_);
  }
  if (!durable || io::disk::fdatasync(file_.get()) == 0) return {};
  const Error failed = errno_error(errno, "cannot make durable the rows written into " + path_);
  cut_back();
  must_rewrite_ = true;  // earlier rows may be lost, too, and another sync would not report that
  return failed;
}

// Cuts off a partial row, which would shift all rows after it.
void BlobLedger::cut_back() {
  const auto end = static_cast<off_t>(rows_in_file_ * kRowBytes);
  if (io::disk::ftruncate(file_.get(), end) != 0) must_rewrite_ = true;
}

// Compacts the file. Its rows are already there, so a failure only costs space; adding the next row
// tries again.
void BlobLedger::compact() {
  if (rows_in_file_ <= rows_ * 2 + kSparedRows) return;
  if (const Status written = rewrite(); !written)
    spdlog::warn("cannot write {} anew without the rows that went: {}", path_,
                 written.error().message);
}

// The owner with most rows loses rows, so nobody can make others lose theirs by sending much. That
// owner sends blobs again when asked, or has them in the sources of their jobs.
void BlobLedger::make_room() {
  while (rows_ > most_) {
    const auto most = std::max_element(
        owners_.begin(), owners_.end(),
        [](const auto& a, const auto& b) { return a.second.rows < b.second.rows; });
    Owner& owner = most->second;
    owner.rows -= owner.parts.front().size();
    rows_ -= owner.parts.front().size();
    owner.parts.pop_front();
    if (owner.parts.empty()) owners_.erase(most);
  }
}

void BlobLedger::begin_trim() {
  const std::lock_guard guard(mutex_);
  is_trimming_ = true;
}

Status BlobLedger::keep_only(const std::vector<DigestKey>& here) {
  const std::lock_guard guard(mutex_);
  const Keys fresh = std::exchange(fresh_, {});
  is_trimming_ = false;
  rows_ = 0;
  for (auto it = owners_.begin(); it != owners_.end();) {
    Owner& owner = it->second;
    owner.rows = 0;
    for (Keys& part : owner.parts) {
      std::erase_if(part, [&](const DigestKey& key) {
        return fresh.count(key) == 0 && !std::binary_search(here.begin(), here.end(), key);
      });
      owner.rows += part.size();
    }
    std::erase_if(owner.parts, [](const Keys& part) { return part.empty(); });
    rows_ += owner.rows;
    it = owner.parts.empty() ? owners_.erase(it) : std::next(it);
  }
  return rows_in_file_ > rows_ * 2 + kSparedRows ? rewrite() : Status();
}

Status BlobLedger::rewrite() {
  std::string rows;
  rows.reserve(rows_ * kRowBytes);
  for (const auto& [id, owner] : owners_)
    for (const Keys& part : owner.parts)
      for (const DigestKey& key : part) append_row(rows, id, key);
  must_rewrite_ = true;  // the open file may have been replaced by name
  TRY(io::write_file_atomically(path_, rows, 0600));
  file_.reset(io::disk::open(path_.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0));
  if (!file_) return errno_error(errno, "cannot open " + path_);
  rows_in_file_ = rows_;
  must_rewrite_ = false;
  return {};
}

std::size_t BlobLedger::rows() const {
  const std::lock_guard guard(mutex_);
  return rows_;
}

}  // namespace lockstep::launcher
