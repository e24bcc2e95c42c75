#include "agent/supervise/runner_starter.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

namespace lockstep::agent {
namespace {

constexpr Duration kPauseAfterFailure = seconds(10);
// The length of an attempt's directory name and of the rest of a runner's command line.
constexpr std::size_t kRestOfCommandLine = 255 + 256;

// The environment of a runner. It gets none from the agent, except for the path of its libraries
// and our own switches.
std::map<std::string, std::string> runner_environment() {
  std::map<std::string, std::string> environment;
  environment["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const auto& [name, value] : io::own_environment()) {
    const bool kept = name == "LD_LIBRARY_PATH" || name == "LD_PRELOAD" || name == "HOME" ||
                      name == "LANG" || name.compare(0, 9, "LOCKSTEP_") == 0 ||
                      name.find("SAN_OPTIONS") != name.npos;
    if (kept) environment[name] = value;
  }
  return environment;
}

}  // namespace

RunnerStarter::RunnerStarter(RunnerProgram program, std::string attempts)
    : program_(std::move(program)),
      attempts_(std::move(attempts)),
      environment_(runner_environment()) {}

io::DetachedStart RunnerStarter::plain_start() const {
  io::DetachedStart start;
  start.program = program_.path;
  start.environment = environment_;
  return start;
}

RunnerStarter::Template RunnerStarter::current() const {
  const std::lock_guard lock(mutex_);
  return template_;
}

void RunnerStarter::keep_template() {
  {
    const std::lock_guard lock(mutex_);
    if (template_ || starting_ || (!has_served_ && clock_.now() < again_at_)) return;
    starting_ = true;
  }
  io::DetachedStart start = plain_start();
  start.environment["LD_BIND_NOW"] = "1";  // resolved once, for all runners that are forked
  // The template has another name than runners, because it supervises no attempt.
  start.arguments = {"lockstep-template", "--template"};
  auto server = io::ForkServer::start(
      std::move(start), attempts_.size() + program_.probe_cache.size() + kRestOfCommandLine);
  if (!server)
    spdlog::warn("runners start more slowly, because their template process did not start: {}",
                 server.error().message);
  const std::lock_guard lock(mutex_);
  starting_ = has_served_ = false;
  again_at_ = clock_.now() + kPauseAfterFailure;
  if (server) template_ = *std::move(server);
}

// Ends a template that is stopped or hangs; otherwise it would stay, since it is not a child of
// this process.
void RunnerStarter::drop(const Template& broken, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (template_ != broken) return;
    template_.reset();
  }
  spdlog::warn("ending the runners' template process (pid {}): {}; runners start without it",
               broken->identity().pid, why.message);
  (void)io::signal_process(broken->identity(), SIGKILL);
}

Result<io::ProcessIdentity> RunnerStarter::start(const io::AttemptDir& directory) {
  const auto every = std::chrono::duration_cast<milliseconds>(program_.sample_every);
  std::vector<std::string> words = {"lockstep-runner",
                                    "--attempt-dir",
                                    directory.path(),
                                    "--log-spool",
                                    std::to_string(program_.log_spool.count),
                                    "--max-pids-limit",
                                    std::to_string(program_.caps.pids),
                                    "--max-log-limit",
                                    std::to_string(program_.caps.log.count),
                                    "--sample-every-ms",
                                    std::to_string(every.count())};
  if (!program_.probe_cache.empty())
    words.insert(words.end(), {"--probe-cache", program_.probe_cache});
  if (const Template ready = current()) {
    auto forked = ready->fork({words, directory.runner_log()});
    if (forked || forked.error().code != ErrorCode::unavailable) {
      const std::lock_guard lock(mutex_);
      has_served_ = true;
      return forked;
    }
    drop(ready, forked.error());
  }
  io::DetachedStart start = plain_start();
  start.arguments = words;
  start.log_path = directory.runner_log();
  auto started = io::start_detached(start);
  keep_template();
  return started;
}

}  // namespace lockstep::agent
