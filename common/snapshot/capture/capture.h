#pragma once
// Captures a source directory as a snapshot: scans it, filters it by ignore rules, and hashes its
// files (with a stat cache, so that an unchanged file costs one stat). It reads the directory and
// writes only its cache. It stores no blobs: an upload reads the files again and verifies them,
// except those whose contents a ContentTaker received.

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
#include "common/snapshot/capture/content_taker.h"
#include "common/snapshot/manifest.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

// What becomes of symlinks that lead out of the tree: they stay as they are, or what they lead to
// is captured in their place. Only the client follows, with its user's rights: whoever writes a
// link into a tree would otherwise choose what a daemon reads.
enum class Links { keep, follow };

// A symlink that was followed.
struct FollowedLink {
  std::string path;    // relative; a folder's ends with '/'
  std::string target;  // absolute
  // false: it lies in another followed folder, which counts its files.
  bool is_outermost = true;
  std::uint64_t files = 0;
  Bytes total;
};
// A symlink that leads out of the tree and stayed, though links are followed.
struct KeptLink {
  std::string path;
  std::string target;  // as read
  std::string why;
};
// What a capture found out before it read a file, for people.
struct CaptureReport {
  std::vector<FollowedLink> followed;  // sorted by path
  std::vector<KeptLink> kept;
  std::vector<std::string> notes;  // of ignore files that do not count
};

struct CaptureOptions {
  std::string stat_cache;           // file; "" = none. See stat_cache_path
  bool allow_home_or_root = false;  // false: $HOME and / are refused
  std::string own_files = {};       // Lockstep's home, which holds keys: never captured
  // false: ignore rules do not apply, .git is captured too, and unreadable entries are skipped and
  // listed. true: ignore rules count up to the root of the git repository that the folder lies in.
  bool is_source = true;
  Links links = Links::keep;
  // Name of the one file to capture, which a symlink may lead to; the snapshot has it by this name.
  // "": everything. Not for a source.
  std::string only = {};
  int hash_threads = 2;
  bool is_growing = false;       // files may grow: each is captured up to its size at the start
  bool skip_restless = false;    // leave out files that change during every read; false: an error
  bool skip_unreadable = false;  // leave out files that cannot be read; false: an error
  // How many bytes of all files together may be holes, which use no disk but take time to read.
  // Files beyond that are skipped and listed.
  std::uint64_t most_holes = UINT64_MAX;
  // Called once, before a file is read, on the capturing thread.
  std::function<void(const CaptureReport& report)> on_scanned;
  // Called after each reading of a file, with its path relative to the root, on the thread that
  // read it.
  std::function<void(const std::string& path)> on_read;
  ContentTaker* taker = nullptr;  // receives the contents; null: files are only hashed
};

struct FileRecord {
  std::string path;  // relative to the root
  Digest digest;
  std::uint64_t size = 0;
  // Whoever finds the file so reads what was hashed. Absent: it had changed too recently to tell.
  std::optional<FileIdentity> identity = std::nullopt;
  std::uint64_t offset = 0;  // where the blob's bytes begin in the file; not 0: a piece of it
};

struct DirectoryObject {
  Digest digest;
  std::string bytes;
};

struct SkippedPath {
  std::string path;  // relative; a directory's ends with '/', and nothing below it is listed
  // ".gitignore", "sub/.gitignore", "../.gitignore", ".amlignore"; "" = no pattern
  std::string source;
  int line = 0;
  std::string pattern;  // as written; without a pattern, the reason ("a socket")
};
inline constexpr char kSocket[] = "a socket";

struct Snapshot {
  Digest root;
  std::string directory;                 // absolute path of the captured directory, for people
  std::shared_ptr<const io::Fd> opened;  // the same directory, to read its files
  // Each digest once. Also blobs that could not be read from their files again later.
  std::vector<DirectoryObject> directories;
  std::vector<FileRecord> files;  // in tree order; a digest may occur several times
  std::vector<SkippedPath> skipped;
  CaptureReport report;
  std::uint64_t symlinks = 0;    // that are links in the snapshot, too
  std::uint64_t folders = 0;     // without the root
  Bytes total;                   // of all files
  std::uint64_t files_read = 0;  // files that were hashed because the stat cache had no digest
  Bytes bytes_read;
  // Visible files of an overlay's lower tree. They are in `root`, but not in `files`.
  std::uint64_t lower_files = 0;
  Bytes lower_total;
};

// The lower tree of an overlay: its root and all directory objects below it.
struct LowerTree {
  Digest root;
  std::map<Digest, Directory> directories;
};

class Selection;  // scan.h

inline constexpr Bytes kMostHoles = gibibytes(64);  // of a tree

struct TreeOptions {
  bool is_upper = false;           // the upper directory of an overlay: whiteouts take effect
  std::optional<LowerTree> lower;  // the lower tree of that overlay
  bool is_growing = false;         // as in CaptureOptions
  // For a file that changes during every read, its version in this tree is used. If this tree has
  // none, the file is left out and listed. Absent: such a file is an error.
  std::optional<LowerTree> previous = std::nullopt;
  std::function<void(const std::string& path)> on_read = {};  // as in CaptureOptions
  Selection* selection = nullptr;  // null: everything. Not to be used with `lower`
};

// The capture fails for files that cannot be read or that change during every read; the error names
// them. Sockets, fifos and devices are skipped and listed.
Result<Snapshot> capture(const std::string& directory, const CaptureOptions& options);

// Captures a directory without ignore rules, .git included, as its users see it through the
// overlay. It reads `opened` with the rights of the calling thread and follows no symlink in a last
// component. Unreadable entries and special files are skipped and listed, so that one entry does
// not make the others fail. Only a failure that concerns all entries is an error.
Result<Snapshot> capture_tree(io::Fd opened, const std::string& shown_as,
                              const TreeOptions& options);

struct Scan;  // scan.h
// Builds the directory objects of scanned files with known digests ([folder][file], as in the
// scan), over `lower`. It reads no files and lists none.
Result<Snapshot> assemble(const Scan& scan, const std::vector<std::vector<Digest>>& digests,
                          const std::string& shown_as, const std::optional<LowerTree>& lower);

// The path of a source directory's cache file in `cache_folder`, which holds all of them.
std::string stat_cache_path(const std::string& cache_folder, const std::string& directory);

}  // namespace lockstep::snapshot
