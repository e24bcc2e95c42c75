#include "launcher/cli/local/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "common/domain/environment/definition.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"
#include "launcher/cli/text/phrases.h"

namespace lockstep::cli {

namespace {

constexpr Duration kStartTimeout = seconds(20);

int milliseconds_left(Instant end, Instant now) {
  return static_cast<int>(std::clamp<std::int64_t>((end - now).count() / 1'000'000 + 1, 0, 60'000));
}

// The variables that a daemon needs; ranks get none of them.
std::map<std::string, std::string> daemon_environment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH",
                           "LOCKSTEP_NVML_LIBRARY", "LOCKSTEP_LOG_SPOOL", "LOCKSTEP_SAMPLE_EVERY",
                           "LOCKSTEP_SILENT_AFTER", "LOCKSTEP_SHARED_MACHINES", "ASAN_OPTIONS",
                           "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  for (const auto& [name, value] : io::own_environment())
    if (is_tool_variable(name)) environment.emplace(name, value);
  return environment;
}

// Waits until `ready` returns true, and checks at each change in `directory`. False: `process`
// ended, or the time is up.
bool wait_in_directory(const std::string& directory, const io::ProcessIdentity& process,
                       const std::function<bool()>& ready) {
  io::SystemClock clock;
  const Instant end = clock.now() + kStartTimeout;
  const io::Fd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ::inotify_add_watch(changes.get(), directory.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE | IN_CREATE);
  const auto alive = io::open_process(process);
  while (!ready()) {
    const Instant now = clock.now();
    if (now >= end || !alive) return false;
    pollfd items[] = {{changes.get(), POLLIN, 0}, {alive->get(), POLLIN, 0}};
    ::poll(items, 2, milliseconds_left(end, now));
    if (items[1].revents != 0) return ready();
    char events[4096];
    while (::read(changes.get(), events, sizeof events) > 0) {
    }
  }
  return true;
}

std::optional<io::ProcessIdentity> living(const std::string& pid_file) {
  const auto text = io::read_file(pid_file, kibibytes(4));
  if (!text) return std::nullopt;
  const auto who = io::process_identity_from(*text);
  if (!who || !io::is_alive(*who)) return std::nullopt;
  return who;
}

// Whether a process still has threads. If the first one has ended, the process looks like a zombie
// while other threads still hold locks and files.
bool has_threads(const io::ProcessIdentity& who) {
  const auto threads = io::list_directory(fmt::format("/proc/{}/task", who.pid));
  return threads && threads->size() > 1 && io::identify(who.pid) == who;
}

}  // namespace

Result<io::KeyPair> user_keys(const LocalHome& home) {
  TRY(io::make_directories(home.path(), 0700));
  io::leave_home_out_of_snapshots(home.path());
  TRY(io::make_directories(home.keys(), 0700));
  return io::load_or_create_key_pair(home.user_key());
}

Status authorize(const LocalHome& home, const PublicKey& key) {
  TRY(io::make_directories(home.launcher(), 0700));
  TRY(io::make_directories(home.launcher_keys(), 0700));
  std::string text;
  if (io::exists(home.authorized_users())) {
    TRY_ASSIGN(text, io::read_file(home.authorized_users(), mebibytes(16)));
  }
  if (text.find(key.value) != std::string::npos) return {};
  if (!text.empty() && text.back() != '\n') text += '\n';
  TRY_ASSIGN(const io::User user, io::current_user());
  text += user.name + " " + key.value + "\n";
  return io::write_file_atomically(home.authorized_users(), text, 0600);
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::string list = ranges_of(cpus);
  if (list.find_first_of(",-") == std::string::npos) list += "-" + list;
  return list;
}

std::string log_tail(const std::string& path) {
  const auto text = io::read_file(path, mebibytes(64));
  if (!text || text->empty()) return "";
  std::size_t start = text->size() - 1;
  for (int lines = 0; lines < 5 && start != std::string::npos && start > 0; ++lines)
    start = text->rfind('\n', start - 1);
  std::string tail = text->substr(start == std::string::npos ? 0 : start);
  while (!tail.empty() && (tail.back() == '\n')) tail.pop_back();
  return fmt::format("; the end of {}:\n{}", path, tail);
}

Result<Endpoint> start_daemon(const LocalHome& home, int fixed_nodes) {
  TRY_ASSIGN(const std::string program, io::find_program("lockstepd"));
  io::DetachedStart start;
  start.program = program;
  start.arguments = {"lockstepd",
                     "--home",
                     home.launcher(),
                     "--fixed-nodes",
                     std::to_string(fixed_nodes),
                     "--datastores",
                     home.datastores(),
                     "--workspace-datastores",
                     home.workspace_datastores(),
                     "--started-by-lockstep"};
  start.environment = daemon_environment();
  // Providers need these: the archive to install, the person's keys, and Slurm's configuration.
  for (const char* name : {"LOCKSTEP_NODE_BUNDLE", "SSH_AUTH_SOCK", "SLURM_CONF"})
    if (const char* value = std::getenv(name)) start.environment[name] = value;
  start.log_path = home.launcher_log();
  TRY_ASSIGN(const io::ProcessIdentity process, io::start_detached(start));
  std::optional<Endpoint> endpoint;
  const bool ready = wait_in_directory(home.launcher(), process, [&] {
    endpoint = live_endpoint(home.endpoint());
    return endpoint.has_value();
  });
  if (ready) return *endpoint;
  const bool alive = io::is_alive(process);
  [[maybe_unused]] const auto ended = end_processes({process}, seconds(2));
  return make_error(ErrorCode::unavailable,
                    fmt::format("the launcher {}{}",
                                alive ? "did not get ready in time" : "ended while it started",
                                log_tail(home.launcher_log())));
}

Result<io::ProcessIdentity> start_agent(const LocalHome& home, const Endpoint& launcher,
                                        const AgentStart& agent) {
  TRY_ASSIGN(const std::string program, io::find_program("lockstep-agent"));
  TRY(io::make_directories(home.nodes(), 0711));
  TRY(io::make_directories(home.node(agent.name), 0711));
  TRY(io::write_file_atomically(home.join_token(agent.name), agent.token + "\n", 0600, false));
  io::DetachedStart start;
  start.program = program;
  start.arguments = {"lockstep-agent",
                     "--launcher",
                     launcher.join,
                     "--token-file",
                     home.join_token(agent.name),
                     "--home",
                     home.node(agent.name),
                     "--packages",
                     home.packages(),
                     "--name",
                     agent.name,
                     "--cpus",
                     cpu_list(agent.share.cpus),
                     "--memory",
                     std::to_string(agent.share.memory.count),
                     "--gpus",
                     agent.share.gpus};
  start.environment = daemon_environment();
  start.log_path = home.agent_log(agent.name);
  TRY_ASSIGN(const io::ProcessIdentity process, io::start_detached(start));
  TRY(io::write_file_atomically(home.started_pid(agent.name), io::to_text(process), 0644, false));
  return process;
}

std::vector<io::ProcessIdentity> living_agents(const LocalHome& home, const std::string& name) {
  std::vector<io::ProcessIdentity> found;
  for (const std::string& file : {home.agent_pid(name), home.started_pid(name)}) {
    const auto who = living(file);
    if (who && std::find(found.begin(), found.end(), *who) == found.end()) found.push_back(*who);
  }
  return found;
}

// Finds runners by their pid files; runners without one by their command lines.
std::vector<io::Runner> living_runners(const LocalHome& home, const std::string& name) {
  std::vector<io::Runner> found = io::runners_below(home.node(name));
  const std::string folder = home.attempts(name);
  const auto names = io::list_directory(folder);
  if (!names) return found;
  for (const auto& attempt : *names) {
    const std::string directory = folder + "/" + attempt;
    const auto who = living(io::AttemptDir(directory).runner_pid());
    if (who && std::none_of(found.begin(), found.end(),
                            [&](const io::Runner& runner) { return runner.process == *who; }))
      found.push_back({*who, directory});
  }
  return found;
}

std::vector<io::Runner> living_runners(const LocalHome& home) {
  std::vector<io::Runner> found = io::runners_below(home.nodes());
  for (const auto& name : local_node_names(home))
    for (const auto& runner : living_runners(home, name))
      if (std::none_of(found.begin(), found.end(),
                       [&](const io::Runner& other) { return other.process == runner.process; }))
        found.push_back(runner);
  return found;
}

Status clean_node(const LocalHome& home, const std::string& name) {
  const std::string folder = home.attempts(name);
  const auto names = io::list_directory(folder);
  if (!names) return {};
  Status status;
  for (const auto& attempt : *names) {
    Status cleaned = io::clean_cgroups(io::AttemptDir(folder + "/" + attempt).cgroups());
    if (!cleaned) status = std::move(cleaned);
  }
  return status;
}

bool has_cgroups(const LocalHome& home, const std::string& name) {
  const std::string folder = home.attempts(name);
  const auto names = io::list_directory(folder);
  if (!names) return false;
  return std::any_of(names->begin(), names->end(), [&](const std::string& attempt) {
    return io::any_cgroup(io::AttemptDir(folder + "/" + attempt).cgroups());
  });
}

std::vector<std::string> local_node_names(const LocalHome& home) {
  auto names = io::list_directory(home.nodes());
  return names ? *std::move(names) : std::vector<std::string>{};
}

bool wait_gone(const std::vector<io::ProcessIdentity>& who, Duration timeout) {
  io::SystemClock clock;
  const Instant end = clock.now() + timeout;
  for (const auto& process : who) {
    const auto fd = io::open_process(process);
    if (!fd) {
      while (has_threads(process))
        if (clock.now() >= end || ::poll(nullptr, 0, 2) != 0) return false;
      continue;
    }
    pollfd item{fd->get(), POLLIN, 0};
    while (::poll(&item, 1, milliseconds_left(end, clock.now())) == 0)
      if (clock.now() >= end) return !io::is_alive(process);
  }
  return true;
}

Status end_processes(const std::vector<io::ProcessIdentity>& who, Duration grace) {
  for (const auto& process : who) TRY(io::signal_process(process, SIGTERM));
  if (wait_gone(who, grace)) return {};
  for (const auto& process : who) TRY(io::signal_process(process, SIGKILL));
  if (wait_gone(who, seconds(5))) return {};
  std::string pids;
  for (const auto& process : who)
    if (io::is_alive(process)) pids += fmt::format(" {}", process.pid);
  return make_error(ErrorCode::io, "these processes do not end, even after SIGKILL:" + pids);
}

}  // namespace lockstep::cli
