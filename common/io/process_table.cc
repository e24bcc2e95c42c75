#include "common/io/process_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "common/io/file_system.h"

namespace lockstep::io {

std::vector<int> all_pids() {
  std::vector<int> pids;
  const auto names = list_directory("/proc");
  if (!names) return pids;
  for (const std::string& name : *names)
    if (std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      pids.push_back(std::atoi(name.c_str()));
  return pids;
}

std::vector<ProcessIdentity> descendants_of(int root) {
  std::multimap<int, int> children;
  for (const int pid : all_pids()) {
    const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
    const auto bracket = stat ? stat->rfind(')') : std::string::npos;
    int parent = 0;
    if (bracket != std::string::npos &&
        std::sscanf(stat->c_str() + bracket + 1, " %*c %d", &parent) == 1)
      children.emplace(parent, pid);
  }
  std::vector<ProcessIdentity> found;
  std::vector<int> parents{root};
  while (!parents.empty()) {
    const auto [from, to] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = from; child != to; ++child) {
      parents.push_back(child->second);
      if (const auto identity = identify(child->second)) found.push_back(*identity);
    }
  }
  return found;
}

}  // namespace lockstep::io
