#pragma once
// The environments built on this node, on disk: the ready ones, the failures, and the logs. It
// defines the tree below <home>/environments; no other file builds paths in it.
//
//   <root>/                    0711: ranks of other users pass through to their environments
//     <uid>/                   0711; the agent owns it and all below, unless stated
//       packages/              0700, owned by the user: its cache of fetched packages
//       archives/              0711: package files from other nodes, for running builds
//       packages.lock          shared by builds; exclusive for removing packages/
//       <key>/                 one environment; its modification time is its last use
//       solve-<key>/           the same for one solve
//         env/                 0700, owned by the user: the prefix; a venv cannot be moved later
//         tmp/                 0700, owned by the user: TMPDIR of the tools, while they work
//         lock/lock.json       the solved lock, until the launcher has it
//         lock/image/          the image that the lock names, if other nodes need it
//         log                  of the build
//         cgroups              the build's cgroup directories, one per line
//         wanted/              the files to fetch from the channel, while packages are shared
//         context/             the image's build context, while it is built
//         engine/              0700: files of the container engine's client; its TMPDIR
//         image/               the image from a lock's tree, while an engine loads it
//         image.json           image names given to an engine: envs/docker/record.h
//         built.json           when, by which job, how large
//         activation.json      written last: the environment is ready
//         failure.json         why the build failed and would fail again
//         solved.json          the launcher has the lock
//       <key>.lock             held while the entry is made or removed
//       gone-<n>               an entry that is being removed
//
// packages/, archives/ and packages.lock may be below another root instead, which several agents of
// one machine share.
//
// For worker threads. Files that users own are made and removed only below folders that the agent
// owns, so that no symlink of theirs leads outside.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/environment/definition.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "envs/docker/record.h"

namespace lockstep::agent {

// Holds the lock of an entry while this object exists. It is a flock(2): every process that
// inherited the descriptor holds it too, so a build's remaining processes keep the entry locked.
class EntryLock {
 public:
  enum class Kind { exclusive, shared };
  // Takes the lock; nullopt: another process holds it.
  static Result<std::optional<EntryLock>> try_acquire(const std::string& path, Kind kind);
  int fd() const { return fd_.get(); }

 private:
  explicit EntryLock(io::Fd fd) : fd_(std::move(fd)) {}
  io::Fd fd_;
};

// The paths of one entry of the tree above.
class CacheEntry {
 public:
  // `shared`: the folder of packages/, if it is not `owner`.
  CacheEntry(std::string owner, std::string name, std::string shared = "")
      : owner_(std::move(owner)),
        name_(std::move(name)),
        shared_(shared.empty() ? owner_ : std::move(shared)) {}

  const std::string& name() const { return name_; }
  std::string path() const { return owner_ + "/" + name_; }
  std::string lock_file() const { return path() + ".lock"; }
  std::string prefix() const { return path() + "/env"; }
  std::string scratch() const { return path() + "/tmp"; }
  std::string solved_folder() const { return path() + "/lock"; }
  std::string solved_image() const { return solved_folder() + "/image"; }
  std::string context() const { return path() + "/context"; }
  std::string image() const { return path() + "/image"; }
  std::string engine() const { return path() + "/engine"; }
  std::string image_record() const { return path() + "/image.json"; }
  std::string log() const { return path() + "/log"; }
  std::string cgroups() const { return path() + "/cgroups"; }
  std::string built() const { return path() + "/built.json"; }
  std::string activation() const { return path() + "/activation.json"; }
  std::string failure() const { return path() + "/failure.json"; }
  std::string solved() const { return path() + "/solved.json"; }
  std::string packages() const { return shared_ + "/packages"; }
  std::string archives() const { return shared_ + "/archives"; }
  std::string wanted() const { return path() + "/wanted"; }
  std::string packages_lock() const { return shared_ + "/packages.lock"; }

