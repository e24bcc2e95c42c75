#pragma once
// Names files in a folder into which the other nodes of an attempt write theirs at the same time.
// No node loses a file of another: files that differ are kept beside each other, named by node.
// Only times of the file system that has the folder are compared with each other, so the clocks of
// nodes and file servers may differ.

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::agent {

struct OneOfNodes {
  int node_rank = 0;
  Instant prepared;  // wall clock of this node, before the ranks of any node began
  // The longest time for which another node may hold its claim on a folder, which takes a few
  // system calls. After this time, its agent counts as killed.
  Duration longest_claim = seconds(10);
};

class SharedPlace {
 public:
  explicit SharedPlace(const OneOfNodes& node) : node_(node) {}

  // Gives the new file or symlink `made` of the open folder its name. An entry of that name which
  // has not changed since the attempt was prepared is replaced. A later entry may be another
  // node's: if it has the same content, `made` is removed; otherwise `made` is kept under another
  // name. `path`: of the folder, for notes().
  Status settle(int folder, const std::string& made, const std::string& name,
                const std::string& path);
  struct Folder {
    std::string name;
    bool is_new = false;
  };
  // Makes the folder `name` if it does not exist. It gets another name if something else got this
  // name since the attempt was prepared.
  Result<Folder> make_folder(int folder, const std::string& name, const std::string& path);

  int node_rank() const { return node_.node_rank; }
  // The files that were kept under another name, at most kMaxOutputProblems and "and 7 more".
  std::vector<std::string> notes() const;

 private:
  bool is_later(std::int64_t changed_ns, std::int64_t now_ns) const;
  std::string beside(const std::string& name, int tries) const;
  void note(const std::string& path, const std::string& name, const std::string& kept_as);

  const OneOfNodes node_;
  std::vector<std::string> notes_;
  std::size_t more_notes_ = 0;
};

}  // namespace lockstep::agent
