#pragma once
// A source directory as a list: every folder, file and symlink that belongs to the snapshot, with
// one stat each and no file read except ignore files. It hashes nothing.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

struct ScannedFile {
  std::string name;
  std::uint32_t mode = 0;
  FileIdentity identity;
};

struct ScannedLink {
  std::string name;
  std::string target;
};

struct ScannedFolder {
  std::string path;  // relative, "" for the root, else ending in '/'
  std::string name;
  std::uint32_t mode = 0;
  std::vector<ScannedFile> files;
  std::vector<ScannedLink> links;
  std::vector<std::size_t> folders;  // indexes in Scan::folders, all larger than its own
  // Of an overlay's upper directory: names of the lower one that are gone here, and whether all
  // are.
  std::vector<std::string> restless;  // by capture: files that were left out
  std::vector<std::string> whiteouts;
  bool opaque = false;
};

struct Scan {
  io::Fd root;
  std::vector<ScannedFolder> folders;  // [0] is the root
  std::vector<SkippedPath> skipped;
};

// Selects entries of a tree. Entries that are not selected are neither read nor listed as left out.
class Selection {
 public:
  virtual ~Selection() = default;
  // Whether what lies in the folder is looked at. Paths are relative to the root: "a/b".
  virtual bool enters(const std::string& folder) = 0;
  // Of a folder: whether it is taken when nothing in it is.
  virtual bool takes(const std::string& path, const struct stat& info) = 0;
};

struct ScanOptions {
  // false: every entry belongs to it, .git and ignored ones too, and what cannot be read is skipped
  // and listed.
  bool is_source = true;
  bool is_upper = false;           // of an overlay: whiteouts and opaque folders are noticed
  std::string left_out;            // a directory that is never entered; "" = none
  Selection* selection = nullptr;  // null: all; not for a source
};

Result<Scan> scan(const std::string& directory, const ScanOptions& options = {});
// `root` is open; `directory` is its name for people.
Result<Scan> scan(io::Fd root, const std::string& directory, const ScanOptions& options);

FileIdentity identity_of(const struct stat& info);

// What fstat says, as identity.
struct StatResult {
  FileIdentity identity;
  std::uint32_t mode = 0;   // with the file type
  std::uint64_t holes = 0;  // bytes of the file that take no disk
};
Result<StatResult> stat_of(int fd, const std::string& path);

}  // namespace lockstep::snapshot
