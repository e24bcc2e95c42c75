#pragma once
// Decides how each symlink of a source tree is captured: it stays, becomes a relative one, or its
// target is captured in its place. It only resolves paths and stats them, with the rights of this
// process. Only for trees of the user who submits, on that user's machine: a daemon that captures
// what ranks wrote must never follow their links.
//
// A tree has a top for its root, and one more for each followed folder that the walk is in: a link
// that stays below its innermost top works on every node, since the whole top is there.

#include <string>
#include <vector>

namespace lockstep::snapshot {

struct Top {
  std::string tree;  // the path in the tree: "" or "data/"
  std::string real;  // on this machine: absolute, without symlinks
};

struct LinkAction {
  enum class What { keep, rewrite, file, folder };
  What what = What::keep;
  std::string to;   // rewrite: the new target; file, folder: the absolute path
  std::string why;  // keep: why a link that leads out was not followed; "": it does not lead out
};

class LinkRules {
 public:
  // `own_files`: Lockstep's home, "" if there is none; `home`: the user's home directory, or "".
  LinkRules(const std::string& root, const std::string& own_files, const std::string& home);

  // Decides about a link in the folder `folder` ("" or "a/b/") of the innermost top.
  LinkAction judge(const std::string& folder, const std::string& name,
                   const std::string& target) const;

  void enter(Top top) { tops_.push_back(std::move(top)); }
  void leave() { tops_.pop_back(); }
  bool is_in_followed() const { return tops_.size() > 1; }

 private:
  std::string why_not(const std::string& real) const;

  std::vector<Top> tops_;  // the root first
  std::string own_files_, home_;
};

// True if a folder or file of this name holds keys wherever it is; it is never captured through a
// link.
bool holds_keys(std::string_view name);

}  // namespace lockstep::snapshot
