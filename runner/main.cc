// lockstep-runner --attempt-dir DIR [--log-spool BYTES] [--max-pids-limit N] [--max-log-limit
// BYTES] [--sample-every-ms N] (0 = none) [--probe-cache DIR]: supervises one attempt's ranks on
// this node, and outlives the agent that started it. `lockstep-runner --template` is started ahead
// of time, and forked for each attempt (docs/decisions/018). `lockstep-runner --self-test DIR` is
// for `lockstep doctor`. See runner.h.

#include <fcntl.h>
#include <signal.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/io/cgroups/nursery.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/log_sink.h"
#include "common/io/process.h"
#include "common/io/programs/fork_server.h"
#include "common/wire/runners/runner_codec.h"
#include "runner/pmix/client.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr int kOurFailure = 125;
constexpr std::uint64_t kMostSampleMs = 3'600'000;
// "off": the gang of a first node with this value is not probed and uses the addresses of the
// launcher's table. For tests, and for networks that a probe would disturb.
constexpr char kProbeVariable[] = "LOCKSTEP_PROBE";

Status start_log(const io::AttemptDir& directory) {
  TRY_ASSIGN(const io::Fd writable,
             io::open_file(directory.runner_log(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(directory.runner_log());
  auto logger = std::make_shared<spdlog::logger>("runner", io::printable_sink(std::move(sink)));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

// Claims the attempt for this runner, which the pid file then names: there is one runner per
// attempt and node.
Status claim(const io::AttemptDir& directory) {
  if (io::exists(directory.final_report()))
    return make_error(ErrorCode::conflict, directory.path() + " already has its final report");
  const auto self = io::identify(getpid());
  if (!self) return make_error(ErrorCode::io, "/proc/self/stat cannot be read; mount /proc");
  if (const auto text = io::read_file(directory.runner_pid())) {
    const auto other = io::process_identity_from(*text);
    if (other == self) return {};  // a forked runner wrote the file before it was told to start
    if (other && io::is_alive(*other))
      return make_error(ErrorCode::conflict, directory.path() + " already has a runner: pid " +
                                                 std::to_string(other->pid));
  }
  return io::write_file_atomically(directory.runner_pid(), io::to_text(*self), 0644, false);
}

// Does what libraries do at their first use, once before the forks. Nothing here may start a
// thread, or open what forks would share.
void warm_up() {
  const auto assignment = wire::decode_assignment(wire::encode(Assignment()));
  const auto plan = wire::decode_workspace_plan(wire::encode(WorkspacePlan()));
  const auto report = wire::decode_exit_report(wire::encode(NodeExitReport()));
  (void)wire::decode_runner_control(wire::encode(RunnerControl(RunnerStatus())));
  (void)io::current_user();
  (void)sha256("");
  tzset();
  io::EventLoop().turn(Duration::zero());
  spdlog::debug("warm: {}", assignment && plan && report);
}

// Raises the limit of files: each rank needs a pipe for each of its streams.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Status run(const io::AttemptDir& directory, const NodeBounds& bounds) {
  TRY(start_log(directory));
  TRY(claim(directory));
  // Only the end of the attempt or SIGKILL ends a runner: stopping a service must not end jobs.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
  umask(022);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  raise_file_limit();
  io::forbid_core_dumps();
  TRY_ASSIGN(Orders orders, read_orders(directory));
  spdlog::info("lockstep-runner {} for {}, node rank {}, pid {}", LOCKSTEP_VERSION,
               to_string(orders.assignment.attempt), orders.assignment.node_rank, getpid());
  io::EventLoop loop;
  return Runner(loop, directory, std::move(orders), bounds).run();
}

// Whether MPI ranks could be served here. Starts the server with its plug-ins in `directory`.
Result<std::string> try_pmix(const std::string& directory) {
  TRY_ASSIGN(const std::string program, io::find_program("lockstep-pmix"));
  io::EventLoop loop;
  TRY_ASSIGN(const auto server, pmix::Client::launch(loop, program, geteuid(), getegid()));
  std::optional<Status> started;
  const pmix::Job no_ranks{"self-test", {io::host_name()}, 0, 0};
  server->start(no_ranks, directory, {},
                [&started](Status status) { started = std::move(status); });
  io::SystemClock clock;
  while (!started) {
    loop.turn(std::max(Duration::zero(), server->next_deadline() - clock.now()));
    server->expire(clock.now());
  }
  TRY(*std::move(started));
  return server->library();
}

int self_test(const std::string& directory) {
  const auto version = try_pmix(directory);
  if (version)
    std::puts(version->c_str());
  else
    std::fprintf(stderr, "%s\n", version.error().message.c_str());
  return version ? 0 : kOurFailure;
}

struct Invocation {
  std::string directory;
  NodeBounds bounds = {};
};

std::optional<Invocation> invocation_from(const std::vector<std::string>& words) {
  if (words.size() < 3 || words.size() % 2 == 0 || words[1] != "--attempt-dir") return std::nullopt;
  Invocation invocation{words[2]};
  NodeBounds& bounds = invocation.bounds;
  const char* const probe = std::getenv(kProbeVariable);
  bounds.probes = probe == nullptr || std::string_view(probe) != "off";
  for (std::size_t i = 3; i < words.size(); i += 2) {
    if (words[i] == "--probe-cache") {
      bounds.probe_cache = words[i + 1];
      continue;
    }
    const auto number = parse_bytes(words[i + 1]);
    if (!number) return std::nullopt;
    if (words[i] == "--log-spool")
      bounds.log_spool = *number;
    else if (words[i] == "--max-pids-limit")
      bounds.caps.pids = static_cast<int>(std::min<std::uint64_t>(number->count, kMostPidsLimit));
    else if (words[i] == "--max-log-limit")
      bounds.caps.log = *number;
    else if (words[i] == "--sample-every-ms")
      bounds.sample_every = milliseconds(std::min<std::uint64_t>(number->count, kMostSampleMs));
    else
      return std::nullopt;
  }
  return invocation;
}

int supervise(const Invocation& invocation) {
  const auto done = run(io::AttemptDir(invocation.directory), invocation.bounds);
  if (done) return 0;
  spdlog::error("{}", done.error().message);
  std::fprintf(stderr, "lockstep-runner: %s\n", done.error().message.c_str());
  return kOurFailure;
}

// Claims the attempt for a forked runner. The attempt's directory names the runner before the agent
// learns of it, so that a restarted agent finds the runner. The name of the nursery is written,
// too: removing the attempt removes its nursery.
Status claim_for(const io::ForkOrder& order, const std::string& nursery) {
  const auto invocation = invocation_from(order.words);
  if (!invocation)
    return make_error(ErrorCode::invalid_argument, "not the command line of a runner");
  const io::AttemptDir directory(invocation->directory);
  if (!nursery.empty())
    TRY(io::write_file_atomically(directory.cgroups(), nursery + "\n", 0644, false));
  return claim(directory);
}

int be_template(char** argv) {
  unsetenv("LD_BIND_NOW");  // set only for our own start; runners must not inherit it
  warm_up();
  io::remove_empty_nurseries();
  std::string nursery;
  const auto words =
      io::serve_forks(STDIN_FILENO, argv,
                      {[&nursery](const io::ForkOrder& order) { return claim_for(order, nursery); },
                       [&nursery] { nursery = io::enter_nursery(); }});
  if (!words) {
    io::remove_empty_nurseries();
    return 0;
  }
  Invocation invocation = *invocation_from(*words);
  invocation.bounds.nursery = nursery;
  const int code = supervise(invocation);
  spdlog::shutdown();
  _exit(code);  // exits without destructors: the forks share what they would release
}

int usage() {
  std::fputs(
      "usage: lockstep-runner --attempt-dir DIR [--log-spool BYTES] [--max-pids-limit N] "
      "[--max-log-limit BYTES] [--sample-every-ms N] [--probe-cache DIR] | --template "
      "(it is started by lockstep-agent)\n",
      stderr);
  return kOurFailure;
}

}  // namespace
}  // namespace lockstep::runner

int main(int argc, char** argv) {
  using namespace lockstep;
  const std::vector<std::string> words(argv, argv + argc);
  const std::string verb = argc > 1 ? words[1] : "";
  if (const auto invocation = runner::invocation_from(words)) return runner::supervise(*invocation);
  if (argc == 3 && verb == "--template") return runner::be_template(argv);
  if (argc == 3 && verb == "--self-test") return runner::self_test(words[2]);
  if (argc != 2 || verb != "--version") return runner::usage();
  std::puts("lockstep-runner " LOCKSTEP_VERSION);
  return 0;
}
