#pragma once
// The directories of this process in the cgroup hierarchies, v2 and v1. Reads only.

#include <string>
#include <vector>

namespace lockstep::agent {

struct CgroupPlace {
  std::string v2;  // our directory in the unified hierarchy, or ""
  // Our directory in the v1 hierarchy of a controller ("cpu", "memory", "freezer", …), or "".
  std::string v1(const std::string& controller) const;
  std::vector<std::pair<std::string, std::string>> v1_of;  // controller -> directory
};

// `root`: "", or the root directory of a fake machine, with proc/self and sys/fs/cgroup.
CgroupPlace cgroup_place(const std::string& root = "");

// The paths of a control file in our directory and in each ancestor. The lowest limit among them
// applies.
std::vector<std::string> cgroup_files(const std::string& root, const std::string& v1_controller,
                                      const std::string& v2_name, const std::string& v1_name);

}  // namespace lockstep::agent
