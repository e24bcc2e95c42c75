#include "launcher/cli/local/launcher.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/io/clock.h"
#include "common/io/disk.h"
#include "common/io/files/disk_space.h"
#include "launcher/cli/local/past_launcher.h"
#include "launcher/cli/local/stop_runners.h"
#include "launcher/cli/local/surplus_nodes.h"

namespace lockstep::cli {

namespace {

constexpr Duration kNodesTimeout = seconds(20);
constexpr Duration kRestartTimeout = seconds(3);  // short, because others wait meanwhile
constexpr Duration kShutdownTimeout = minutes(5);
constexpr Duration kLeaveTimeout = seconds(3);     // for a runner to leave after its final report
constexpr Bytes kTooLittleToStart = mebibytes(1);  // space for the journal, the endpoint and logs

int active_jobs(const LauncherStatus& status) {
  int active = 0;
  for (const auto& [word, count] : status.jobs) {
    const auto known = job_status_from(word);
    if (known && !is_final(*known)) active += count;
  }
  return active;
}

// Shows, once, the first job that has not ended.
void tell_what_is_awaited(Connection& connection, Terminal& terminal) {
  ListJobs unfinished;
  unfinished.all = false;
  unfinished.filter.archived = ArchivedToo::yes;
  const auto jobs = connection.ask_for<JobsReply>(unfinished, seconds(5));
  if (!jobs || jobs->jobs.empty()) return;
  const JobView& job = jobs->jobs.front();
  const auto others = static_cast<std::int64_t>(jobs->jobs.size()) - 1 + jobs->more;
  terminal.clear_status();
  terminal.print_line(fmt::format("waiting for job {}{} to end{}{}", job.spec.name,
                                  others == 0 ? "" : fmt::format(" and {} more", others),
                                  job.reason.empty() ? "" : ": ", job.reason));
}

// Shuts the launcher down; succeeds if it has gone. Canceling takes the jobs' grace time.
Status shut_down(Connection& connection, const io::ProcessIdentity& process, bool cancel,
                 Terminal& terminal) {
  io::SystemClock clock;
  bool is_told = false;
  const Instant end = clock.now() + kShutdownTimeout;
  while (true) {
    const auto reply = connection.ask(Shutdown{cancel}, seconds(5), seconds(5), process);
    if (reply || !io::is_alive(process)) return {};
    if (reply.error().code != ErrorCode::unavailable || clock.now() >= end) return reply.error();
    if (!std::exchange(is_told, true)) tell_what_is_awaited(connection, terminal);
  }
}

void sleep_briefly() {
  const timespec pause{0, 3'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

int LocalLauncher::wanted_nodes() const {
  const auto text = io::read_file(home_.local_nodes(), kibibytes(1));
  const int nodes = text ? std::atoi(text->c_str()) : 1;
  return std::clamp(nodes, 1, kMaxLocalNodes);
}

// Writes the number of nodes. A full disk must not stop people from reading: if it cannot be
// written, it is known only until the next start.
void LocalLauncher::keep_wanted_nodes(int nodes) {
  if (io::exists(home_.local_nodes()) && wanted_nodes() == nodes) return;
  const Status kept =
      io::write_file_atomically(home_.local_nodes(), std::to_string(nodes) + "\n", 0644, false);
  if (!kept)
    terminal_.print_line(fmt::format(
        "cannot save the number of local nodes in {}: {}; free space there, then run `lockstep up`",
        home_.path(), kept.error().message));
}

bool LocalLauncher::agents_serve(const Endpoint& endpoint, int nodes) const {
  for (int i = 0; i < nodes; ++i) {
    const std::string name = LocalHome::node_name(i);
    if (living_agents(home_, name).empty()) return false;
    if (belongs_to_other_launcher(home_, name, endpoint.public_key)) return false;
  }
  return true;
}

Error LocalLauncher::home_unusable(Error error) const {
  error.message =
      fmt::format("Lockstep cannot use its home {}: {}; set LOCKSTEP_HOME to use another directory",
                  home_.path(), error.message);
  return error;
}

// The log of a launcher on a full disk names the file, but not what to do.
Error LocalLauncher::not_started(Error error) const {
  const auto space = io::disk_space(home_.path());
  if (!space || space->free >= kTooLittleToStart) return error;
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("no launcher runs, and none can start: the disk of {} is full ({} free); free "
                  "space there and run this again (the launcher's log: {})",
                  home_.path(), to_string(space->free), home_.launcher_log()));
}

Result<Endpoint> LocalLauncher::ensure(int nodes, bool heal) {
  if (nodes == 0) {
    nodes = wanted_nodes();
    // A launcher that its operator started by hand has nodes that join it, and no local ones.
    heal = heal && io::exists(home_.local_nodes());
  }
  if (auto endpoint = live_endpoint(home_.endpoint()))
    if (!heal || agents_serve(*endpoint, wanted_nodes())) return *endpoint;
  if (const Status made = io::make_directories(home_.path(), 0700); !made)
    return home_unusable(made.error());
  const auto lock = io::FileLock::acquire(home_.up_lock());
  if (!lock) return home_unusable(lock.error());
  if (auto endpoint = live_endpoint(home_.endpoint())) {  // another command has started it first
    if (heal) TRY(add_agents(*endpoint, wanted_nodes()));
    return *endpoint;
  }
  terminal_.progress("starting a launcher and " + std::to_string(nodes) + " local node(s)");
  auto started = start_all(nodes);
  terminal_.clear_status();
  if (!started) return not_started(std::move(started).error());
  return started;
}

Result<Endpoint> LocalLauncher::start_all(int nodes) {
  TRY(may_start_launcher(home_));
  TRY_ASSIGN(const io::KeyPair keys, user_keys(home_));
  TRY(authorize(home_, keys.public_key));
  keep_wanted_nodes(nodes);
  TRY_ASSIGN(Endpoint endpoint, start_daemon(home_, nodes));
  TRY(add_agents(endpoint, nodes));
  TRY_ASSIGN(const auto connection, Connection::open(endpoint, keys));
  remove_surplus_nodes(*connection, home_, nodes);
  return endpoint;
}

Result<LocalLauncher::Started> LocalLauncher::start_missing(Connection& connection,
                                                            const Endpoint& endpoint, int nodes,
                                                            Duration timeout) {
  const auto shares = divide(this_machine(), nodes);
  Started started;
  TRY_ASSIGN(Known known, known_nodes(connection, endpoint, timeout));
  for (int i = 0; i < nodes; ++i) {
    const std::string name = LocalHome::node_name(i);
    const bool is_alive = !living_agents(home_, name).empty();
    if (is_alive && !belongs_to_other_launcher(home_, name, known)) continue;
    if (is_alive) {
      TRY_ASSIGN(known, known_nodes(connection, endpoint, timeout));
      if (!belongs_to_other_launcher(home_, name, known)) continue;
      TRY(end_foreign_agents(name));
    }
    started.agents.push_back({name, shares[static_cast<std::size_t>(i)], ""});
  }
  if (started.agents.empty()) return started;
  const int uses = static_cast<int>(started.agents.size());
  for (const auto& agent : started.agents)
    TRY(forget_past_node(connection, home_, known, agent.name));
  TRY_ASSIGN(
      const TokenReply token,
      connection.ask_for<TokenReply>(CreateToken{minutes(10), uses, Approval::waived}, timeout));
  for (auto& agent : started.agents) {
    agent.token = token.token;
    TRY_ASSIGN(const io::ProcessIdentity process, start_agent(home_, endpoint, agent));
    started.processes.push_back(process);
  }
  return started;
}

// Ends agents whose launcher lost its home: no launcher knows any more which parts they still run.
Status LocalLauncher::end_foreign_agents(const std::string& name) {
  TRY(end_processes(living_agents(home_, name), seconds(10)));
  const auto runners = living_runners(home_, name);
  TRY(stop_runners(runners));
  TRY(clean_node(home_, name));
  terminal_.print_line(fmt::format(
      "{0} had joined a launcher that no longer exists: ended its agent{1}; {0} now joins the "
      "current launcher",
      name, runners.empty() ? "" : fmt::format(" and {} part(s) of jobs there", runners.size())));
  return {};
}

// Starts local agents that do not run, or that have joined another launcher, and waits until their
// nodes are usable.
Status LocalLauncher::add_agents(const Endpoint& endpoint, int nodes) {
  TRY_ASSIGN(const io::KeyPair keys, user_keys(home_));
  TRY_ASSIGN(const auto connection, Connection::open(endpoint, keys));
  TRY_ASSIGN(const Started started, start_missing(*connection, endpoint, nodes, kNodesTimeout));
  return wait_for_nodes(*connection, started);
}

Result<std::vector<std::string>> LocalLauncher::restart_agents() {
  std::vector<std::string> names;
  // A launcher that its operator started by hand has nodes that join it, and no local ones.
  if (!io::exists(home_.local_nodes())) return names;
  auto endpoint = live_endpoint(home_.endpoint());
  if (!endpoint || agents_serve(*endpoint, wanted_nodes())) return names;
  TRY_ASSIGN(const auto lock, io::FileLock::try_acquire(home_.up_lock()));
  if (!lock || !io::exists(home_.local_nodes())) return names;
  endpoint = live_endpoint(home_.endpoint());
  if (!endpoint || agents_serve(*endpoint, wanted_nodes())) return names;
  TRY_ASSIGN(const io::KeyPair keys, user_keys(home_));
  TRY_ASSIGN(const auto connection, Connection::open(*endpoint, keys));
  TRY_ASSIGN(const Started started,
             start_missing(*connection, *endpoint, wanted_nodes(), kRestartTimeout));
  for (const auto& agent : started.agents) names.push_back(agent.name);
  return names;
}

Status LocalLauncher::wait_for_nodes(Connection& connection, const Started& started) {
  const auto& agents = started.agents;
  const auto& processes = started.processes;
  io::SystemClock clock;
  const Instant end = clock.now() + kNodesTimeout;
  while (true) {
    TRY_ASSIGN(const NodesReply reply, connection.ask_for<NodesReply>(ListNodes{}));
    std::size_t ready = 0;
    for (std::size_t i = 0; i < agents.size(); ++i) {
      const bool alive =
          std::any_of(reply.nodes.begin(), reply.nodes.end(), [&](const NodeView& node) {
            return node.id == node_id(home_, agents[i].name) && node.liveness == Liveness::alive;
          });
      if (alive) ++ready;
      if (!alive && !io::is_alive(processes[i]))
        return make_error(ErrorCode::unavailable,
                          fmt::format("the agent of {} ended while it started{}", agents[i].name,
                                      log_tail(home_.agent_log(agents[i].name))));
    }
    if (ready == agents.size()) return {};
    if (clock.now() >= end)
      return make_error(ErrorCode::deadline_exceeded,
                        fmt::format("{} of {} local node(s) did not get ready within {}; see {}",
                                    agents.size() - ready, agents.size(),
                                    format_duration(kNodesTimeout), home_.nodes()));
    sleep_briefly();
  }
}

Status LocalLauncher::up(int nodes) {
  if (const auto endpoint = live_endpoint(home_.endpoint())) {
    if (is_operators(home_) && !io::exists(home_.local_nodes())) return up_beside_operator(nodes);
    const int have = wanted_nodes();
    if (nodes > have) return grow(*endpoint, have, nodes);
    if (nodes != 0 && nodes < have)
      return make_error(
          ErrorCode::conflict,
          fmt::format("{} local nodes are up already; to have {}, run `lockstep down` "
                      "first",
                      have, nodes));
  }
  TRY_ASSIGN(const Endpoint endpoint, ensure(nodes == 0 ? wanted_nodes() : nodes, true));
  TRY_ASSIGN(const auto lock, io::FileLock::acquire(home_.up_lock()));
  // The launcher may have lost its journal, and then knows no nodes.
  return add_agents(endpoint, wanted_nodes());
}

Status LocalLauncher::up_beside_operator(int nodes) {
  if (nodes == 0) return {};
  return make_error(
      ErrorCode::conflict,
      fmt::format("the launcher in {} was not started by `lockstep`, so `lockstep up` does not "
                  "start nodes for it; to add a node, start lockstep-agent with a token from "
                  "`lockstep node token`, or set LOCKSTEP_HOME to another directory",
                  home_.launcher()));
}

// Adds nodes. The machine is divided again, so nothing may run meanwhile.
Status LocalLauncher::grow(const Endpoint& endpoint, int from, int to) {
  TRY_ASSIGN(const auto lock, io::FileLock::acquire(home_.up_lock()));
  TRY_ASSIGN(const io::KeyPair keys, user_keys(home_));
  TRY_ASSIGN(const auto connection, Connection::open(endpoint, keys));
  TRY_ASSIGN(const StatusReply reply, connection->ask_for<StatusReply>(GetStatus{}));
  if (const int active = active_jobs(reply.status); active > 0)
    return make_error(
        ErrorCode::conflict,
        fmt::format(
            "cannot go from {1} to {2} local nodes while {0} job(s) are not finished, because all "
            "local nodes are restarted; wait for these jobs, or run `lockstep down --cancel`",
            active, from, to));
  TRY(end_agents());
  TRY(end_processes({endpoint.process}, seconds(10)));
  const Result<Endpoint> started = start_all(to);
  if (!started) return started.error();
  return {};
}

Status LocalLauncher::end_agents() {
  std::vector<io::ProcessIdentity> agents;
  for (const auto& name : local_node_names(home_))
    for (const auto& agent : living_agents(home_, name)) agents.push_back(agent);
  return end_processes(agents, seconds(10));
}

// Starts the launcher and its dead agents once more, because only they can end jobs.
Result<Endpoint> LocalLauncher::wake_for_down(bool cancel) {
  const std::size_t runners = living_runners(home_).size();
  std::size_t agents = 0;
  for (const auto& name : local_node_names(home_)) agents += living_agents(home_, name).size();
  if (auto endpoint = live_endpoint(home_.endpoint())) {
    if (cancel || runners > 0) TRY(add_agents(*endpoint, wanted_nodes()));
    return *endpoint;
  }
  // `down` removes the list of nodes; without a journal there never was a job.
  const bool ended_by_force = io::exists(home_.local_nodes()) && io::exists(home_.journal());
  if (agents + runners == 0 && !(cancel && ended_by_force))
    return make_error(ErrorCode::not_found, "no launcher is running in " + home_.path());
  return start_all(wanted_nodes());
}

Status LocalLauncher::down(bool cancel) {
  if (!io::exists(home_.path())) {
    terminal_.print_line("nothing is running");
    return {};
  }
  TRY_ASSIGN(const auto lock, io::FileLock::acquire(home_.up_lock()));
  const Result<Endpoint> endpoint = wake_for_down(cancel);
  if (!endpoint && endpoint.error().code == ErrorCode::not_found &&
      endpoint.error().message.rfind("no launcher", 0) == 0) {
    TRY(end_leftovers());
    if (!io::exists(home_.journal())) forget_nodes();
    terminal_.print_line("nothing is running");
    return {};
  }
  if (!endpoint) return down_without_launcher(endpoint.error(), cancel);
  TRY_ASSIGN(const io::KeyPair keys, user_keys(home_));
  TRY_ASSIGN(const auto connection, Connection::open(*endpoint, keys));
  terminal_.progress(cancel ? "canceling jobs and ending the launcher" : "ending the launcher");
  const Status granted = shut_down(*connection, endpoint->process, cancel, terminal_);
  terminal_.clear_status();
  if (!granted) return granted.error();
  if (!wait_gone({endpoint->process}, seconds(10)))
    TRY(end_processes({endpoint->process}, seconds(5)));
  TRY(end_agents());
  TRY(end_leftovers());
  forget_nodes();
  return {};
}

// Ends runners that an agent did not know, or could not remove before it ended. A runner whose job
// has ended leaves by itself.
Status LocalLauncher::end_leftovers() {
  auto runners = living_runners(home_);
  std::vector<io::ProcessIdentity> leaving;
  for (const auto& runner : runners) leaving.push_back(runner.process);
  if (wait_gone(leaving, kLeaveTimeout))
    runners.clear();
  else
    runners = living_runners(home_);
  TRY(stop_runners(runners));
  for (const auto& name : local_node_names(home_)) TRY(clean_node(home_, name));
  if (!runners.empty())
    terminal_.print_line(
        fmt::format("ended {} part(s) of jobs that still ran here but were unknown to the launcher",
                    runners.size()));
  return {};
}

void LocalLauncher::forget_nodes() {
  for (const auto& name : local_node_names(home_))
    io::disk::unlink(home_.started_pid(name).c_str());
  io::disk::unlink(home_.local_nodes().c_str());
}

// Ends everything without a launcher, which a full disk or a damaged journal stops from starting.
// Jobs on this machine must end all the same.
Status LocalLauncher::down_without_launcher(const Error& why, bool cancel) {
  const auto runners = living_runners(home_);
  if (!cancel && !runners.empty())
    return make_error(why.code, fmt::format("{}; {} part(s) of jobs still run here; `lockstep down "
                                            "--cancel` ends them without the launcher",
                                            why.message, runners.size()));
  terminal_.print_line(
      "ending all agents and jobs on this machine without the help of the launcher");
  TRY(end_agents());
  TRY(stop_runners(runners));
  for (const auto& name : local_node_names(home_)) TRY(clean_node(home_, name));
  if (const auto endpoint = live_endpoint(home_.endpoint()))
    TRY(end_processes({endpoint->process}, seconds(10)));
  forget_nodes();
  return make_error(why.code, why.message +
                                  "; nothing runs here any more, but jobs that had not ended "
                                  "could not be canceled: they run again when the launcher "
                                  "starts");
}

}  // namespace lockstep::cli