 private:
  std::string owner_, name_, shared_;
};

struct BuiltEnvironment {
  Activation activation;
  Instant at;  // wall clock
  std::string job;
};

struct RememberedFailure {
  Error error;
  Instant at;
  std::string job;
};

class EnvironmentCache {
 public:
  // `packages`: the root of packages/, archives/ and packages.lock, if it is not `root`.
  explicit EnvironmentCache(std::string root, const std::string& packages = "")
      : root_(std::move(root)), packages_(packages.empty() ? root_ : packages) {}

  CacheEntry built(const io::User& user, const Digest& key) const;
  CacheEntry solve(const io::User& user, const Digest& key) const;
  // Makes a new entry with a unique name for temporary work; the caller locks and removes it.
  CacheEntry scratch(const io::User& user) const;

  // Finds a built environment and marks it as used now; takes a few system calls. nullopt: the
  // environment is not ready.
  static std::optional<BuiltEnvironment> find(const CacheEntry& entry);
  static std::optional<RememberedFailure> find_failure(const CacheEntry& entry);

  // Makes the user's folders, which hold the lock files.
  Status open_for(const io::User& user) const;
  // Makes the entry new and empty, with the folders that the user's tools work in. The caller must
  // hold its lock.
  Status begin(const CacheEntry& entry, const io::User& user) const;
  static Status keep(const CacheEntry& entry, const BuiltEnvironment& built);
  // Records the entry's size if it is unknown. Until then, list() measures it on each call.
  static void measure(const CacheEntry& entry);
  static Status keep_failure(const CacheEntry& entry, const RememberedFailure& failure);
  // Writes the lock into solved_folder(), from which it is sent to the launcher.
  static Status keep_solved(const CacheEntry& entry, std::string_view lock);
  static void forget_solved(const CacheEntry& entry);
  // The image names that an engine has for this entry; `engine` is "" if there are none.
  static envs::ImageRecord image_record_of(const CacheEntry& entry);
  // Removes the folders that only a running build needs.
  static void drop_scratch(const CacheEntry& entry);
  // Makes tmp/ and engine/ for the next tool if they do not exist.
  static Status renew_scratch(const CacheEntry& entry, const io::User& user);
  // Removes archives/, unless a running build may need it.
  static void drop_archives(const CacheEntry& entry);
  static void drop_prefix(const CacheEntry& entry);
  // Removes an entry made by scratch(), with its lock file.
  static void remove_scratch(const CacheEntry& entry);

  // An entry that may be removed. Entries that are being removed are not listed.
  struct Item {
    CacheEntry entry;  // packages/ counts as an entry with that name
    std::string owner;
    Instant last_used;
    std::uint64_t bytes = 0;
    bool is_finished = false;  // ready, failed or solved; always true for packages/
  };
  std::vector<Item> list() const;
  // When the entry was last used; nullopt: it does not exist.
  static std::optional<Instant> last_used(const CacheEntry& entry);
  // The records of all entries that have images in an engine.
  std::vector<envs::ImageRecord> image_records() const;
  // Entries whose build cgroup still exists: the build runs, or its agent was killed.
  std::vector<CacheEntry> with_cgroups() const;
  // Removes an entry. False: it is in use. Calls `in_use` before and after renaming the entry, so
  // that an attempt that begins to use it meanwhile is noticed.
  using InUse = std::function<bool(const std::string& name)>;
  Result<bool> remove(const Item& item, const InUse& in_use) const;
  // Finishes the removals that an earlier agent began.
  void finish_removals() const;

 private:
  std::string owner_of(const io::User& user) const;
  CacheEntry entry(const io::User& user, std::string name) const;
  std::vector<std::string> owners() const;
  // All entries below root_, which no other agent shares.
  std::vector<CacheEntry> entries() const;
  Result<std::string> put_aside(const Item& item) const;
  static Status put_back(const Item& item, const std::string& aside);
  static Status remove_aside(const Item& item, const std::string& aside);

  const std::string root_, packages_;
};

// "2026-11-22 10:00 UTC".
std::string for_people(Instant time);

}  // namespace lockstep::agent
