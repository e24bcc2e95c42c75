#pragma once
// One walk of scan(), internal to scan.h and its two files: scan.cc has the walk, scan_links.cc the
// symlinks.

#include <dirent.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/folder_stats.h"
#include "common/snapshot/capture/ignore_stack.h"
#include "common/snapshot/capture/links.h"
#include "common/snapshot/capture/scanned.h"

namespace lockstep::snapshot {

// The end of an error about what links lead to.
inline constexpr const char kKeepLinks[] =
    ", or, if it goes with a job, keep links: --links keep, or lockstep.links: keep in a job file";

class Scanner {
 public:
  struct Name {
    std::string text;
    unsigned char type = DT_UNKNOWN;  // a type of dirent.h
  };

  Scanner(std::string directory, const ScanOptions& options, Scan& out)
      : directory_(std::move(directory)), options_(options), out_(out), ignores_(directory_) {
    const std::string& left_out = options_.left_out;
    if (left_out.empty() || ::stat(left_out.c_str(), &left_out_) != 0) left_out_ = {};
  }
  Status run();

 private:
  Status scan_folder(std::size_t index, int fd, int depth);
  Status add_files(std::size_t index, int fd, std::vector<Name> names);
  Status take_stats();
  Status scan_entry(std::size_t index, int fd, const Name& name, int depth,
                    std::vector<Name>& files);
  Status enter_folder(std::size_t index, int fd, const Name& name, int depth);
  Status take_folder(std::size_t index, const io::Fd& folder, const std::string& name, int depth);
  Status add_other(std::size_t index, int fd, const Name& name);
  Status add_link(std::size_t index, int fd, const std::string& name, int depth);
  Status take_link(std::size_t index, const std::string& name, std::string target, int depth);
  Status follow_to_file(std::size_t index, const std::string& name, const std::string& real);
  Status follow_to_folder(std::size_t index, const std::string& name, const std::string& real,
                          int depth);
  Status count_followed(std::size_t index);
  bool is_kept_out(const std::string& path, const Name& name, bool is_directory);
  bool is_left_download(const io::Fd& folder) const;
  bool is_selected(const std::string& path, const struct stat& info);
  bool is_selected_folder(const std::string& path);
  void drop_if_empty(std::size_t index, std::size_t child, const struct stat& info);
  // Handles an entry that cannot be read: fails the scan, or skips and lists it.
  Status unreadable(std::string_view what, const std::string& path);
  // An entry that a snapshot cannot hold: fails the scan, or is skipped and listed.
  Status unsupported(const std::string& path, const std::string& why);
  Error cannot(std::string_view what, const std::string& path) const;

  const std::string directory_;
  const ScanOptions options_;
  Scan& out_;
  struct stat left_out_ {};  // all zero: nothing is left out
  IgnoreStack ignores_;
  std::optional<LinkRules> links_;                                   // absent: links stay
  std::vector<std::pair<std::size_t, ScannedFile>> followed_files_;  // folder, file
  std::uint64_t followed_ = 0;                                       // entries
  int followed_folders_ = 0;
  // The download that the source, or a link's target, is a part of.
  std::optional<std::string> named_download_;
  FolderStats stats_;
};

}  // namespace lockstep::snapshot
