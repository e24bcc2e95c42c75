#include "agent/supervise/recovery.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>

#include "agent/supervise/cleanup.h"
#include "common/io/file_system.h"
#include "common/wire/runner.h"

namespace lockstep::agent {
namespace {

std::optional<io::ProcessIdentity> find_by_command_line(const std::string& attempt_directory) {
  const auto names = io::list_directory("/proc");
  if (!names) return std::nullopt;
  const std::string wanted = std::string("--attempt-dir") + '\0' + attempt_directory + '\0';
  for (const std::string& name : *names) {
    if (!std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; })) {
      continue;
    }
    const auto command = io::read_file("/proc/" + name + "/cmdline", mebibytes(4));
    if (!command || command->find(wanted) == std::string::npos) continue;
    const auto identity = io::identify(std::stoi(name));
    if (identity && io::is_alive(*identity)) return identity;
  }
  return std::nullopt;
}

// nullopt: the directory tells nothing; its agent died before it wrote the assignment.
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
  if (same_boot) part.runner = find_runner(directory);
  if (auto report = read_final_report(directory)) {
    part.found.runner = Runner::finished;
    part.found.exit = *std::move(report);
  } else if (part.runner) {
    part.found.runner = Runner::alive;
  } else if (io::exists(directory.runner_log())) {
    part.found.runner = Runner::gone;
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
  // Its log is made when it is started; the pid file a moment later.
  if (!io::exists(directory.runner_log())) return std::nullopt;
  return find_by_command_line(directory.path());
}

Result<NodeExitReport> read_final_report(const io::AttemptDir& directory) {
  TRY_ASSIGN(const std::string bytes, io::read_file(directory.final_report()));
  return wire::decode_exit_report(bytes);
}

std::vector<RecoveredPart> find_parts(const Home& home, bool same_boot) {
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
    spdlog::warn("{} belongs to no attempt; it is removed", directory.path());
    if (const Status removed = remove_part(directory, ""); !removed) {
      spdlog::warn("{}", removed.error().message);
    }
  }
  return parts;
}

}  // namespace lockstep::agent
