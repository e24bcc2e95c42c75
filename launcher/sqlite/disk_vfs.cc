#include "launcher/sqlite/disk_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "common/base/check.h"
#include "common/io/disk.h"

namespace lockstep::launcher {

namespace {

using io::disk::Call;

constexpr const char* kName = "lockstep-disk";

thread_local int last_errno = 0;

// SQLite allocates szOsFile bytes: ours, and behind it those of the VFS that does the work.
struct DiskFile {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<DiskFile*>(file)->real(); }
const sqlite3_io_methods& its(sqlite3_file* file) { return *real(file)->pMethods; }
sqlite3_vfs* real(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

// `otherwise`, or that the disk is full, when a fault stands in front of it. SQLite reads errno.
int refused(Call call, int otherwise, std::size_t bytes = 0) {
  const auto fault = io::disk::fault(call, bytes);
  if (!fault) return SQLITE_OK;
  errno = last_errno = fault->error;
  const bool full = fault->error == ENOSPC || fault->error == EDQUOT;
  return full && call != Call::sync ? SQLITE_FULL : otherwise;
}

// What the VFS below made of a call, with its reason kept.
int noted(sqlite3_file* file, int code) {
  int reason = 0;
  if (code != SQLITE_OK &&
      its(file).xFileControl(real(file), SQLITE_FCNTL_LAST_ERRNO, &reason) == SQLITE_OK)
    last_errno = reason;
  return code;
}

// ---- one file -----------------------------------------------------------------------------------

int close_file(sqlite3_file* file) { return its(file).xClose(real(file)); }
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return its(file).xRead(real(file), to, size, offset);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const auto bytes = static_cast<std::size_t>(size);
  const auto fault = io::disk::fault(Call::write, bytes);
  if (!fault) return noted(file, its(file).xWrite(real(file), from, size, offset));
  const int first = static_cast<int>(std::min(fault->first.value_or(0), bytes));
  if (first > 0) (void)its(file).xWrite(real(file), from, first, offset);
  errno = last_errno = fault->error;
  return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const int no = refused(Call::resize, SQLITE_IOERR_TRUNCATE);
  return no != SQLITE_OK ? no : noted(file, its(file).xTruncate(real(file), size));
}
int sync_file(sqlite3_file* file, int flags) {
  const int no = refused(Call::sync, SQLITE_IOERR_FSYNC);
  return no != SQLITE_OK ? no : noted(file, its(file).xSync(real(file), flags));
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return its(file).xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) { return its(file).xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return its(file).xUnlock(real(file), level); }
int is_reserved(sqlite3_file* file, int* out) {
  return its(file).xCheckReservedLock(real(file), out);
}
int control_file(sqlite3_file* file, int what, void* argument) {
  return its(file).xFileControl(real(file), what, argument);
}
int sector_size(sqlite3_file* file) { return its(file).xSectorSize(real(file)); }
int traits(sqlite3_file* file) { return its(file).xDeviceCharacteristics(real(file)); }
int map_index(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  const int no = extend != 0 ? refused(Call::resize, SQLITE_IOERR_SHMSIZE) : SQLITE_OK;
  return no != SQLITE_OK ? no : its(file).xShmMap(real(file), region, size, extend, out);
}
int lock_index(sqlite3_file* file, int offset, int count, int flags) {
  return its(file).xShmLock(real(file), offset, count, flags);
}
void order_index(sqlite3_file* file) { its(file).xShmBarrier(real(file)); }
int unmap_index(sqlite3_file* file, int remove) { return its(file).xShmUnmap(real(file), remove); }
int fetch(sqlite3_file* file, sqlite3_int64 offset, int size, void** out) {
  return its(file).xFetch(real(file), offset, size, out);
}
int unfetch(sqlite3_file* file, sqlite3_int64 offset, void* page) {
  return its(file).xUnfetch(real(file), offset, page);
}

constexpr sqlite3_io_methods kMethods = {
    3,          close_file,  read_file,   write_file,   truncate_file, sync_file, file_size,
    lock_file,  unlock_file, is_reserved, control_file, sector_size,   traits,    map_index,
    lock_index, order_index, unmap_index, fetch,        unfetch};

// ---- the file system ----------------------------------------------------------------------------

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  auto* ours = new (file) DiskFile{};
  if ((flags & SQLITE_OPEN_READWRITE) != 0) {
    const int no = refused(Call::create, SQLITE_CANTOPEN);
    if (no != SQLITE_OK) return no;
  }
  const int code = real(vfs)->xOpen(real(vfs), name, ours->real(), flags, out);
  if (code != SQLITE_OK) last_errno = errno;
  if (ours->real()->pMethods == nullptr) return code;
  CHECK(ours->real()->pMethods->iVersion >= kMethods.iVersion, "SQLite's unix VFS knows WAL");
  file->pMethods = &kMethods;
  return code;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  const int no = refused(Call::remove, SQLITE_IOERR_DELETE);
  return no != SQLITE_OK ? no : real(vfs)->xDelete(real(vfs), name, sync_folder);
}

// The rest is the real one's own.
int access_file(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
  return real(vfs)->xAccess(real(vfs), name, flags, out);
}
int full_path(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return real(vfs)->xFullPathname(real(vfs), name, size, out);
}
int random_bytes(sqlite3_vfs* vfs, int size, char* out) {
  return real(vfs)->xRandomness(real(vfs), size, out);
}
int sleep_for(sqlite3_vfs* vfs, int microseconds) {
  return real(vfs)->xSleep(real(vfs), microseconds);
}
int day_now(sqlite3_vfs* vfs, double* out) { return real(vfs)->xCurrentTime(real(vfs), out); }
int last_error(sqlite3_vfs* vfs, int size, char* out) {
  return real(vfs)->xGetLastError(real(vfs), size, out);
}
int time_now(sqlite3_vfs* vfs, sqlite3_int64* out) {
  return real(vfs)->xCurrentTimeInt64(real(vfs), out);
}

bool put_in_front() {
  static sqlite3_vfs vfs{};
  sqlite3_vfs* below = sqlite3_vfs_find("unix");
  CHECK(below != nullptr && below->iVersion >= 2, "SQLite has its VFS for unix");
  vfs.iVersion = 2;
  vfs.szOsFile = static_cast<int>(sizeof(DiskFile)) + below->szOsFile;
  vfs.mxPathname = below->mxPathname;
  vfs.zName = kName;
  vfs.pAppData = below;
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = full_path;
  vfs.xRandomness = random_bytes;
  vfs.xSleep = sleep_for;
  vfs.xCurrentTime = day_now;
  vfs.xGetLastError = last_error;
  vfs.xCurrentTimeInt64 = time_now;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

}  // namespace

int take_sqlite_errno() { return std::exchange(last_errno, 0); }

const char* sqlite_disk() {
  static const bool registered = put_in_front();
  CHECK(registered, "SQLite takes a VFS");
  return kName;
}

}  // namespace lockstep::launcher
