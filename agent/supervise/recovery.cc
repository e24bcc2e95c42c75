#include "agent/supervise/recovery.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "agent/supervise/quarantine.h"
#include "common/base/utf8.h"
#include "common/io/attempt/log_times.h"
#include "common/io/file_system.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kLastWordsBytes = 600;
constexpr int kLastWordsLines = 3;

// At most `limit` bytes from the end of the file, beginning with a whole character; "" if it cannot
// be read.
std::string end_of_file(const std::string& path, std::size_t limit) {
  constexpr std::size_t kBegunCharacter = 3;
  const auto file = io::open_file(path, O_RDONLY);
  const off_t size = file ? ::lseek(file->get(), 0, SEEK_END) : 0;
  if (size <= 0) return {};
  std::string text(std::min(limit + kBegunCharacter, static_cast<std::size_t>(size)), '\0');
  const off_t from = size - static_cast<off_t>(text.size());
  const ssize_t got = ::pread(file->get(), text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(tail(text, limit));
}

std::uint64_t size_of(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
}

std::optional<io::ProcessIdentity> find_by_command_line(const std::string& attempt_directory) {
  const std::string folder = attempt_directory.substr(0, attempt_directory.rfind('/'));
  for (const io::Runner& runner : io::runners_below(folder))
    if (runner.directory == attempt_directory) return runner.process;
  return std::nullopt;
}

// Recovers a part from its directory. nullopt: the directory has no assignment, because its agent
// died before it wrote one.
std::optional<RecoveredPart> recover_part(const io::AttemptDir& directory, bool same_boot) {
  const auto bytes = io::read_file(directory.assignment());
  if (!bytes) return std::nullopt;
  auto assignment = wire::decode_assignment(*bytes);
  if (!assignment) {
    spdlog::error("{}: {}", directory.assignment(), assignment.error().message);
    return std::nullopt;
  }
  using Runner = FoundPart::Runner;
  RecoveredPart part;
  part.found.assignment = *std::move(assignment);
  if (const auto staged = io::read_file(directory.workspace()))
    if (auto plan = wire::decode_workspace_plan(*staged))
      part.found.restored = std::move(plan->restored);
  part.found.started = io::read_started(directory);
  if (const Assignment& found = part.found.assignment; found.spec.environment)
    part.found.environment_log_bytes =
        size_of(directory.log(found.node_rank, LogStream::environment));
  if (same_boot) part.runner = find_runner(directory);
  if (auto report = read_final_report(directory)) {
    part.found.runner = Runner::finished;
    part.found.exit = *std::move(report);
  } else if (part.runner) {
    part.found.runner = Runner::alive;
  } else if (io::exists(directory.runner_log())) {
    part.found.runner = Runner::gone;
    part.found.logs = log_sizes(directory);
    part.found.log_times = size_of_times(directory);
    part.found.last_words = last_words(directory);
  }
  return part;
}

}  // namespace

std::optional<io::ProcessIdentity> find_runner(const io::AttemptDir& directory) {
  if (const auto text = io::read_file(directory.runner_pid())) {
    const auto identity = io::process_identity_from(*text);
    if (identity && io::is_alive(*identity)) return identity;
    if (identity) return std::nullopt;
  }
  // The log is made when the runner is started, the pid file a moment later.
  if (!io::exists(directory.runner_log())) return std::nullopt;
  return find_by_command_line(directory.path());
}

std::vector<LogSize> log_sizes(const io::AttemptDir& directory) {
  const auto names = io::list_directory(directory.logs());
  if (!names) return {};
  std::map<int, LogSize> by_rank;
  for (const std::string& name : *names) {
    const auto log = io::AttemptDir::parse_log_name(name);
    // The environment's log belongs to no rank.
    if (!log || log->second == LogStream::environment) continue;
    struct stat file;
    if (::stat((directory.logs() + "/" + name).c_str(), &file) != 0) continue;
    LogSize& size = by_rank[log->first];
    size.rank = log->first;
    auto& bytes = log->second == LogStream::out ? size.stdout_bytes : size.stderr_bytes;
    bytes = static_cast<std::uint64_t>(file.st_size);
  }
  std::vector<LogSize> sizes;
  for (const auto& [rank, size] : by_rank) sizes.push_back(size);
  return sizes;
}

Bytes size_of_times(const io::AttemptDir& directory) {
  Bytes all;
  const auto names = io::list_directory(directory.logs());
  if (!names) return all;
  for (const std::string& name : *names)
    if (io::AttemptDir::parse_log_name(name))
      all.count += size_of(io::LogTimes(directory.logs() + "/" + name).path());
  return all;
}

std::string last_words(const io::AttemptDir& directory) {
  std::string text = end_of_file(directory.runner_log(), kLastWordsBytes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (int line = 0; line < kLastWordsLines && begin != std::string::npos && begin > 0; ++line)
    begin = text.rfind('\n', begin - 1);
  if (begin != std::string::npos && begin < text.size()) text.erase(0, begin + 1);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3)
    text.replace(at, 1, " | ");
  return text;
}

Result<NodeExitReport> read_final_report(const io::AttemptDir& directory) {
  TRY_ASSIGN(const std::string bytes, io::read_file(directory.final_report()));
  return wire::decode_exit_report(bytes);
}

std::vector<io::Runner> unknown_runners(const AgentHome& home,
                                        const std::vector<RecoveredPart>& known) {
  std::vector<io::Runner> unknown;
  for (const io::Runner& runner : io::runners_below(home.attempts())) {
    if (std::any_of(known.begin(), known.end(),
                    [&](const RecoveredPart& part) { return part.runner == runner.process; }))
      continue;
    spdlog::warn(
        "ending the runner of {1} (pid {0}): it belongs to no attempt that this node knows",
        runner.process.pid, runner.directory);
    unknown.push_back(runner);
  }
  return unknown;
}

std::vector<RecoveredPart> find_parts(const AgentHome& home, bool same_boot) {
  std::vector<RecoveredPart> parts;
  const auto names = io::list_directory(home.attempts());
  if (!names) return parts;
  for (const std::string& name : *names) {
    const io::AttemptDir directory(home.attempts() + "/" + name);
    const auto attempt = io::AttemptDir::attempt_of(name);
    auto part = attempt ? recover_part(directory, same_boot) : std::nullopt;
    if (part && part->found.assignment.attempt == *attempt) {
      parts.push_back(*std::move(part));
      continue;
    }
    spdlog::warn("removing {}: it belongs to no attempt", directory.path());
    if (const Status removed = remove_or_set_aside(home, directory, ""); !removed) {
      spdlog::warn("{}", removed.error().message);
    }
  }
  return parts;
}

}  // namespace lockstep::agent
