#include "runner/spawn/start_block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace lockstep::spawn {
namespace {

// Reads the block's parts from front to back.
class Cursor {
 public:
  Cursor(char* base, std::size_t size) : at_(base), end_(base + size), base_(base) {}

  template <typename T>
  const T* table(std::uint32_t count) {
    const std::size_t bytes = std::size_t{count} * sizeof(T);
    if (failed_ || bytes > std::size_t(end_ - at_)) return failed_ = true, nullptr;
    const T* result = reinterpret_cast<const T*>(at_);
    at_ += bytes;
    return result;
  }
  void align(std::size_t to) {
    const std::size_t skip = (to - std::size_t(at_ - base_) % to) % to;
    table<char>(static_cast<std::uint32_t>(skip));
  }
  char* string() {
    void* end = failed_ ? nullptr : std::memchr(at_, 0, std::size_t(end_ - at_));
    if (end == nullptr) return failed_ = true, nullptr;
    char* result = at_;
    at_ = static_cast<char*>(end) + 1;
    return result;
  }
  bool finished_well() const { return !failed_ && at_ == end_; }
  bool failed() const { return failed_; }

 private:
  char* at_;
  char* end_;
  char* base_;
  bool failed_ = false;
};

bool take(Cursor& cursor, std::uint32_t count, std::vector<char*>& out) {
  for (std::uint32_t i = 0; i < count && !cursor.failed(); ++i) out.push_back(cursor.string());
  return !cursor.failed();
}

}  // namespace

MappedBlock::~MappedBlock() {
  if (base_ != nullptr) munmap(base_, size_);
}

int MappedBlock::map(int fd) {
  // Without this seal the sender could shrink the file while it is mapped.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || (seals & F_SEAL_WRITE) == 0) return EBADMSG;
  struct stat info {};
  if (fstat(fd, &info) != 0) return errno;
  if (info.st_size < static_cast<off_t>(sizeof(StartBlock)) || info.st_size > kMaxBlockBytes)
    return EBADMSG;
  size_ = static_cast<std::size_t>(info.st_size);
  void* base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (base == MAP_FAILED) return errno;
  base_ = base;
  return parse() ? 0 : EBADMSG;
}

bool MappedBlock::parse() {
  Cursor cursor(static_cast<char*>(base_), size_);
  head_ = cursor.table<StartBlock>(1);
  gids_ = cursor.table<gid_t>(head_->gids);
  cpus_ = cursor.table<int>(head_->cpus);
  cursor.align(8);
  rlimits_ = cursor.table<RlimitEntry>(head_->rlimits);
  program_ = cursor.string();
  path_ = cursor.string();
  cwd_ = cursor.string();
  if (!take(cursor, head_->argc, argv_) || !take(cursor, head_->envc, envp_) ||
      !take(cursor, head_->cgroups, cgroups_))
    return false;
  argv_.push_back(nullptr);
  envp_.push_back(nullptr);
  return cursor.finished_well() && head_->argc > 0;
}

}  // namespace lockstep::spawn
