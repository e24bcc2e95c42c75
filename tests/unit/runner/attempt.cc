#include "tests/unit/runner/attempt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <thread>

#include "common/io/net/framed_socket.h"
#include "common/io/process.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/unit/support/open_program.h"

namespace lockstep::runner::testing {

Attempt::Attempt() : Attempt("job") {}

Attempt::Attempt(const std::string& job)
    : directory_(root_.path() + "/attempts/" + job + ".1"),
      marker_("LOCKSTEP_TEST_MARKER=" + root_.path()) {
  assignment.attempt = {JobId(job), 1};
  assignment.experiment = "Default";
  assignment.phase = WantedPhase::run;
  assignment.solo = true;
  assignment.spec.name = job;
  assignment.spec.environment_variables["LOCKSTEP_TEST_MARKER"] = root_.path();
  assignment.allotment.memory = gibibytes(1);
  for (int cpu = 0; cpu < static_cast<int>(std::thread::hardware_concurrency()); ++cpu)
    assignment.allotment.cpus.push_back(cpu);
  EXPECT_TRUE(io::make_directories(directory_.path()));
}

Attempt::~Attempt() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  wait_until([this] { return survivors().empty(); });
  for (const auto& cgroup : leftover_cgroups()) {
    rmdir(cgroup.c_str());
    rmdir(cgroup.substr(0, cgroup.rfind('/')).c_str());
  }
}

Attempt& Attempt::shell(const std::string& text) {
  assignment.spec.command = ShellCommand{text};
  return *this;
}

Attempt& Attempt::argv(std::vector<std::string> words) {
  assignment.spec.command = Argv{std::move(words)};
  return *this;
}

Attempt& Attempt::ranks(int count) {
  assignment.spec.distribution.processes_per_node = count;
  return *this;
}

void Attempt::write_assignment() {
  ASSERT_TRUE(io::write_file_atomically(directory_.assignment(), wire::encode(assignment)));
}

void Attempt::write_orders() {
  write_assignment();
  ASSERT_TRUE(io::write_file_atomically(directory_.workspace(), wire::encode(workspace)));
}

void Attempt::start() {
  write_orders();
  if (runner_uid) {
    for (const auto& path : {root_.path(), root_.path() + "/attempts", directory_.path(),
                             directory_.assignment(), directory_.workspace()})
      ASSERT_EQ(chown(path.c_str(), *runner_uid, *runner_uid), 0);
  }
  // The runner finds the others beside itself.
  for (const char* name : {"/lockstep-spawn", "/lockstep-pmix"})
    test::open_program(LOCKSTEP_BIN_DIR + std::string(name));
  const std::string program = test::open_program(LOCKSTEP_BIN_DIR "/lockstep-runner");
  pid_ = fork();
  if (pid_ != 0) return;
  if (runner_uid && (setgid(*runner_uid) != 0 || setuid(*runner_uid) != 0)) _exit(99);
  if (chdir(root_.path().c_str()) != 0) _exit(97);
  setenv("SECRET_OF_THE_AGENT", "1", 1);
  for (const char* name : {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"})
    setenv(name, "/of/the/agent", 1);
  for (const auto& [name, value] : runner_variables) setenv(name.c_str(), value.c_str(), 1);
  execl(program.c_str(), "lockstep-runner", "--attempt-dir", directory_.path().c_str(),
        "--log-spool", std::to_string(log_spool.count).c_str(), nullptr);
  _exit(98);
}

int Attempt::wait() {
  int status = -1;
  const bool ended = wait_until([&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
  if (!ended) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

NodeExitReport Attempt::report() const {
  const auto bytes = io::read_file(directory_.final_report());
  if (!bytes) {
    ADD_FAILURE() << bytes.error().message << "\n" << runner_log();
    return {};
  }
  auto report = wire::decode_exit_report(*bytes);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : NodeExitReport{};
}

std::string Attempt::out(int rank) const {
  return io::read_file(directory_.log(rank, LogStream::out)).value_or("(no stdout)");
}
std::string Attempt::err(int rank) const {
  return io::read_file(directory_.log(rank, LogStream::err)).value_or("(no stderr)");
}
std::string Attempt::runner_log() const {
  return io::read_file(directory_.runner_log()).value_or("(no runner.log)");
}

std::vector<int> Attempt::survivors() const {
  std::vector<int> found;
  const auto names = io::list_directory("/proc");
  if (!names) return found;
  for (const auto& name : *names) {
    const int pid = std::atoi(name.c_str());
    if (pid <= 0) continue;
    const auto environment = io::read_file("/proc/" + name + "/environ");
    if (environment && environment->find(marker_) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::vector<std::string> Attempt::leftover_cgroups() const {
  std::vector<std::string> left;
  std::istringstream lines(io::read_file(directory_.cgroups()).value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (io::exists(line)) left.push_back(line);
  return left;
}

bool Attempt::printed(const std::string& line, int rank) const {
  return wait_until(
      [&] { return ("\n" + out(rank)).find("\n" + line + "\n") != std::string::npos; });
}

FakeAgent::FakeAgent(const Attempt& attempt) {
  wait_until([&] {
    auto fd =
        io::connect_unix(attempt.directory().path(), attempt.directory().control_socket_name());
    if (fd) socket_ = *std::move(fd);
    return static_cast<bool>(socket_);
  });
  EXPECT_TRUE(socket_) << attempt.runner_log();
  fcntl(socket_.get(), F_SETFL, 0);
  const timeval timeout{60, 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
}

std::optional<RunnerControl> FakeAgent::next_message() {
  std::uint32_t length = 0;
  if (recv(socket_.get(), &length, 4, MSG_WAITALL) != 4) return std::nullopt;
  std::string frame(length, '\0');
  if (recv(socket_.get(), frame.data(), length, MSG_WAITALL) != static_cast<ssize_t>(length))
    return std::nullopt;
  auto message = wire::decode_runner_control(frame);
  if (!message) return std::nullopt;
  return *std::move(message);
}

// What ranks use is told too, from time to time.
std::optional<PartReport> FakeAgent::next_report() {
  while (const auto message = next_message())
    if (const auto* status = std::get_if<RunnerStatus>(&*message)) return status->report;
  return std::nullopt;
}

std::optional<PartReport> FakeAgent::report_in(PartState state) {
  while (auto report = next_report())
    if (report->state == state) return report;
  return std::nullopt;
}

void FakeAgent::send(const Assignment& assignment) {
  EXPECT_TRUE(send_control(UpdateAssignment{assignment}));
}

bool FakeAgent::send_control(const RunnerControl& message) {
  const std::string frame = wire::encode(message);
  const auto length = static_cast<std::uint32_t>(frame.size());
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &length, 4);
  bytes += frame;
  return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace lockstep::runner::testing
