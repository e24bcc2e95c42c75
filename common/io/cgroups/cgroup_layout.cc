#include "common/io/cgroups/cgroup_layout.h"

#include <map>
#include <optional>
#include <sstream>

namespace lockstep::io {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// Replaces octal escapes of mountinfo: \040 and the like.
std::string unescape(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                         (text[i + 3] - '0')));
      i += 3;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

// The paths of our cgroups by controller; "": v2.
std::map<std::string, std::string> own_paths(const std::string& self_cgroup) {
  std::map<std::string, std::string> paths;
  for (const auto& line : split(self_cgroup, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (names.empty()) paths[""] = line.substr(second + 1);
    for (const auto& name : split(names, ',')) paths[name] = line.substr(second + 1);
  }
  return paths;
}

// The part of `path` below `root`, "" if both are equal; nullopt: it is elsewhere.
std::optional<std::string> below(const std::string& root, const std::string& path) {
  if (root == "/") return path == "/" ? "" : path;
  if (path == root) return "";
  if (path.compare(0, root.size() + 1, root + "/") == 0) return path.substr(root.size());
  return std::nullopt;
}

std::optional<CgroupHierarchy> hierarchy_of(const std::vector<std::string>& fields,
                                            const std::map<std::string, std::string>& own) {
  std::size_t dash = 6;  // optional fields end with "-": then type, source, super options
  while (dash < fields.size() && fields[dash] != "-") ++dash;
  if (dash + 3 >= fields.size()) return std::nullopt;
  CgroupHierarchy result;
  result.mount_point = unescape(fields[4]);
  std::string key;
  if (fields[dash + 1] == "cgroup") {
    for (const auto& option : split(fields[dash + 3], ','))
      if (own.count(option) > 0) result.controllers.insert(key = option);
    if (result.controllers.empty()) return std::nullopt;
  } else if (fields[dash + 1] == "cgroup2") {
    result.version = 2;
  } else {
    return std::nullopt;
  }
  const auto path = own.find(key);
  if (path == own.end()) return std::nullopt;
  const auto rest = below(unescape(fields[3]), path->second);
  if (!rest) return std::nullopt;
  result.own = result.mount_point + *rest;
  return result;
}

}  // namespace

std::vector<CgroupHierarchy> find_cgroup_hierarchies(const std::string& mountinfo,
                                                     const std::string& self_cgroup) {
  const auto own = own_paths(self_cgroup);
  std::vector<CgroupHierarchy> result;
  for (const auto& line : split(mountinfo, '\n'))
    if (auto hierarchy = hierarchy_of(split(line, ' '), own)) result.push_back(*hierarchy);
  return result;
}

std::string outside_nursery(const std::string& cgroup) {
  const auto found = cgroup.rfind(std::string(kOfAttempts) + "/" + kNurseryPrefix);
  if (found == std::string::npos ||
      cgroup.find('/', found + sizeof kOfAttempts) != std::string::npos)
    return cgroup;
  return cgroup.substr(0, found);
}

}  // namespace lockstep::io
