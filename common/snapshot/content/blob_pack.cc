#include "common/snapshot/content/blob_pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "common/base/check.h"
#include "common/io/disk.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/content/pack_record.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::snapshot {

namespace {

constexpr std::uint64_t kMaxPackBytes = 256u << 20;
constexpr std::uint32_t kMagic = 0x3150534c;  // "LSP1"
constexpr std::uint32_t kPlain = 0, kZstd = 1, kCommit = 2;

std::string_view fields_of(const RecordHeader& header) {
  return {reinterpret_cast<const char*>(&header), offsetof(RecordHeader, check)};
}

void append_record(std::string& out, RecordHeader header, std::string_view data) {
  header.magic = kMagic;
  header.check = word_hash(fields_of(header));
  out.append(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(data);
}

bool is_sound(const RecordHeader& header) {
  return header.magic == kMagic && header.kind <= kCommit && header.raw_size <= kPackedBytes &&
         header.stored_size <= kPackedBytes && header.check == word_hash(fields_of(header));
}

std::optional<std::uint64_t> number_of(const std::string& name) {
  std::uint64_t number = 0;
  const auto end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  if (parsed.ec != std::errc() || std::string_view(parsed.ptr, end) != ".pack") return std::nullopt;
  return number;
}

}  // namespace

Result<std::unique_ptr<PackSet>> PackSet::open(const std::string& folder, bool cut) {
  TRY(io::make_directories(folder, 0700));
  std::unique_ptr<PackSet> set(new PackSet(folder));
  TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(folder));
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names) {
    if (const auto number = number_of(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint64_t number : numbers) {
    TRY(set->load(fmt::format("{}/{}.pack", folder, number), cut));
    set->next_number_ = number + 1;
  }
  return set;
}

Status PackSet::load(const std::string& path, bool cut) {
  TRY_ASSIGN(io::Fd fd, io::open_file(path, O_RDWR | O_CLOEXEC));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return errno_error(errno, "cannot stat " + path);
  const auto file_size = static_cast<std::uint64_t>(info.st_size);
  const auto pack = static_cast<std::uint32_t>(packs_.size());
  std::vector<std::pair<Digest, Location>> records;
  std::uint64_t at = 0, trusted = 0;
  while (at + sizeof(RecordHeader) <= file_size) {
    RecordHeader header;
    TRY(read_exactly_at(fd.get(), at, &header, sizeof header, path));
    if (!is_sound(header) || at + sizeof header + header.stored_size > file_size) break;
    if (header.kind == kCommit) {
      trusted = std::max(trusted, std::min(header.covered, at));
    } else {
      Digest digest;
      std::memcpy(digest.bytes.data(), header.digest, sizeof header.digest);
      records.push_back(
          {digest,
           {pack, header.raw_size, header.stored_size, header.kind == kZstd, at + sizeof header}});
    }
    at += sizeof header + header.stored_size;
  }
  const std::uint64_t end = verified_end(fd.get(), records, trusted, at);
  if (cut && end < file_size && io::disk::ftruncate(fd.get(), static_cast<off_t>(end)) != 0) {
    return errno_error(errno, "cannot truncate the unfinished end of " + path);
  }
  for (const auto& [digest, location] : records) {
    if (location.offset + location.stored_size <= end) index_[digest] = location;
  }
  packs_.push_back({path, std::make_shared<io::Fd>(std::move(fd))});
  end_ = end;
  const bool all_durable = std::none_of(records.begin(), records.end(), [&](const auto& record) {
    return record.second.offset + record.second.stored_size > trusted;
  });
  synced_ = all_durable ? end : std::min(trusted, end);
  return {};
}

// The end of the verified records. After a crash of the machine, the bytes after the last commit
// mark may be anything.
std::uint64_t PackSet::verified_end(int fd, const std::vector<std::pair<Digest, Location>>& records,
                                    std::uint64_t trusted, std::uint64_t end) const {
  std::string data;
  for (const auto& [digest, location] : records) {
    if (location.offset + location.stored_size <= trusted) continue;
    data.resize(location.stored_size);
    bool sound = read_exactly_at(fd, location.offset, data.data(), data.size(), "").has_value();
    if (sound && location.compressed) {
      auto raw = decompress(data, location.raw_size);
      sound = raw.has_value();
      if (sound) data = *std::move(raw);
    }
    if (!sound || sha256(data) != digest) return location.offset - sizeof(RecordHeader);
  }
  return end;
}

bool PackSet::has(const Digest& digest) const {
  std::shared_lock lock(index_mutex_);
  return index_.count(digest) != 0;
}

std::optional<std::uint64_t> PackSet::size(const Digest& digest) const {
  std::shared_lock lock(index_mutex_);
  const auto found = index_.find(digest);
  if (found == index_.end()) return std::nullopt;
  return found->second.raw_size;
}

Result<PackedBlob> PackSet::read(const Digest& digest) const {
  Location location;
  std::shared_ptr<io::Fd> fd;
  std::string path;
  {
    std::shared_lock lock(index_mutex_);
    const auto found = index_.find(digest);
    if (found == index_.end()) return make_error(ErrorCode::not_found, "no blob " + digest.hex());
    location = found->second;
    fd = packs_[location.pack].fd;
    path = packs_[location.pack].path;
  }
  PackedBlob blob{location.raw_size, location.compressed, std::string(location.stored_size, '\0')};
  TRY(read_exactly_at(fd->get(), location.offset, blob.data.data(), blob.data.size(), path));
  return blob;
}

Status PackSet::append(const Digest& digest, std::uint32_t raw_size, bool compressed,
                       std::string_view data) {
  CHECK(raw_size <= kPackedBytes && data.size() <= kPackedBytes, "only small blobs are packed");
  std::lock_guard lock(append_mutex_);
  if (has(digest)) return {};
  TRY_ASSIGN(const Location location, write_record(digest, raw_size, compressed, data));
  std::unique_lock index_lock(index_mutex_);
  index_[digest] = location;
  return {};
}

Result<PackSet::Location> PackSet::write_record(const Digest& digest, std::uint32_t raw_size,
                                                bool compressed, std::string_view data) {
  if (packs_.empty() || sealed_ || end_ >= kMaxPackBytes) TRY(start_pack());
  RecordHeader header;
  header.kind = compressed ? kZstd : kPlain;
  header.raw_size = raw_size;
  header.stored_size = static_cast<std::uint32_t>(data.size());
  std::memcpy(header.digest, digest.bytes.data(), sizeof header.digest);
  std::string record;
  record.reserve(sizeof header + data.size());
  append_record(record, header, data);
  const std::uint64_t offset = end_ + sizeof header;
  TRY(write_at_end(record));
  return Location{static_cast<std::uint32_t>(packs_.size() - 1), raw_size, header.stored_size,
                  compressed, offset};
}

// Starts a pack. A full pack is made durable before the next one starts, because synced_ covers the
// last pack only.
Status PackSet::start_pack() {
  if (!packs_.empty() && !sealed_ && io::disk::fdatasync(packs_.back().fd->get()) != 0)
    return cut_back(packs_.size() - 1, synced_, errno);
  if (!packs_.empty() && synced_ < end_) {
    std::string mark;
    RecordHeader header;
    header.kind = kCommit;
    header.covered = end_;
    append_record(mark, header, {});
    TRY(write_at_end(mark));
  }
  const std::string path = fmt::format("{}/{}.pack", folder_, next_number_);
  TRY_ASSIGN(io::Fd fd, io::open_file(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (const Status synced = sync_directory(folder_); !synced) {
    io::disk::unlink(path.c_str());
    return synced;
  }
  ++next_number_;
  std::unique_lock lock(index_mutex_);
  packs_.push_back({path, std::make_shared<io::Fd>(std::move(fd))});
  end_ = synced_ = 0;
  sealed_ = false;
  return {};
}

// The caller holds append_mutex_. Records after `from` were not reported as durable. The kernel may
// have dropped them, and a second sync would still succeed.
Status PackSet::cut_back(std::size_t number, std::uint64_t from, int error) {
  const Pack pack = packs_[number];
  const Status failed = errno_error(error, "cannot fdatasync " + pack.path);
  ++cut_backs_;
  {
    std::unique_lock lock(index_mutex_);
    std::erase_if(index_, [&](const auto& entry) {
      return entry.second.pack == number && entry.second.offset >= from;
    });
  }
  if (number + 1 == packs_.size()) {
    sealed_ = true;
    end_ = synced_ = from;
  }
  if (io::disk::ftruncate(pack.fd->get(), static_cast<off_t>(from)) != 0)
    return errno_error(errno,
                       "cannot truncate " + pack.path + ", whose end could not be made durable");
  return failed;
}

Status PackSet::write_at_end(std::string_view record) {
  const Pack& pack = packs_.back();
  auto written = write_all_at(pack.fd->get(), end_, record, pack.path);
  if (!written) {
    // An incomplete record is removed: a later one must follow the last whole one.
    if (io::disk::ftruncate(pack.fd->get(), static_cast<off_t>(end_)) != 0) {
      return errno_error(errno, "cannot truncate the unfinished end of " + pack.path);
    }
    return written;
  }
  end_ += record.size();
  return {};
}

bool PackSet::dirty() const {
  std::lock_guard lock(append_mutex_);
  return synced_ < end_;
}

Status PackSet::sync() {
  std::lock_guard sync_lock(sync_mutex_);
  std::shared_ptr<io::Fd> file;
  std::size_t number = 0;
  std::uint64_t covered = 0, before = 0, cut_backs = 0;
  {
    std::lock_guard lock(append_mutex_);
    if (packs_.empty() || synced_ == end_) return {};
    number = packs_.size() - 1;
    file = packs_.back().fd;
    covered = end_;
    before = synced_;
    cut_backs = cut_backs_;
  }
  const int error = io::disk::fdatasync(file->get()) != 0 ? errno : 0;
  std::lock_guard lock(append_mutex_);
  if (error != 0) return cut_back(number, before, error);
  // The kernel reported the error to start_pack, and reports it only once.
  if (cut_backs_ != cut_backs)
    return make_error(ErrorCode::io, "cannot fdatasync " + packs_[number].path);
  if (packs_.size() != number + 1) return {};  // start_pack has already synced it
  std::string mark;
  RecordHeader header;
  header.kind = kCommit;
  header.covered = covered;
  append_record(mark, header, {});
  const bool nothing_since = end_ == covered;
  TRY(write_at_end(mark));
  synced_ = nothing_since ? end_ : covered;
  return {};
}

std::vector<Digest> PackSet::digests() const {
  std::shared_lock lock(index_mutex_);
  std::vector<Digest> all;
  all.reserve(index_.size());
  for (const auto& [digest, location] : index_) all.push_back(digest);
  return all;
}

}  // namespace lockstep::snapshot
