#pragma once
// A source directory as a snapshot: scanned, filtered by ignore rules, hashed (with a stat cache,
// so that an unchanged file costs one stat). It reads the directory and writes only its cache; it
// stores no blobs: an upload reads the files again and verifies them, but for those whose contents
// were handed to a ContentTaker.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/io/file_system.h"
#include "common/snapshot/content_taker.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

struct CaptureOptions {
  std::string stat_cache;           // file; "" = none. See stat_cache_path
  bool allow_home_or_root = false;  // else $HOME and / are refused
  std::string own_files = {};       // Lockstep's home, with its keys: never captured
  // false: no ignore rules, and .git too; what cannot be read is skipped and listed.
  bool is_source = true;
  int hash_threads = 2;
  bool is_growing = false;     // of a file that is written to, what was there at first is taken
  bool skip_restless = false;  // a file that changes each time it is read is left out, not an error
  bool skip_unreadable = false;  // the same for a file that cannot be read
  // How many bytes of holes (sparse regions, which cost time to read but no disk) all files may
  // have together. Files beyond that are skipped and listed.
  std::uint64_t most_holes = UINT64_MAX;
  // Called after each reading of a file, with its path relative to the root, on the thread that
  // read it.
  std::function<void(const std::string& path)> on_read;
  ContentTaker* taker = nullptr;  // is given what is read; null: it is only hashed
};

struct FileRecord {
  std::string path;  // relative to the root
  Digest digest;
  std::uint64_t size = 0;
};

struct DirectoryObject {
  Digest digest;
  std::string bytes;
};

struct SkippedPath {
  std::string path;    // relative; a directory ends in '/', and nothing below it is listed
  std::string source;  // ".gitignore", "sub/.gitignore", ".amlignore"; "" = no pattern
  int line = 0;
  std::string pattern;  // as written; without a pattern, the reason ("a socket")
};
inline constexpr char kSocket[] = "a socket";

struct Snapshot {
  Digest root;
  std::string directory;                     // absolute path of what was captured, for people
  std::shared_ptr<const io::Fd> opened;      // the same, to read its files from
  std::vector<DirectoryObject> directories;  // each digest once
  std::vector<FileRecord> files;  // in tree order; the same content may come several times
  std::vector<SkippedPath> skipped;
  std::uint64_t symlinks = 0;
  std::uint64_t folders = 0;     // without the root
  Bytes total;                   // of all files
  std::uint64_t files_read = 0;  // hashed now, not found in the stat cache
  Bytes bytes_read;
  // Files of an overlay's lower tree that show through: in `root`, not in `files`.
  std::uint64_t lower_files = 0;
  Bytes lower_total;
};

// A tree by its directory objects, all that are reachable: what lies below an overlay.
struct LowerTree {
  Digest root;
  std::map<Digest, Directory> directories;
};

class Selection;  // scan.h

inline constexpr Bytes kMostHoles = gibibytes(64);  // of a tree

struct TreeOptions {
  bool is_upper = false;           // the upper directory of an overlay: whiteouts are heeded
  std::optional<LowerTree> lower;  // and this is what lies below it
  bool is_growing = false;         // as in CaptureOptions
  // A file that changes during every read is taken from this tree instead; if it is not there, it
  // is left out and listed. Absent: such a file is an error.
  std::optional<LowerTree> previous = std::nullopt;
  std::function<void(const std::string& path)> on_read = {};  // as in CaptureOptions
  Selection* selection = nullptr;                             // null: everything. Not with `lower`
};

// Files that cannot be read, and files that change each time they are read, fail the capture and
// are named. Sockets, fifos and devices are skipped and listed.
Result<Snapshot> capture(const std::string& directory, const CaptureOptions& options);

// A directory as it is, without ignore rules, .git included, as its users see it through the
// overlay. `opened` is read with the rights of the calling thread, and symlinks are never followed.
// Unreadable and special files are skipped and listed, so that one entry never spoils the rest; an
// error means that the whole capture failed.
Result<Snapshot> capture_tree(io::Fd opened, const std::string& shown_as,
                              const TreeOptions& options);

// The cache file of one source directory below a folder for all of them.
std::string stat_cache_path(const std::string& cache_folder, const std::string& directory);

}  // namespace lockstep::snapshot
