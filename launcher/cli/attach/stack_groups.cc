#include "launcher/cli/attach/stack_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/printable.h"
#include "launcher/cli/text/phrases.h"

namespace lockstep::api {

void keys(const StackFrame& frame, See& see) {
  see("function", frame.function, "The function; `??`: unknown.");
  see("file", frame.file, "Its source file; empty: unknown.");
  see("line", unless_zero(frame.line), "The line in the file; null: unknown.", kAnyNumber);
}

void keys(const StackThread& thread, See& see) {
  see("name", thread.name, "The thread's name; empty: it has none.");
  see("id", unless_zero(thread.id), "Its number for the kernel; null: unknown.", kAnyNumber);
  see("main", thread.is_main, "It is the main thread of its process.");
  see("gil", thread.has_gil, "It holds Python's global interpreter lock.");
  see("frames", thread.frames, "Where it is, the innermost function first.");
}

}  // namespace lockstep::api

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostInSummary = 5;
constexpr std::size_t kMostThreadsShown = 32;  // the most threads of a process that are shown
constexpr std::size_t kMostFramesShown = 40;   // the most frames of a thread that are shown

bool is_library(const StackFrame& frame) {
  constexpr std::string_view kPlaces[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                          "/lib64/python", "<frozen"};
  if (frame.file.empty()) return true;
  return std::any_of(std::begin(kPlaces), std::end(kPlaces), [&](std::string_view place) {
    return frame.file.find(place) != std::string::npos;
  });
}

std::string short_file(const std::string& file) { return file.substr(file.rfind('/') + 1); }

std::string place_of(const StackFrame& frame) {
  if (frame.file.empty()) return "";
  return frame.line == 0 ? short_file(frame.file)
                         : fmt::format("{}:{}", short_file(frame.file), frame.line);
}

bool is_shell(const StackProcess& process) {
  const std::string program = short_file(process.command.substr(0, process.command.find(' ')));
  return program == "bash" || program == "sh" || program == "dash";
}

const StackThread* main_thread(const StackProcess& process) {
  for (const StackThread& thread : process.threads)
    if (thread.is_main) return &thread;
  return process.threads.empty() ? nullptr : &process.threads.front();
}

// Processes in Python first, and shells that only wait for them last.
int order_of(const StackProcess& process) {
  if (process.threads.empty()) return 3;
  if (process.tool == "py-spy") return 0;
  return is_shell(process) ? 2 : 1;
}

std::string key_of(const StackThread& thread) {
  std::string key;
  for (const StackFrame& frame : thread.frames)
    key += fmt::format("{}\x1f{}\x1f{}\x1e", frame.function, frame.file, frame.line);
  return key;
}

// Makes the key of a group. The key is the same for processes that started their threads in another
// order.
std::string key_of(const std::vector<StackProcess>& processes) {
  std::string key;
  for (const StackProcess& process : processes) {
    std::vector<std::string> threads;
    for (const StackThread& thread : process.threads)
      threads.push_back((thread.is_main ? "m" : "t") + key_of(thread));
    std::sort(threads.begin(), threads.end());
    for (const std::string& thread : threads) key += thread + "\x1d";
    key += process.threads.empty() ? process.error + "\x1c" : "\x1c";
  }
  return key;
}

std::string first_error(const std::vector<StackProcess>& processes) {
  for (const StackProcess& process : processes)
    if (!process.error.empty()) return process.error;
  return "no process of it could be read";
}

void add_unread(int rank, const std::string& node_name, const std::string& reason,
                StackReport* report) {
  for (UnreadRanks& known : report->unread)
    if (known.node_name == node_name && known.reason == reason) return known.ranks.push_back(rank);
  report->unread.push_back({{rank}, node_name, reason});
}

void add_rank(int rank, std::vector<StackProcess> processes, StackReport* report) {
  const std::string key = key_of(processes);
  for (StackGroup& group : report->groups)
    if (key_of(group.processes) == key) return group.ranks.push_back(rank);
  const std::string summary = summary_of(*main_thread(processes.front()));
  report->groups.push_back({{rank}, summary, std::move(processes)});
}

}  // namespace

std::string summary_of(const StackThread& thread) {
  std::string text;
  std::size_t count = 0;
  bool in_library = false;
  for (const StackFrame& frame : thread.frames) {
    const bool is_of_library = is_library(frame);
    const bool is_left_out = is_of_library && in_library;
    in_library = is_of_library;
    if (is_left_out) continue;
    if (count++ == kMostInSummary) return text + " <- …";
    text += (text.empty() ? "" : " <- ") + frame.function;
    if (!is_of_library) text += " " + place_of(frame);
  }
  return in_one_line(text);
}

