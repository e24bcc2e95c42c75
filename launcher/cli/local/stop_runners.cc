#include "launcher/cli/local/stop_runners.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"
#include "common/io/net/framed_socket.h"
#include "common/wire/runners/runner_codec.h"
#include "launcher/cli/local/processes.h"

namespace lockstep::cli {
namespace {

constexpr Duration kAfterGrace = seconds(5);  // for killing, and for the last log lines

struct Asked {
  io::Fd connection;  // kept open while the runner is asked to end
  Duration grace{0};
};

std::optional<Asked> ask_to_stop(const io::Runner& runner) {
  const io::AttemptDir directory(runner.directory);
  const auto stored = io::read_file(directory.assignment());
  auto assignment = stored ? wire::decode_assignment(*stored) : Result<Assignment>(stored.error());
  if (!assignment) return std::nullopt;
  auto connection = io::connect_unix(directory.path(), directory.control_socket_name());
  if (!connection) return std::nullopt;
  assignment->phase = WantedPhase::stop;
  assignment->stop_reason = StopReason::canceled;
  const Duration grace = assignment->grace;
  const std::string order =
      io::framed(wire::encode(RunnerControl(UpdateAssignment{*std::move(assignment)})));
  if (!io::write_all(connection->get(), order)) return std::nullopt;
  return Asked{*std::move(connection), grace};
}

}  // namespace

Status stop_runners(const std::vector<io::Runner>& runners) {
  std::vector<Asked> asked;
  std::vector<io::ProcessIdentity> leaving;
  Duration grace{0};
  for (const io::Runner& runner : runners) {
    auto answer = ask_to_stop(runner);
    if (!answer) continue;
    grace = std::max(grace, answer->grace);
    asked.push_back(*std::move(answer));
    leaving.push_back(runner.process);
  }
  if (!leaving.empty()) (void)wait_gone(leaving, grace + kAfterGrace);
  for (const io::Runner& runner : runners)
    if (io::is_alive(runner.process)) TRY(io::end_runner(runner));
  return {};
}

}  // namespace lockstep::cli
