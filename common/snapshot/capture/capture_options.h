#pragma once
// The options of a capture, and its report on a tree without the tree itself: links, skipped paths,
// and the lower tree of an overlay.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/snapshot/capture/content_taker.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

// How symlinks that lead out of the tree are captured: they stay as they are, or their target is
// captured in their place. Only the client follows them, with its user's rights: otherwise the
// author of a link in a tree would choose what a daemon reads.
enum class Links { keep, follow };

// A symlink that was followed.
struct FollowedLink {
  std::string path;    // relative; a folder's ends with '/'
  std::string target;  // absolute
  // False: the link's target lies in another followed folder, which counts its files.
  bool is_outermost = true;
  std::uint64_t files = 0;
  Bytes total;
};
// A symlink that leads out of the tree and stayed, though links are followed.
struct KeptLink {
  std::string path;
  std::string target;  // the link's target as read
  std::string why;
};
// The counts that a capture reports to people before it reads a file.
struct CaptureReport {
  std::vector<FollowedLink> followed;  // sorted by path
  std::vector<KeptLink> kept;
  std::vector<std::string> notes;  // notes on ignore files that are not used
};

struct SkippedPath {
  std::string path;  // relative; a directory's ends with '/', and nothing below it is listed
  // ".gitignore", "sub/.gitignore", "../.gitignore", ".amlignore"; "" = no pattern
  std::string source;
  int line = 0;
  std::string pattern;  // the pattern as written; without a pattern, the reason ("a socket")
};
inline constexpr char kSocket[] = "a socket";

inline constexpr Bytes kMostHoles = gibibytes(64);  // the limit of a tree

struct CaptureOptions {
  std::string stat_cache;           // file; "" = none. See stat_cache_path
  bool allow_home_or_root = false;  // false: $HOME and / are refused
  std::string own_files = {};       // Lockstep's home, which holds keys: never captured
  // Whether the folder is a source. false: ignore rules do not apply, .git is captured too, and
  // unreadable entries are skipped and listed. true: ignore rules count up to the root of the git
  // repository around the folder.
  bool is_source = true;
  Links links = Links::keep;
  // The name of the one file to capture, which a symlink may lead to; the snapshot has it by this
  // name. "": everything. Not for a source.
  std::string only = {};
  int hash_threads = 2;
  bool is_growing = false;       // files may grow: each is captured up to its size at the start
  bool skip_restless = false;    // leave out files that change during every read; false: an error
  bool skip_unreadable = false;  // leave out files that cannot be read; false: an error
  // The most bytes of holes in all files together; holes use no disk but take time to read. Files
  // beyond that are skipped and listed.
  std::uint64_t most_holes = UINT64_MAX;
  // Called once, before a file is read, on the capturing thread.
  std::function<void(const CaptureReport& report)> on_scanned;
  // Called after each reading of a file, with its path relative to the root, on the thread that
  // read it.
  std::function<void(const std::string& path)> on_read;
  ContentTaker* taker = nullptr;  // receives the contents; null: files are only hashed
};

// The lower tree of an overlay: its root and all directory objects below it.
struct LowerTree {
  Digest root;
  std::map<Digest, Directory> directories;
};

}  // namespace lockstep::snapshot
