#pragma once
// The result of a scan of a tree, and the options of the scan.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/capture/capture_options.h"
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
  std::string path;  // relative; "" for the root, otherwise ending in '/'
  std::string name;
  std::uint32_t mode = 0;
  std::vector<ScannedFile> files;
  std::vector<ScannedLink> links;
  std::vector<std::size_t> folders;   // indexes in Scan::folders, all larger than its own
  std::vector<std::string> restless;  // filled by capture: files that changed during every read
  // The names of deleted entries of the lower directory (whiteouts), in an overlay's upper
  // directory. `opaque`: all of them are deleted.
  std::vector<std::string> whiteouts;
  bool opaque = false;
  int followed = -1;  // the outermost link in Scan::report that it was reached through; -1: none
};

struct Scan {
  io::Fd root;
  std::vector<ScannedFolder> folders;  // [0] is the root
  std::vector<SkippedPath> skipped;
  CaptureReport report;  // its links are in the order in which the walk met them
};

// Selects entries of a tree. An entry that is not selected is neither read nor listed as skipped.
class Selection {
 public:
  virtual ~Selection() = default;
  // Whether the scan looks into the folder. Paths are relative to the root: "a/b".
  virtual bool enters(const std::string& folder) = 0;
  // Whether the entry is selected. For a folder: whether it is even if nothing in it is.
  virtual bool takes(const std::string& path, const struct stat& info) = 0;
};

struct ScanOptions {
  // whether the tree is a source; false: every entry belongs to it, also .git and ignored ones, and
  // unreadable entries are skipped and listed.
  bool is_source = true;
  bool is_upper = false;  // upper directory of an overlay: record whiteouts and opaque folders
  std::string left_out;   // a directory that is never entered, wherever it is found; "" = none
  Selection* selection = nullptr;  // null: all; not to be used for a source
  Links links = Links::keep;
};

}  // namespace lockstep::snapshot
