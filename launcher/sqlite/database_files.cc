#include "launcher/sqlite/database_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "common/io/disk.h"
#include "common/io/durable_copy.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {

namespace {

constexpr const char* kBeside[] = {"-journal", "-wal", "-shm"};

Status remove_file(const std::string& path) {
  if (io::disk::unlink(path.c_str()) != 0 && errno != ENOENT)
    return errno_error(errno, "cannot remove " + path);
  return {};
}

// Without these SQLite would take the WAL of one database for that of another.
Status remove_beside(const std::string& path) {
  for (const char* end : kBeside) TRY(remove_file(path + end));
  return {};
}

Status move_file(const std::string& from, const std::string& to) {
  if (io::disk::rename(from.c_str(), to.c_str()) != 0)
    return errno_error(errno, fmt::format("cannot move {} to {}", from, to));
  return {};
}

}  // namespace

Status remove_database(const std::string& path) {
  TRY(remove_file(path));
  return remove_beside(path);
}

Result<std::string> set_aside(const std::string& path) {
  const std::string kept = path + ".damaged";
  TRY(remove_database(kept));
  // The WAL first: the database alone would lose it.
  if (io::exists(path + "-wal")) TRY(move_file(path + "-wal", kept + "-wal"));
  TRY(move_file(path, kept));
  TRY(remove_beside(path));
  return kept;
}

Status replace_database(const std::string& from, const std::string& to) {
  if (io::exists(from + "-wal"))
    return make_error(ErrorCode::conflict, from + ": is still open, or has a WAL beside it");
  {
    TRY_ASSIGN(const io::Fd file, io::open_file(from, O_RDONLY | O_CLOEXEC));
    if (io::disk::fsync(file.get()) != 0) return errno_error(errno, "cannot sync " + from);
  }
  TRY(remove_beside(to));
  TRY(move_file(from, to));
  return io::sync_directory(to.substr(0, to.rfind('/')));
}

}  // namespace lockstep::launcher
