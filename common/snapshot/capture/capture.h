#pragma once
// Captures a source directory as a snapshot: scans it, filters it by ignore rules, and hashes its
// files (with a stat cache, so that an unchanged file costs one stat). It reads the directory and
// writes only its cache. It stores no blobs: an upload reads the files again and verifies them,
// except those whose contents a ContentTaker received.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/capture_options.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

struct FileRecord {
  std::string path;  // relative to the root
  Digest digest;
  std::uint64_t size = 0;
  // The file's identity: while it is the same, the file has the hashed content. Absent: the file
  // had changed too recently to tell.
  std::optional<FileIdentity> identity = std::nullopt;
  // The offset of the blob's bytes in the file; if not 0, the blob is a piece of the file.
  std::uint64_t offset = 0;
};

struct DirectoryObject {
  Digest digest;
  std::string bytes;
};

struct Snapshot {
  Digest root;
  std::string directory;                 // absolute path of the captured directory, for people
  std::shared_ptr<const io::Fd> opened;  // the same directory, opened to read its files
  // Each digest once. Also blobs that could not be read from their files again later.
  std::vector<DirectoryObject> directories;
  std::vector<FileRecord> files;  // in tree order; a digest may occur several times
  std::vector<SkippedPath> skipped;
  CaptureReport report;
  std::uint64_t symlinks = 0;    // links that are links in the snapshot, too
  std::uint64_t folders = 0;     // the number of folders, without the root
  Bytes total;                   // the size of all files
  std::uint64_t files_read = 0;  // files that were hashed because the stat cache had no digest
  Bytes bytes_read;
  // Counts the visible files of an overlay's lower tree. They are in `root`, but not in `files`.
  std::uint64_t lower_files = 0;
  Bytes lower_total;
};

class Selection;  // scanned.h

struct TreeOptions {
  bool is_upper = false;           // the upper directory of an overlay: whiteouts take effect
  std::optional<LowerTree> lower;  // the lower tree of that overlay
  bool is_growing = false;         // the same option as in CaptureOptions
  // The earlier tree whose version is used for a file that changes during every read. If this tree
  // lacks the file, the file is left out and listed. Absent: such a file is an error.
  std::optional<LowerTree> previous = std::nullopt;
  std::function<void(const std::string& path)> on_read = {};  // the same option as in
                                                              // CaptureOptions
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

struct Scan;  // scanned.h
// Builds the directory objects of scanned files with known digests ([folder][file], as in the
// scan), over `lower`. It reads no files and lists none.
Result<Snapshot> assemble(const Scan& scan, const std::vector<std::vector<Digest>>& digests,
                          const std::string& shown_as, const std::optional<LowerTree>& lower);

// The path of a source directory's cache file in `cache_folder`, which holds all of them.
std::string stat_cache_path(const std::string& cache_folder, const std::string& directory);

}  // namespace lockstep::snapshot
