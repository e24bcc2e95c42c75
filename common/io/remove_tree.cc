// Removes trees that others have made: iteratively, with few descriptors and without paths.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "common/io/beneath.h"
#include "common/io/disk.h"
#include "common/io/file_error.h"
#include "common/io/file_system.h"
#include "common/io/folder_stack.h"

namespace lockstep::io {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// How often an emptied folder may turn out not to be empty: its file system left out a name, or
// somebody adds files.
constexpr int kMostRefills = 10'000;

class Remover {
 public:
  explicit Remover(const std::string& shown) : stack_(shown, FolderStack::Reopened::from_start) {}
  // Empties the folder `name` of `parent` and removes it.
  Status run(int parent, const std::string& name);

 private:
  Status step();
  Status remove_entry(const std::string& name, unsigned char type);
  Status enter(int parent, const std::string& name);
  Status leave();
  Status refilled();

  FolderStack stack_;
  std::uint64_t mount_ = 0;
  int refills_ = 0;
};

// Opens a folder to remove it. It may have no permissions; its owner may remove it all the same.
Fd open_for_removal(int parent, const std::string& name) {
  Fd folder(disk::openat(parent, name.c_str(), kFolder));
  if (folder || errno != EACCES) return folder;
  const Fd closed(
      disk::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!closed || disk::fchmod_path(closed.get(), 0700) != 0) {
    errno = EACCES;
    return {};
  }
  return Fd(disk::openat(parent, name.c_str(), kFolder));
}

bool is_not_a_folder(int errnum) { return errnum == ENOTDIR || errnum == ELOOP; }
bool is_not_empty(int errnum) { return errnum == ENOTEMPTY || errnum == EEXIST; }

Status Remover::run(int parent, const std::string& name) {
  for (;;) {
    TRY(enter(parent, name));
    while (!stack_.empty()) TRY(step());
    if (disk::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (!is_not_empty(errno)) return file_error(errno, "remove", stack_.shown());
    TRY(refilled());
  }
}

Status Remover::step() {
  TRY_ASSIGN(const dirent* entry, stack_.next());
  return entry == nullptr ? leave() : remove_entry(entry->d_name, entry->d_type);
}

// Removes an entry. It may change between two calls, so each call reports what it found.
Status Remover::remove_entry(const std::string& name, unsigned char type) {
  const int parent = stack_.fd();
  if (type != DT_DIR) {
    if (disk::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return file_error(errno, "remove", stack_.shown(name));
  }
  if (disk::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  if (errno == ENOTDIR) {
    if (type != DT_DIR) return file_error(EPERM, "remove", stack_.shown(name));
    return remove_entry(name, DT_UNKNOWN);
  }
  if (!is_not_empty(errno) && errno != EBUSY && errno != EACCES && errno != EPERM)
    return file_error(errno, "remove", stack_.shown(name));
  return enter(parent, name);
}

Status Remover::enter(int parent, const std::string& name) {
  const bool is_top = stack_.empty();
  const std::string shown = is_top ? stack_.shown() : stack_.shown(name);
  Fd folder = open_for_removal(parent, name);
  if (!folder && (errno == ENOENT || (!is_top && is_not_a_folder(errno)))) return {};
  FolderFacts facts;
  if (!folder || !look_at_folder(folder.get(), facts)) return file_error(errno, "remove", shown);
  if (is_top) mount_ = facts.mount;
  if (facts.mount != mount_)
    return make_error(ErrorCode::conflict,
                      "remove " + shown + ": a file system is mounted there; unmount it");
  if ((facts.mode & 0700) != 0700) static_cast<void>(disk::fchmod(folder.get(), 0700));
  return stack_.enter(std::move(folder), facts, name);
}

// Removes the folder from the one above it, by its name or as one of its entries.
Status Remover::leave() {
  const bool is_top = stack_.depth() == 1;
  TRY_ASSIGN(const std::string name, stack_.leave());
  if (is_top || name.empty()) return {};
  if (disk::unlinkat(stack_.fd(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  if (!is_not_empty(errno) && !is_not_a_folder(errno))
    return file_error(errno, "remove", stack_.shown(name));
  stack_.rewind();
  return refilled();
}

Status Remover::refilled() {
  if (++refills_ < kMostRefills) return {};
  return make_error(ErrorCode::conflict,
                    "remove " + stack_.shown() +
                        ": new files keep appearing in it; end the processes that write there");
}

}  // namespace

Status remove_tree_at(int folder, const std::string& name, const std::string& shown) {
  if (disk::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return file_error(errno, "remove", shown);
  return Remover(shown).run(folder, name);
}

Status remove_tree(const std::string& path) { return remove_tree_at(AT_FDCWD, path, path); }

}  // namespace lockstep::io
