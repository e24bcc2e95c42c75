// lockstep-agent: one per node. Joins a launcher once, with a token; after that it runs what the
// launcher wants here. SIGTERM ends the agent; the jobs' runners stay, and the next agent attaches
// to them. With --taken-on-sigterm, SIGTERM announces that the machine is taken away: the agent
// tells the launcher, and ends when its jobs have ended.

#include <malloc.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "agent/agent_options.h"
#include "agent/daemon/agent.h"
#include "agent/daemon/doctor.h"
#include "agent/daemon/links/moved_file.h"
#include "agent/daemon/notice_file.h"
#include "agent/daemon/offer.h"
#include "agent/daemon/staging/stage.h"
#include "agent/inventory/inventory.h"
#include "agent/inventory/machine.h"
#include "common/base/printable.h"
#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"
#include "common/io/log_sink.h"
#include "common/io/process.h"
#include "common/wire/findings.h"

namespace lockstep::agent {

namespace {

constexpr Duration kJoinTimeout = seconds(30);
constexpr int kUsage = 2;  // exit code of all our programs for a wrong command line

Status give_notice(const Options& options) {
  const AgentHome home(options.home.empty() ? default_home() : options.home);
  const std::string& reason = options.notice_reason;
  const bool is_line = std::none_of(reason.begin(), reason.end(),
                                    [](unsigned char c) { return c < ' ' || c == 0x7f; });
  if (reason.empty() || reason.size() > kMaxNoticeReasonBytes || !is_line)
    return make_error(
        ErrorCode::invalid_argument,
        "--reason must be one line of at most " + std::to_string(kMaxNoticeReasonBytes) + " bytes");
  if (!io::read_file(home.boot()))
    return make_error(ErrorCode::not_found, "no agent has run with the home " + home.path() +
                                                "; pass the agent's --home");
  TRY(write_notice(home.notice(), {io::current_boot(),
                                   io::since_boot() + seconds(options.notice_seconds), reason}));
  std::printf("the agent of %s will tell its launcher that this machine is taken away in %d s\n",
              home.path().c_str(), options.notice_seconds);
  return {};
}

Result<wire::JoinToken> read_token(const std::string& file) {
  if (file.empty()) {
    return make_error(ErrorCode::not_found,
                      "this node has not joined a launcher yet: pass --token-file with the token "
                      "that `lockstep node token` printed");
  }
  const std::string path = file == "-" ? "/dev/stdin" : file;
  TRY_ASSIGN(const std::string text, io::read_file(path, kibibytes(64)));
  auto token = wire::decode_join_token(text);
  if (!token) return token.error().within(file == "-" ? "standard input" : file);
  return token;
}

// The launcher keeps its key when it moves, so the agent recognises it at the new address.
Status note_moved(const Options& options) {
  const AgentHome home(options.home.empty() ? default_home() : options.home);
  TRY_ASSIGN(const std::optional<Identity> known, load_identity(home.identity()));
  if (!known)
    return make_error(ErrorCode::not_found, "no agent has joined a launcher with the home " +
                                                home.path() + "; pass the agent's --home");
  if (options.launcher.empty() == options.token_file.empty())
    return make_error(ErrorCode::invalid_argument, "pass either --launcher or --token-file");
  LauncherAddress address;
  if (options.launcher.empty()) {
    TRY_ASSIGN(const wire::JoinToken token, read_token(options.token_file));
    if (token.launcher_key != known->launcher_key)
      return make_error(ErrorCode::conflict,
                        "this token is of another launcher than the one that this node belongs to "
                        "(another key); to leave that launcher, remove identity.json and keys in " +
                            home.path() + " and join with the token");
    address = {token.control_endpoint, token.bulk_endpoint};
    if (!is_dialable(address))
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("this token says that the launcher is at '{}' and '{}', which "
                                    "are not both tcp://HOST:PORT; pass --launcher with the right "
                                    "address",
                                    address.control, address.bulk));
  } else {
    TRY_ASSIGN(address, address_after(options.launcher));
  }
  // The text holds no secret. The agent may run under another account, which must be able to read
  // it.
  const std::string text = wire::encode(token_for(known->launcher_key, address)) + "\n";
  TRY(io::write_file_atomically(home.moved(), text, 0644));
  std::printf("the agent of %s will look for its launcher at %s\n", home.path().c_str(),
              address.control.c_str());
  return {};
}

// Exit code 1: there is a problem.
int examine(const Options& options) {
  const Findings found = examine_machine(options.home.empty() ? default_home() : options.home);
  std::fputs(
      (options.format == "json" ? escaped_json(wire::encode(found)) : findings_text(found)).c_str(),
      stdout);
  return all_well(found) ? 0 : 1;
}

Status prepare_home(const AgentHome& home) {
  for (const std::string& path : {home.path(), home.attempts()}) {
    TRY_ASSIGN(const std::string mended, io::secure_home(path, 0711));
    if (!mended.empty()) spdlog::warn("{}", mended);
  }
  io::leave_home_out_of_snapshots(home.path());
  return {};
}

// An agent that ends holds the lock until its last thread has gone. That is a moment longer than
// the process is visible in /proc.
constexpr auto kLongestEnd = std::chrono::seconds(2);

Result<std::optional<io::FileLock>> wait_for_lock(const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kLongestEnd;
  for (;;) {
    TRY_ASSIGN(std::optional<io::FileLock> lock, io::FileLock::try_acquire(path));
    if (lock || std::chrono::steady_clock::now() >= end) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<io::FileLock> lock_home(const AgentHome& home) {
  TRY_ASSIGN(std::optional<io::FileLock> lock, wait_for_lock(home.lock()));
  if (!lock) {
    const auto pid = io::read_file(home.pid());
    return make_error(ErrorCode::conflict,
                      "another lockstep-agent already uses the home " + home.path() +
                          (pid ? " (pid " + pid->substr(0, pid->find(' ')) + ")" : "") +
                          "; stop it, or start this one with another --home");
  }
  const auto self = io::identify(::getpid());
  if (self) TRY(io::write_file_atomically(home.pid(), io::to_text(*self), 0644, false));
  return *std::move(lock);
}

// True if processes that were started before may still run: the machine was not rebooted.
Result<bool> record_boot(const AgentHome& home, const BootId& boot) {
  const auto before = io::read_file(home.boot());
  if (before && *before == boot.value) return true;
  TRY(io::write_file_atomically(home.boot(), boot.value));
  return !before.has_value();
}

// What this node knows of its launcher before it contacts it.
struct Membership {
  std::optional<Identity> known;
  std::optional<wire::JoinToken> token;  // needed to join; later it says where the launcher is now
  Endpoints dialled;
};

bool knows(const Identity& identity, const wire::JoinToken& token) {
  const LauncherAddress address{token.control_endpoint, token.bulk_endpoint};
  return std::find(identity.others.begin(), identity.others.end(), address) !=
         identity.others.end();
}

Result<Membership> find_launcher(const Options& options, const AgentHome& home) {
  Membership found;
  TRY_ASSIGN(found.known, load_identity(home.identity()));
  Endpoints told;
  if (!found.known) {
    TRY_ASSIGN(found.token, read_token(options.token_file));
    told = endpoints_of(*found.token);
  } else {
    told = endpoints_of(*found.known);
    // The token file may be gone, and standard input cannot be read again.
    const bool readable = !options.token_file.empty() && options.token_file != "-";
    const auto token = readable ? read_token(options.token_file) : Result<wire::JoinToken>(Error{});
    // A token from before the launcher moved is ignored.
    if (token && token->launcher_key == found.known->launcher_key &&
        is_dialable({token->control_endpoint, token->bulk_endpoint}) &&
        !knows(*found.known, *token))
      told = endpoints_of(*token);
  }
  TRY_ASSIGN(found.dialled, as_dialled(std::move(told), options.launcher));
  return found;
}

Result<Identity> become_member(const Options& options, const AgentHome& home, Membership member,
                               const io::KeyPair& keys, const MachinePart& machine,
                               io::EventLoop& loop, io::Transport& transport) {
  std::optional<Identity> identity = member.known;
  if (identity && !options.name.empty() && options.name != identity->name) {
    spdlog::warn("ignoring --name {}: this node joined as {} and keeps that name", options.name,
                 identity->name);
  }
  if (!identity) {
    const std::string name = options.name.empty() ? io::host_name() : options.name;
    TRY_ASSIGN(identity, join(loop, transport, *member.token, member.dialled, keys, name,
                              kJoinTimeout, machine));
    spdlog::info("joined as node {} ({})", identity->name, identity->node.value);
    if (identity->name != name) {
      spdlog::warn(
          "the launcher named this node {}, because {} is taken or is not a valid node name",
          identity->name, name);
    }
  }
  // The last address stays one to try.
  KnownAddresses known({identity->control_endpoint, identity->bulk_endpoint}, identity->others);
  known.moved({member.dialled.control, member.dialled.bulk});
  identity->control_endpoint = known.known().front().control;
  identity->bulk_endpoint = known.known().front().bulk;
  identity->others.assign(known.known().begin() + 1, known.known().end());
  if (identity != member.known) TRY(save_identity(home.identity(), *identity));
  return *std::move(identity);
}

Result<Inventory> measure(const Offer& offer, const AgentHome& home, const Endpoints& launcher) {
  InventoryRequest request;
  TRY_ASSIGN(request.share, share_of(offer));
  request.home = home.path();
  request.launcher_endpoint = launcher.control;
  request.advertise = offer.advertise;
  request.network = offer.network;
  return take_inventory(request);
}

// The part of the configuration that follows from the options alone.
Result<AgentConfig> config_of(const Options& options, const AgentHome& home) {
  AgentConfig config;
  config.home = home;
  TRY_ASSIGN(config.log_spool, log_spool(options));
  TRY_ASSIGN(config.low_space, low_space(options));
  TRY_ASSIGN(config.caps, caps(options));
  TRY_ASSIGN(config.sample_every, sample_every(options));
  TRY_ASSIGN(config.environments.limit, environments_size(options));
  if (!options.packages.empty())
    config.environments.packages = std::filesystem::absolute(options.packages).lexically_normal();
  if (!options.token_file.empty() && options.token_file != "-")
    config.token_file = std::filesystem::absolute(options.token_file);
  return config;
}

// Measures the machine, and joins the launcher unless this node belongs to it already.
Status become_node(const Options& options, const Offer& offer, AgentConfig& config,
                   io::EventLoop& loop, io::Transport& transport) {
  const AgentHome& home = config.home;
  TRY_ASSIGN(const Share share, share_of(offer));
  TRY_ASSIGN(Membership member, find_launcher(options, home));
  TRY_ASSIGN(config.inventory, measure(offer, home, member.dialled));
  config.machine = probe_machine(share);
  TRY(keep_offer(home.offer(), offer));
  config.inventory.caps = config.caps;
  TRY_ASSIGN(config.identity, become_member(options, home, std::move(member), config.keys,
                                            config.machine, loop, transport));
  return {};
}

Status begin_session(AgentConfig& config) {
  const auto up = std::chrono::duration_cast<milliseconds>(io::since_boot());
  config.session = session_id(static_cast<std::uint64_t>(up.count()), io::random_u64());
  config.boot = io::current_boot();
  TRY_ASSIGN(config.same_boot, record_boot(config.home, config.boot));
  return {};
}

void use(WorkspaceFunctions functions, AgentConfig& config) {
  config.stage = std::move(functions.stage);
  config.outputs = std::move(functions.outputs);
  config.environments.locks = std::move(functions.locks);
  config.allow_peers = std::move(functions.allow_peers);
  config.serve_peers = std::move(functions.serve_peers);
  config.moved = std::move(functions.moved);
  config.settled = std::move(functions.settled);
}

// Signals are handled before the agent exists; `agent` is null until then.
Status watch_signals(io::EventLoop& loop, Duration notice, Agent*& agent) {
  return loop.watch_signals({SIGTERM, SIGINT, SIGHUP}, [&agent, notice](int number) {
    // Slurm and the script of its job both signal the agent, so SIGTERM may come twice.
    if (agent && number == SIGTERM && notice > Duration::zero()) {
      spdlog::info("SIGTERM: this machine is taken away in {}", format_duration(notice));
      return agent->machine_taken({notice, "its agent got SIGTERM", true});
    }
    spdlog::info("signal {}: the agent ends; its jobs keep running", number);
    if (!agent) std::_Exit(0);  // an agent that still joins runs nothing
    agent->leave();
  });
}

void log_start(const AgentConfig& config, const Offer& offer) {
  spdlog::info("lockstep-agent {} of node {} ({}), home {}, pid {}", LOCKSTEP_VERSION,
               config.identity.name, config.identity.node.value, config.home.path(), ::getpid());
  if (const std::string share = describe(offer); !share.empty())
    spdlog::info(
        "offers {} (saved in {}; to reset one of these flags, pass it with the value `all`)", share,
        config.home.offer());
}

Status run(const Options& options) {
  if (!options.name.empty()) TRY(check_node_name(options.name));
  TRY(as_dialled({}, options.launcher));  // checked before the launcher is looked for
  const AgentHome home(options.home.empty() ? default_home() : options.home);
  io::forbid_core_dumps();
  TRY_ASSIGN(const Duration notice, taken_on_sigterm(options));
  TRY_ASSIGN(const std::string runner, io::find_program("lockstep-runner"));
  TRY_ASSIGN(const std::string environment_program, io::find_program("lockstep-env"));
  TRY(prepare_home(home));
  TRY_ASSIGN(const io::FileLock lock, lock_home(home));
  io::SleeplessClock clock;
  io::EventLoop loop;
  Agent* agent = nullptr;
  TRY(watch_signals(loop, notice, agent));
  io::Transport transport(loop, [](const std::string&, const PublicKey&) { return false; });
  TRY_ASSIGN(AgentConfig config, config_of(options, home));
  TRY_ASSIGN(config.keys, io::load_or_create_key_pair(home.keys()));
  // Flags are checked before joining, so that a wrong flag does not use up the token.
  TRY_ASSIGN(const Bytes cache_limit, cache_size(options, home));
  TRY_ASSIGN(const Offer offer, offer_of(home.offer(), options.offer));
  TRY(become_node(options, offer, config, loop, transport));
  config.runner_program = runner;
  TRY(begin_session(config));
  TRY_ASSIGN(WorkspaceFunctions functions,
             workspace_functions(home, config.identity, config.keys, config.inventory, transport,
                                 cache_limit, config.low_space));
  use(std::move(functions), config);
  config.environments.program = environment_program;
  TRY_ASSIGN(config.environments.spawn, io::find_program("lockstep-spawn"));
  config.advertise = offer.advertise;
  log_start(config, offer);
  Agent running(loop, transport, clock, std::move(config));
  agent = &running;
  const Status status = running.run();
  if (!status) spdlog::error("{}", status.error().message);
  spdlog::shutdown();
  // Destructors would wait for a worker, which may be in a download for a minute.
  std::_Exit(status ? 0 : 1);
}

}  // namespace

}  // namespace lockstep::agent

int main(int argc, char** argv) {
  namespace agent = lockstep::agent;
  ::mallopt(M_ARENA_MAX, 2);  // few threads allocate, and seldom
  ::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Runs the jobs of a Lockstep launcher on this node.", "lockstep-agent");
  agent::Options options;
  agent::add_options(app, options);
  agent::add_notice(app, options);
  agent::add_moved(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "lockstep-agent: %s\n(lockstep-agent --help lists all flags)\n",
                 error.what());
    return agent::kUsage;
  }
  if (app.got_subcommand("doctor")) return agent::examine(options);
  const bool is_notice = app.got_subcommand("notice");
  const bool is_moved = app.got_subcommand("moved");
  auto logger = std::make_shared<spdlog::logger>(
      "agent", lockstep::io::printable_sink(std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  logger->set_level(spdlog::level::from_str(options.log_level));
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
  const lockstep::Status status = is_notice  ? agent::give_notice(options)
                                  : is_moved ? agent::note_moved(options)
                                             : agent::run(options);
  if (status) return 0;
  std::fprintf(stderr, "lockstep-agent: %s\n", lockstep::printable(status.error().message).c_str());
  return status.error().code == lockstep::ErrorCode::invalid_argument ? agent::kUsage : 1;
}
