#pragma once
// Runs rclone for a datastore, on a thread that may block. Its environment has only PATH and a home
// of its own, and its configuration is the operator's file. A user chooses only the path behind
// "REMOTE:BASE/". Results never contain values of the configuration file.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "launcher/api/checks/datastore_access.h"

namespace lockstep::launcher {

struct RcloneContext {
  std::string home;  // an empty folder for rclone
  Duration silence;  // rclone is killed if it makes no progress for this long
  const std::atomic<bool>* stop = nullptr;  // set: end at once
  std::string path = {};                    // the folders in which rclone is searched; "": our PATH
};

struct RemoteFile {
  std::string path;  // relative; checked: no "..", no control characters
  std::uint64_t size = 0;
  std::string version;  // time and hashes that the remote has
  friend bool operator==(const RemoteFile&, const RemoteFile&) = default;
};

struct Listing {
  bool is_file = false;           // the path is a file; `files` has it, by its name
  std::vector<RemoteFile> files;  // sorted by path
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t kMaxRemoteFiles = 2'000'000;

// Reads rclone's output as a listing. Returns corrupt if a name leads out of the folder or cannot
// be a file's.
Result<Listing> read_listing(const std::string& json);

// Lists a remote. Returns not_found if nothing is there, and unavailable if rclone is not installed
// or fails.
Result<Listing> list_remote(const RemoteFiles& files, const RcloneContext& context);

// Copies the listed files into the folder `to`. `progress` is called with the bytes so far.
Status copy_remote(const RemoteFiles& files, const Listing& listing, const std::string& to,
                   const RcloneContext& context,
                   const std::function<void(std::uint64_t)>& progress);

// Writes the folder `from`, or with `is_file` the file `from`, to `to.path`, over existing files.
// Other files there stay.
Status write_remote(const RemoteFiles& to, const std::string& from, bool is_file,
                    const RcloneContext& context);

// Removes the values of this configuration file from `text`.
std::string without_values(std::string text, const std::string& config);

}  // namespace lockstep::launcher
