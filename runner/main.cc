// lockstep-runner --attempt-dir DIR [--log-spool BYTES]: supervises one attempt's ranks on this
// node, and outlives the agent that started it. lockstep-runner --standby reads DIR from standard
// input, one line: started ahead of time, it has its libraries linked when an attempt comes.
// lockstep-runner --self-test DIR is for `lockstep doctor`. See runner.h.

#include <fcntl.h>
#include <signal.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "common/io/file_system.h"
#include "common/io/process.h"
#include "runner/bootstrap/pmix_server.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr int kOurFailure = 125;

Status start_log(const io::AttemptDir& directory) {
  TRY_ASSIGN(const io::Fd writable,
             io::open_file(directory.runner_log(), O_WRONLY | O_CREAT | O_APPEND));
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(directory.runner_log());
  auto logger = std::make_shared<spdlog::logger>("runner", std::move(sink));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

// One runner per attempt and node: the pid file says who.
Status claim(const io::AttemptDir& directory) {
  if (io::exists(directory.final_report()))
    return make_error(ErrorCode::conflict, directory.path() + " has its final report already");
  if (const auto text = io::read_file(directory.runner_pid())) {
    const auto other = io::process_identity_from(*text);
    if (other && other->pid != getpid() && io::is_alive(*other))
      return make_error(ErrorCode::conflict,
                        directory.path() + " has a runner: pid " + std::to_string(other->pid));
  }
  const auto self = io::identify(getpid());
  if (!self) return make_error(ErrorCode::io, "/proc/self/stat cannot be read; mount /proc");
  return io::write_file_atomically(directory.runner_pid(), io::to_text(*self), 0644, false);
}

// A pipe for each stream of each rank.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Status run(const io::AttemptDir& directory, Bytes log_spool) {
  TRY(start_log(directory));
  TRY(claim(directory));
  // Only the attempt's end, or SIGKILL, ends a runner: a service stop leaves jobs alone.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
  umask(022);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  raise_file_limit();
  TRY_ASSIGN(Orders orders, read_orders(directory));
  spdlog::info("lockstep-runner {} for {}, node rank {}, pid {}", LOCKSTEP_VERSION,
               to_string(orders.assignment.attempt), orders.assignment.node_rank, getpid());
  io::EventLoop loop;
  return Runner(loop, directory, std::move(orders), log_spool).run();
}

// The line an agent writes once it needs us; "" when it left without.
std::string wait_for_order() {
  std::string line;
  char c = 0;
  while (read(STDIN_FILENO, &c, 1) == 1) {
    if (c == '\n') {
      const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (null >= 0) dup2(null, STDIN_FILENO);
      close(null);
      return line;
    }
    line.push_back(c);
  }
  return "";
}

// Whether MPI ranks could be served here: the server with its plug-ins, in DIR.
int self_test(const std::string& directory) {
  io::EventLoop loop;
  PmixServer::Options options;
  options.name = "self-test";
  options.server_name = "ls.self-test";
  options.host = io::host_name();
  options.directory = directory;
  const auto server = PmixServer::start(loop, std::move(options), {});
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return kOurFailure;
  }
  std::puts(pmix_version().c_str());
  return 0;
}

}  // namespace
}  // namespace lockstep::runner

int main(int argc, char** argv) {
  using namespace lockstep;
  std::string directory;
  std::optional<Bytes> log_spool = runner::kDefaultLogSpool;
  const bool bounded = argc == 5 && std::string_view(argv[3]) == "--log-spool";
  if (bounded) log_spool = parse_bytes(argv[4]);
  if ((argc == 3 || bounded) && log_spool && std::string_view(argv[1]) == "--attempt-dir") {
    directory = argv[2];
  } else if (argc == 2 && std::string_view(argv[1]) == "--standby") {
    directory = runner::wait_for_order();
    if (directory.empty()) return 0;
  } else if (argc == 3 && std::string_view(argv[1]) == "--self-test") {
    return runner::self_test(argv[2]);
  } else if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("lockstep-runner " LOCKSTEP_VERSION);
    return 0;
  } else {
    std::fprintf(stderr,
                 "usage: lockstep-runner --attempt-dir DIR [--log-spool BYTES] | --standby "
                 "(it is started by lockstep-agent)\n");
    return runner::kOurFailure;
  }
  const auto done = runner::run(io::AttemptDir(directory), *log_spool);
  if (done) return 0;
  spdlog::error("{}", done.error().message);
  std::fprintf(stderr, "lockstep-runner: %s\n", done.error().message.c_str());
  return runner::kOurFailure;
}
