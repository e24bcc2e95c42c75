#include "common/io/programs/process_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "common/io/file_system.h"

namespace lockstep::io {

namespace {

// The children of a process; nullopt: it has ended, or the kernel has no such files.
std::optional<std::vector<int>> children_of(int pid) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const auto threads = list_directory(tasks);
  if (!threads) return std::nullopt;
  std::optional<std::vector<int>> children;
  for (const std::string& thread : *threads) {
    const auto text = read_file(tasks + "/" + thread + "/children");
    if (!text) continue;
    if (!children) children.emplace();
    std::istringstream pids(*text);
    for (int child = 0; pids >> child;) children->push_back(child);
  }
  return children;
}

}  // namespace

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

std::set<int> family_of(int pid) {
  std::set<int> family{pid};
  const auto first = children_of(pid);
  if (!first) {
    for (const ProcessIdentity& each : descendants_of(pid)) family.insert(each.pid);
    return family;
  }
  std::vector<int> left = *first;
  while (!left.empty()) {
    const int next = left.back();
    left.pop_back();
    if (!family.insert(next).second) continue;
    const auto children = children_of(next);
    if (children) left.insert(left.end(), children->begin(), children->end());
  }
  return family;
}

}  // namespace lockstep::io
