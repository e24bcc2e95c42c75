#pragma once
// Ignore files with git's rules (gitignore(5), and wildmatch where that is silent): order,
// negation, anchoring, `**`, classes, escapes. Does no I/O. A pattern applies below the folder of
// its ignore file. The scan ensures that a path below an ignored folder cannot be included again.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::snapshot {

struct IgnorePattern {
  std::string text;  // the line as written, for people
  int line = 0;
  std::string glob;         // the pattern without '!', leading and trailing '/'
  std::size_t literal = 0;  // length of the leading part without wildcards
  bool negative = false;
  bool only_directories = false;
  bool base_name_only = false;  // no '/' inside: matches at every depth
  bool suffix = false;          // "*" and a literal
};

class IgnoreFile {
 public:
  // `source`: the file's name for people ("sub/.gitignore"). `base`: the folder it applies to,
  // relative to the root (of the tree, or of the repository around it) and ending in '/', or "".
  IgnoreFile(std::string source, std::string base, std::string_view content);

  // The last pattern that matches, or nullptr. `path` is relative to the root and below `base`.
  const IgnorePattern* match(std::string_view path, bool is_directory) const;
  // Whether it applies to this path.
  bool is_above(std::string_view path) const {
    return path.size() > base_.size() && path.starts_with(base_);
  }
  const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::string base_;
  std::vector<IgnorePattern> patterns_;
};

// Matches as wildmatch does. With `stars_stop_at_slash`, only `**` between slashes matches a '/'.
bool glob_matches(std::string_view glob, std::string_view text, bool stars_stop_at_slash);

}  // namespace lockstep::snapshot
