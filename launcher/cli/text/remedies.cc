#include "launcher/cli/text/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

// The part with the rank that failed.
const PartView* part_of(const JobView& job, const ExitReport& report) {
  if (!report.rank || job.attempts.empty()) return nullptr;
  const auto& parts = job.attempts.back().parts;
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const PartView& part) {
    return *report.rank >= part.first_rank && *report.rank < part.first_rank + part.ranks;
  });
  return found == parts.end() ? nullptr : &*found;
}

// The advice for a command `python` on machines that only have `python3`.
std::string missing_python(const JobView& job, const ExitReport& report) {
  if (report.exit_code != 127) return "";
  const auto* argv = std::get_if<Argv>(&job.spec.command);
  const bool is_command = argv != nullptr && !argv->words.empty() && argv->words[0] == "python";
  const std::string& said = report.stderr_tail;
  const bool in_shell = said.find("python: command not found") != std::string::npos ||
                        said.find("python: not found") != std::string::npos;
  if (!is_command && !in_shell) return "";
  return "  no `python` on the job's PATH; write python3, or pass your shell's with `--env PATH`\n";
}

std::string memory(const JobView& job, const ExitReport& report) {
  const PartView* part = part_of(job, report);
  if (report.cause != Cause::out_of_memory || part == nullptr) return "";
  const std::string limit = to_string(part->allotment.memory);
  if (!job.spec.resources.memory)
    return fmt::format(
        "  the job already had all memory of its node ({}): use less memory (a smaller batch, "
        "fewer ranks per node), or nodes with more memory\n",
        limit);
  return fmt::format(
      "  the job's memory limit is {} on each node, for all its ranks there: ask for more with "
      "--memory (lockstep.resources.memory in a job file)\n",
      limit);
}

// The quoted text after the last `mark`.
std::string_view quoted_after(std::string_view text, std::string_view mark) {
  const auto at = text.rfind(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find('\''));
}

// The package on PyPI to install for a module, if its name differs.
std::string package_of(const std::string& module) {
  static const std::map<std::string, std::string> kPackages = {{"PIL", "Pillow"},
                                                               {"cv2", "opencv-python-headless"},
                                                               {"sklearn", "scikit-learn"},
                                                               {"skimage", "scikit-image"},
                                                               {"yaml", "PyYAML"},
                                                               {"bs4", "beautifulsoup4"},
                                                               {"dateutil", "python-dateutil"}};
  const auto found = kPackages.find(module);
  return found == kPackages.end() ? module : found->second;
}

std::string missing_module(const JobView& job, const ExitReport& report) {
  std::string module(quoted_after(report.stderr_tail, "ModuleNotFoundError: No module named '"));
  module.resize(std::min(module.find('.'), module.size()));
  if (module.empty()) return "";
  const std::string name = printable(module), package = printable(package_of(module));
  if (job.spec.environment)
    return fmt::format(
        "  the job's environment has no module '{}': add its package ('{}'?) there; a module of "
        "your own must be in the source directory\n",
        name, package);
  return fmt::format(
      "  the node's Python has no module '{}': add it with --pip {}, --requirements FILE or "
      "--conda-file FILE (environment.conda_file in a job file); a module of your own must be in "
      "the source directory\n",
      name, package);
}

std::string full_disk(const ExitReport& report) {
  if (report.cause == Cause::disk_limit ||
      report.stderr_tail.find("No space left on device") == std::string::npos)
    return "";
  return fmt::format(
      "  a disk of {} was full: `lockstep node show {}` shows the free space; write less, or ask "
      "for a node with more\n",
      report.node_name, report.node_name);
}

// The advice to keep a core file. A crashed program has a stack that people want to see. A shell
// ends with 128 + the signal of its last program.
std::string core_file(const JobView& job, const ExitReport& report) {
  constexpr std::array<int, 5> kCrashes{4, 6, 7, 8, 11};  // ILL, ABRT, BUS, FPE, SEGV
  const bool is_of_rank = report.cause == Cause::signal || report.cause == Cause::exit_code;
  const bool crashed =
      std::find(kCrashes.begin(), kCrashes.end(), report.exit_code - 128) != kCrashes.end();
  if (!is_of_rank || !crashed || job.spec.core != CoreFile::off) return "";
  return "  to see where: run it again with --core backtrace (lockstep.core in a job file)\n";
}

std::string lost_node(const JobView& job, const ExitReport& report) {
  if (report.cause != Cause::node_lost) return "";
  const std::string node = report.node_name.empty() ? "the node" : report.node_name;
  const RetryPolicy& retry = job.spec.retry;
  const bool would_retry =
      retry.max == 0 && job.spec.terminal == TerminalKind::none &&
      std::find(retry.on.begin(), retry.on.end(), RetryOn::infrastructure) != retry.on.end();
  const std::string no_retry =
      would_retry ? fmt::format(
                        "; the job has --retry 0 (lockstep.retry.max: 0 in a job file); "
                        "without that, it runs again by itself after a lost node, up to "
                        "{} times",
                        RetryPolicy().max)
                  : "";
  return fmt::format(
      "  see that {0} is on, that the network reaches it and that its lockstep-agent runs "
      "(`lockstep node show {0}`){1}\n",
      node, no_retry);
}

}  // namespace

std::string remedies(const JobView& job, const ExitReport& report) {
  return memory(job, report) + missing_python(job, report) + missing_module(job, report) +
         full_disk(report) + lost_node(job, report) + core_file(job, report);
}

}  // namespace lockstep::cli