void group_stacks(std::vector<StackProcess> processes, const std::string& node_name,
                  StackReport* report) {
  std::map<int, std::vector<StackProcess>> by_rank;
  for (StackProcess& process : processes) by_rank[process.rank].push_back(std::move(process));
  for (auto& [rank, of_rank] : by_rank) {
    std::stable_sort(
        of_rank.begin(), of_rank.end(),
        [](const StackProcess& a, const StackProcess& b) { return order_of(a) < order_of(b); });
    if (of_rank.front().threads.empty())
      add_unread(rank, node_name, first_error(of_rank), report);
    else
      add_rank(rank, std::move(of_rank), report);
  }
}

void sort_groups(StackReport* report) {
  for (StackGroup& group : report->groups) std::sort(group.ranks.begin(), group.ranks.end());
  std::stable_sort(report->groups.begin(), report->groups.end(),
                   [](const StackGroup& a, const StackGroup& b) {
                     return std::pair(a.ranks.size(), a.ranks.front()) <
                            std::pair(b.ranks.size(), b.ranks.front());
                   });
}

// ---- for people and for programs ---------------------------------------------------------------

namespace {

// "rank 3", "6 ranks (0–2, 4–6)".
std::string who(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  return fmt::format("{} ranks ({})", ranks.size(), ranges_in_words(ranks));
}

std::string thread_text(const StackThread& thread) {
  std::string name = in_one_line(thread.name);
  if (name.empty()) name = thread.is_main ? "main thread" : "thread";
  if (thread.id != 0) name += fmt::format(" {}", thread.id);
  std::string text = fmt::format("    {}{}\n", name, thread.has_gil ? ", holds the GIL" : "");
  std::size_t count = 0;
  for (const StackFrame& frame : thread.frames) {
    if (count++ == kMostFramesShown)
      return text + fmt::format("      … and {} more\n", thread.frames.size() - kMostFramesShown);
    const std::string place = place_of(frame);
    text += fmt::format("      {}{}\n", in_one_line(frame.function),
                        place.empty() ? "" : " " + in_one_line(place));
  }
  return text;
}

std::string process_text(const StackProcess& process, int rank) {
  std::string text =
      fmt::format("  {}, process {} of rank {}{}\n", in_one_line(process.command), process.pid,
                  rank, process.tool.empty() ? "" : ", by " + in_one_line(process.tool));
  if (!process.error.empty()) text += "    " + in_one_line(process.error) + "\n";
  std::size_t count = 0;
  for (const StackThread& thread : process.threads) {
    if (count++ == kMostThreadsShown)
      return text + fmt::format("    … and {} more threads; -o json has them all\n",
                                process.threads.size() - kMostThreadsShown);
    text += thread_text(thread);
  }
  return text;
}

}  // namespace

std::string stacks_text(const StackReport& report) {
  std::string text;
  for (const StackGroup& group : report.groups)
    text += fmt::format("{}: {}\n", who(group.ranks), in_one_line(group.summary));
  for (const UnreadRanks& unread : report.unread)
    text += fmt::format("{} on {}: not read: {}\n", who(unread.ranks),
                        in_one_line(unread.node_name), in_one_line(unread.reason));
  for (const StackGroup& group : report.groups) {
    text += fmt::format("\n{}\n", who(group.ranks));
    for (const StackProcess& process : group.processes)
      text += process_text(process, group.ranks.front());
  }
  return text;
}

void keys(const StackProcess& process, api::See& see) {
  see("pid", process.pid, "Its number, as the ranks see it.", api::kAnyNumber);
  see("command", process.command, "Its words, shortened.");
  see("tool", process.tool, "What read it: `py-spy`, `eu-stack` or `gdb`; empty: nothing could.");
  see("error", api::unless_empty(process.error),
      "Why there is nothing, or less than was asked for; null: there is all.");
  see("threads", process.threads, "Its threads.");
}

void keys(const StackGroup& group, api::See& see) {
  see("ranks", group.ranks, "Global numbers of ranks, sorted.");
  see("summary", group.summary,
      "The innermost functions of the main thread, such as `all_reduce <- step train.py:88`.");
  see("processes", group.processes,
      "The processes of the group's first rank; what the rank is for comes first.");
}

void keys(const UnreadRanks& unread, api::See& see) {
  see("ranks", unread.ranks, "Global numbers of ranks, sorted.");
  see("node_name", unread.node_name, "Their node.");
  see("reason", unread.reason, "Why they could not be read.");
}

void keys(const StackReport& report, api::See& see) {
  see.page("stacks", "Stacks", "Where the ranks of a job are: `lockstep job stacks`.");
  see("job", report.job, "The job.");
  see("attempt", report.attempt, "The number of its attempt.");
  see("groups", report.groups,
      "Ranks whose threads are all at the same places; the smallest group first.");
  see("unread", report.unread, "Ranks of which no process could be read.");
}

}  // namespace lockstep::cli
