#pragma once
// The environments that were built here, on disk: what is ready, what failed, and the logs. It
// draws the tree below <home>/environments; no path in it is put together anywhere else.
//
//   <root>/                    0711: ranks of other users pass through to theirs
//     <uid>/                   0711, ours, as is all that is not marked
//       packages/              0700, the user's: what pip and uv fetched before
//       archives/              0711: package files from other nodes, for running builds
//       packages.lock          shared by builds; exclusive for removing packages/
//       <key>/                 one environment; its modification time is its last use
//       solve-<key>/           the same for one solve
//         env/                 0700, the user's: the prefix, for good; venvs cannot be moved
//         tmp/                 0700, the user's: TMPDIR of the tools, while they work
//         lock/lock.json       what was solved, until the launcher has it
//         lock/image/          the image that it names, when other nodes need it
//         log                  of the build
//         cgroups              those of the build, a directory a line
//         wanted/              what the channel is asked for, while packages are shared
//         context/             an image is built from it, while it is built
//         engine/              0700: what an engine's client reads and writes; its TMPDIR
//         image/               of a lock's tree, while an engine loads it
//         image.json           what an engine was given: envs/docker/record.h
//         built.json           when, by which job, how large
//         activation.json      written last: it is ready
//         failure.json         it would fail again: why
//         solved.json          the launcher has the lock
//       <key>.lock             held while it is made or removed
//       gone-<n>               on its way out
//
// packages/ and its lock may be below another root instead, which agents of one machine share.
//
// For worker threads. What users own is made and removed below folders that are ours, so that
// nothing leads out of it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/environment.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "envs/docker/record.h"

namespace lockstep::agent {

// The lock of an entry. It uses flock(2), which every process with the descriptor holds, so that
// processes left over from a build keep others out.
class EntryLock {
 public:
  enum class Kind { exclusive, shared };
  // nullopt: somebody else has it now.
  static Result<std::optional<EntryLock>> try_acquire(const std::string& path, Kind kind);
  int fd() const { return fd_.get(); }

 private:
  explicit EntryLock(io::Fd fd) : fd_(std::move(fd)) {}
  io::Fd fd_;
};

// One folder of the tree above.
class CacheEntry {
 public:
  // `shared`: where packages/ is, if not beside it.
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
  // `packages`: another root, for packages/ alone.
  explicit EnvironmentCache(std::string root, const std::string& packages = "")
      : root_(std::move(root)), packages_(packages.empty() ? root_ : packages) {}

  CacheEntry built(const io::User& user, const Digest& key) const;
  CacheEntry solve(const io::User& user, const Digest& key) const;
  // A folder to work in that nobody else has; locked and removed by its maker.
  CacheEntry scratch(const io::User& user) const;

  // nullopt: it is not ready. Counts as a use. Costs a few system calls.
  static std::optional<BuiltEnvironment> find(const CacheEntry& entry);
  static std::optional<RememberedFailure> find_failure(const CacheEntry& entry);

  // The folders in which its lock files are.
  Status open_for(const io::User& user) const;
  // Makes the entry anew, empty, with the folders that the user's tools work in. Needs the entry's
  // lock.
  Status begin(const CacheEntry& entry, const io::User& user) const;
  static Status keep(const CacheEntry& entry, const BuiltEnvironment& built);
  // Records the entry's size, so that list() need not measure it each time.
  static void measure(const CacheEntry& entry);
  static Status keep_failure(const CacheEntry& entry, const RememberedFailure& failure);
  // Writes the lock file that is sent to the launcher into solved_folder().
  static Status keep_solved(const CacheEntry& entry, std::string_view lock);
  static void forget_solved(const CacheEntry& entry);
  // The image that an engine has for it; the record has no engine if there is none.
  static envs::ImageRecord image_record_of(const CacheEntry& entry);
  // Removes the folders that only a build needs.
  static void drop_scratch(const CacheEntry& entry);
  // An empty one, for the next tool.
  static Status renew_scratch(const CacheEntry& entry, const io::User& user);
  // Removes archives/, unless a running build may need it.
  static void drop_archives(const CacheEntry& entry);
  static void drop_prefix(const CacheEntry& entry);
  // All of scratch(), with its lock file.
  static void remove_scratch(const CacheEntry& entry);

  // An entry that may be removed; entries being removed are not listed.
  struct Item {
    CacheEntry entry;  // of packages/: by that name
    std::string owner;
    Instant last_used;
    std::uint64_t bytes = 0;
    bool is_finished = false;  // ready, failed or solved; packages are
  };
  std::vector<Item> list() const;
  // nullopt: it is not there.
  static std::optional<Instant> last_used(const CacheEntry& entry);
  // The image records of all entries that have one.
  std::vector<envs::ImageRecord> image_records() const;
  // Entries whose build cgroup exists: a running build, or one left by a killed agent.
  std::vector<CacheEntry> with_cgroups() const;
  // False: a build works in it. `in_use` is asked before and after the entry is renamed.
  using InUse = std::function<bool(const std::string& name)>;
  Result<bool> remove(const Item& item, const InUse& in_use) const;
  // Finishes removals that an earlier agent began.
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
