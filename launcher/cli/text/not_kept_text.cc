#include "launcher/cli/text/not_kept_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

// The sum over all nodes. A name that several nodes have is listed once.
struct Sum {
  std::vector<std::string> names;
  std::uint64_t more = 0;
  std::uint64_t files = 0;
  Bytes size;
  bool at_least = false;
  int nodes = 0;

  void add(const NotKept& part) {
    if (part.names.empty()) return;
    ++nodes;
    for (const std::string& name : part.names) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    more = std::max(more, part.more);
    files += part.files;
    size.count += part.size.count;
    at_least = at_least || part.at_least;
  }
};

}  // namespace

std::string not_kept_text(const JobView& job) {
  if (job.attempts.empty()) return "";
  Sum sum;
  for (const PartView& part : job.attempts.back().parts)
    if (part.not_kept) sum.add(*part.not_kept);
  if (sum.names.empty()) return "";
  if (sum.names.size() > kMaxNotKeptNames) {
    sum.more += sum.names.size() - kMaxNotKeptNames;
    sum.names.resize(kMaxNotKeptNames);
  }
  std::string names;
  for (const std::string& name : sum.names)
    names += (names.empty() ? "" : ", ") + in_one_line(name);
  if (sum.more > 0) names += fmt::format(" and {} more", sum.more);
  return fmt::format(
      "{} ({}{} file{}{}, {}); write to outputs/ or use --keep (lockstep.keep in a job file)",
      names, sum.at_least ? "at least " : "", sum.files, sum.files == 1 ? "" : "s",
      sum.nodes > 1 ? fmt::format(" on {} nodes", sum.nodes) : "", to_string(sum.size));
}

std::string lost_logs_text(const JobView& job) {
  Bytes known;
  std::string first;
  std::size_t nodes = 0;
  for (const AttemptView& attempt : job.attempts) {
    for (const PartView& part : attempt.parts) {
      if (!part.lost_logs) continue;
      known.count += part.lost_logs->count;
      if (++nodes == 1) first = in_one_line(part.node_name);
    }
  }
  if (nodes == 0) return "";
  const std::string where =
      fmt::format("node {}{}", first, nodes == 1 ? "" : fmt::format(" and {} more", nodes - 1));
  if (known.count == 0)
    return fmt::format("the last logs of {} did not arrive in time and were not kept", where);
  return fmt::format(
      "the last {} of the logs of {} were not kept: the launcher had no space for them",
      to_string(known), where);
}

}  // namespace lockstep::cli
