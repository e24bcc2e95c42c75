#include "runner/attach/stacks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "common/io/file_system.h"
#include "runner/usage/process_use.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kMaxCommandWords = 200;  // bytes
constexpr int kDeepest = 16;  // the deepest nesting that is read; py-spy's JSON nests 5 deep

std::string file_of(const std::string& root, int pid, const char* name) {
  return fmt::format("{}/proc/{}/{}", root, pid, name);
}

std::vector<ProcessUse> all_processes(const std::string& root) {
  std::vector<ProcessUse> all;
  const auto names = io::list_directory(root + "/proc");
  if (!names) return all;
  for (const std::string& name : *names) {
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    const auto stat = io::read_file(file_of(root, std::atoi(name.c_str()), "stat"));
    if (const auto process = stat ? parse_stat(*stat) : std::nullopt) all.push_back(*process);
  }
  return all;
}

int own_pid(const std::string& root, int pid) {
  const auto status = io::read_file(file_of(root, pid, "status"));
  return (status ? parse_own_pid(*status) : std::nullopt).value_or(pid);
}

bool is_python_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("python");
}

// The kernel knows the program's file; else the command line decides.
bool runs_python(const std::string& root, int pid, const std::string& command) {
  char path[4096];
  const ssize_t length = readlink(file_of(root, pid, "exe").c_str(), path, sizeof path);
  if (length > 0) return is_python_name(std::string_view(path, static_cast<std::size_t>(length)));
  return is_python_name(std::string_view(command).substr(0, command.find(' ')));
}

// "" if the process has ended.
std::string command_of(const std::string& root, int pid) {
  std::string command = io::read_file(file_of(root, pid, "cmdline")).value_or("");
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command.substr(0, kMaxCommandWords);
}

// Whether the text nests too deep for the recursive reader.
bool is_deep(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{') && ++depth > kDeepest)
      return true;
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

}  // namespace

std::vector<TracedProcess> processes_of_rank(int rank, int pid, int spawn_pid,
                                             const std::string& root) {
  return processes_of_ranks({{rank, pid}}, spawn_pid, root);
}

std::vector<TracedProcess> processes_of_ranks(const std::map<int, int>& pid_of_rank, int spawn_pid,
                                              const std::string& root) {
  std::vector<ProcessUse> all = all_processes(root);
  const std::vector<int> below_spawn = tree_of(all, spawn_pid);
  const std::set<int> ours(below_spawn.begin(), below_spawn.end());
  std::erase_if(all, [&](const ProcessUse& each) { return ours.count(each.pid) == 0; });
  std::map<int, int> tops;  // processes by the pids that ranks see
  for (const ProcessUse& process : all)
    if (process.parent == spawn_pid) tops[own_pid(root, process.pid)] = process.pid;
  std::vector<TracedProcess> found;
  for (const auto& [rank, pid] : pid_of_rank) {
    const auto top = tops.find(pid);
    if (top == tops.end()) continue;
    std::vector<int> pids{top->second};
    for (const int below : tree_of(all, top->second))
      if (below != top->second) pids.push_back(below);
    std::size_t of_rank = 0;
    for (const int one : pids) {
      if (of_rank == kMaxTracedOfRank) break;
      auto process = traced_process(rank, one, one == top->second, root);
      if (!process) continue;
      ++of_rank;
      found.push_back(*std::move(process));
    }
  }
  return found;
}

std::optional<TracedProcess> traced_process(int rank, int pid, bool is_rank,
                                            const std::string& root) {
  const std::string command = command_of(root, pid);
  if (command.empty()) return std::nullopt;
  return TracedProcess{rank, own_pid(root, pid), command, runs_python(root, pid, command), is_rank};
}

std::vector<StackTool> stack_tools(const TracedProcess& process, bool native) {
  const std::string pid = std::to_string(process.pid);
  std::vector<StackTool> tools;
  if (process.is_python) {
    tools.push_back({"py-spy", {"py-spy", "dump", "--json", "--pid", pid}});
    if (native) tools.back().words.push_back("--native");
  }
  tools.push_back({"eu-stack", {"eu-stack", "-p", pid}});
  tools.push_back({"gdb",
                   {"gdb", "-nx", "-batch", "-iex", "set auto-load off", "-iex",
                    "set debuginfod enabled off", "-p", pid, "-ex", "thread apply all bt 64"}});
  return tools;
}

std::string why_no_tracing(const std::string& ptrace_scope, bool is_root) {
  const int scope = std::atoi(ptrace_scope.c_str());
  if (scope < 2 || (scope == 2 && is_root)) return "";
  return fmt::format(
      "kernel.yama.ptrace_scope is {} on this node, so {} may read the stacks of processes; an "
      "administrator can set it to 1 ({})",
      scope, scope == 2 ? "only root" : "nobody",
      scope == 2 ? "sysctl kernel.yama.ptrace_scope=1" : "in /etc/sysctl.d, with a reboot");
}

std::string no_tool_words(const TracedProcess& process) {
  return process.is_python
             ? "neither py-spy nor eu-stack nor gdb is on this node or in the job's environment; "
               "install py-spy (pip install py-spy) in the environment, or have it beside the "
               "node's programs, in the folder tools"
             : "neither eu-stack nor gdb is on this node or in the job's environment; install "
               "elfutils or gdb on the node";
}

std::string stack_line(const StackResult& result) {
  nlohmann::json line = {{"rank", result.process.rank},
                         {"pid", result.process.pid},
                         {"command", result.process.command}};
  if (!result.tool.empty()) line["tool"] = result.tool;
  if (!result.error.empty()) line["error"] = result.error;
  nlohmann::json threads;
  if (result.tool == "py-spy" && !is_deep(result.output))
    threads = nlohmann::json::parse(result.output, nullptr, false);
  if (threads.is_array())
    line["threads"] = std::move(threads);
  else if (!result.output.empty())
    line["text"] = result.output;
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::runner
