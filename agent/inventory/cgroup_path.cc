#include "agent/inventory/cgroup_path.h"

#include <sstream>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

struct Mount {
  std::string root;  // the directory of the hierarchy that is mounted
  std::string point;
  std::string options;  // options of the super block: "rw,cpu,cpuacct"
  bool v2 = false;
};

// Reads proc_pid_mountinfo(5): "36 35 98:0 /root /point rw,… - type source super-options".
std::vector<Mount> cgroup_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  const auto text = io::read_file(root + "/proc/self/mountinfo");
  if (!text) return mounts;
  std::istringstream lines(*text);
  std::string line;
  while (std::getline(lines, line)) {
    const auto separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream front(line), back(line.substr(separator + 3));
    std::string skip, type, source;
    Mount mount;
    front >> skip >> skip >> skip >> mount.root >> mount.point;
    back >> type >> source >> mount.options;
    if (type != "cgroup" && type != "cgroup2") continue;
    mount.v2 = type == "cgroup2";
    mounts.push_back(mount);
  }
  return mounts;
}

bool names(const std::string& comma_list, const std::string& word) {
  return ("," + comma_list + ",").find("," + word + ",") != std::string::npos;
}

// Our directory below a mount point. In a container the mount shows only a part of the hierarchy.
std::string directory_in(const std::string& root, const Mount& mount, std::string path) {
  if (mount.root != "/" && path.compare(0, mount.root.size(), mount.root) == 0) {
    path = path.substr(mount.root.size());
  }
  if (path == "/") path.clear();
  const std::string full = root + mount.point + path;
  return io::exists(full) ? full : root + mount.point;
}

}  // namespace

std::string CgroupPlace::v1(const std::string& controller) const {
  for (const auto& [name, directory] : v1_of) {
    if (name == controller) return directory;
  }
  return "";
}

CgroupPlace cgroup_place(const std::string& root) {
  CgroupPlace place;
  const auto text = io::read_file(root + "/proc/self/cgroup");
  if (!text) return place;
  const auto mounts = cgroup_mounts(root);
  std::istringstream lines(*text);
  std::string line;
  while (std::getline(lines, line)) {  // "4:cpu,cpuacct:/path"; of v2, "0::/path"
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    for (const Mount& mount : mounts) {
      if (controllers.empty() && mount.v2 && place.v2.empty()) {
        place.v2 = directory_in(root, mount, path);
      }
      if (controllers.empty() || mount.v2) continue;
      std::istringstream words(controllers);
      std::string word;
      while (std::getline(words, word, ',')) {
        if (names(mount.options, word)) {
          place.v1_of.emplace_back(word, directory_in(root, mount, path));
        }
      }
    }
  }
  return place;
}

std::vector<std::string> cgroup_files(const std::string& root, const std::string& v1_controller,
                                      const std::string& v2_name, const std::string& v1_name) {
  std::vector<std::string> files;
  const CgroupPlace place = cgroup_place(root);
  const auto collect = [&](std::string directory, const std::string& name) {
    const std::string top = root + "/sys/fs/cgroup";
    while (directory.size() >= top.size()) {
      if (io::exists(directory + "/" + name)) files.push_back(directory + "/" + name);
      const auto slash = directory.rfind('/');
      if (slash == std::string::npos || slash == 0) break;
      directory.resize(slash);
    }
  };
  if (!place.v2.empty()) collect(place.v2, v2_name);
  if (const std::string v1 = place.v1(v1_controller); !v1.empty()) collect(v1, v1_name);
  return files;
}

}  // namespace lockstep::agent
