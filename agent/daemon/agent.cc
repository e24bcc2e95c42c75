#include "agent/daemon/agent.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "agent/inventory/disk.h"
#include "agent/inventory/inventory.h"
#include "agent/inventory/network.h"
#include "common/domain/why/ranks/parts.h"
#include "common/io/disk.h"
#include "common/io/files/disk_space.h"
#include "common/wire/messages/control.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {

namespace {

constexpr Duration kAnswersWithin = seconds(2);
constexpr int kWorkers = 4;  // how many stagings, starts and removals run at once

Config core_config(const AgentConfig& config) {
  Config core;
  core.node = config.identity.node;
  core.boot = config.boot;
  core.session = config.session;
  return core;
}

// The lease that an earlier agent wrote. If the file is missing, the lease is over.
Instant lease_of(const io::AttemptDir& directory, Instant now) {
  const auto until = io::read_lease(directory);
  return until ? now + (*until - io::since_boot()) : Instant{};
}

// Ranks run as this user. A node that cannot run processes as this user cannot run the job.
Status check_account(const std::string& run_as) {
  if (run_as.empty()) return {};
  TRY_ASSIGN(const io::User user, io::find_user(run_as));
  TRY_ASSIGN(const io::User me, io::current_user());
  if (me.uid == 0 || me.uid == user.uid) return {};
  return make_error(ErrorCode::permission_denied,
                    "its agent runs as " + me.name + ", and only root can run ranks as others");
}

Result<WorkspacePlan> stage_into(const AgentConfig& config, const Assignment& assignment,
                                 const io::AttemptDir& directory,
                                 const std::function<void(const std::string&)>& progress) {
  // The assignment is written first, so that a later reader of this directory knows its job.
  TRY(io::make_directories(directory.logs()));
  TRY(io::write_file_atomically(directory.assignment(), wire::encode(assignment), 0600, false));
  TRY_ASSIGN(WorkspacePlan plan, config.stage(assignment, directory, progress));
  TRY(io::write_file_atomically(directory.workspace(), wire::encode(plan), 0600, false));
  return plan;
}

}  // namespace

Agent::Agent(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, AgentConfig config)
    : loop_(loop),
      transport_(transport),
      clock_(clock),
      config_(std::move(config)),
      core_(core_config(config_)),
      addresses_({config_.identity.control_endpoint, config_.identity.bulk_endpoint},
                 config_.identity.others),
      message_file_(config_.home.moved(), config_.identity.launcher_key, MovedFile::Kind::message),
      token_file_(config_.token_file, config_.identity.launcher_key, MovedFile::Kind::token),
      measured_at_(config_.identity.control_endpoint),
      saved_(config_.identity),
      try_for_(config_.try_address_for),
      control_(loop, transport, clock,
               {config_.identity.control_endpoint, config_.identity.launcher_key, config_.keys},
               {[this](io::ClientSocket::Link link) { on_link(link); },
                [this](const std::string& bytes) { receive(bytes); }, [this] { dial_next(); }}),
      bulk_(loop, transport, clock,
            {config_.identity.bulk_endpoint, config_.identity.launcher_key, config_.keys},
            config_.identity.node,
            [this](const AttemptId& attempt, const std::vector<LogSize>& logs) {
              supervisor_.logs_taken(attempt, logs);
            }),
      collections_(loop, workers_, config_.home, config_.outputs,
                   [this](Input input) { emit(std::move(input)); }),
      workers_(kWorkers),
      environments_(loop, config_.home, config_.environments,
                    [this](Input input) { emit(std::move(input)); }),
      supervisor_(loop, workers_, config_.home,
                  {config_.runner_program, config_.log_spool, config_.caps, config_.sample_every,
                   config_.home.probes()},
                  [this](Input input) { emit(std::move(input)); }),
      attach_relay_(attach_callbacks()),
      network_watch_(loop, workers_,
                     config_.inventory.fabric ? config_.look_at_network_every : Duration::zero(),
                     with_network_now, [this](const Inventory& now) { network_changed(now); }),
      disk_watch_(loop, clock, workers_, config_.home, config_.low_space, config_.caps.disk,
                  {[this](const AttemptId& attempt) { return supervisor_.is_running(attempt); },
                   [this](const MustEnd& found) {
                     supervisor_.end(found.attempt, {Cause::disk_limit, found.why});
                   }}),
      node_sampler_(config_.inventory.cpus, config_.home.attempts()),
      gpu_sampler_(config_.inventory.gpus, config_.sample_every) {
  connect_attach_relay();
  if (config_.inventory.fabric) supervisor_.use_fabric(*config_.inventory.fabric);
  Recovered recovered = supervisor_.recover(config_.same_boot);
  for (FoundPart& part : recovered.parts)
    part.lease_until = lease_of(config_.home.attempt(part.assignment.attempt), clock_.now());
  for (const FoundPart& part : recovered.parts) {
    recovered_.insert(part.assignment.attempt);
    disk_watch_.watch(part.assignment.attempt, part.assignment.spec.limits);
  }
  if (!recovered_.empty())
    spdlog::info("found {} parts that an earlier agent started", recovered_.size());
  emit(std::move(recovered));
  look_for_notice();
  note_link(false);
  control_.give_up_after(addresses_.has_others() ? try_for_ : kAnswersWithin);
  leave_if_failed(control_.dial());
}

Agent::~Agent() { *alive_ = false; }

Status Agent::run() {
  while (!leaving_) turn(Duration::max());
  environments_.end_builds();
  note_link(false);
  if (refused_) return make_error(ErrorCode::permission_denied, *refused_);
  return {};
}

void Agent::turn(Duration longest) {
  handle_inputs();
  if (leaving_) return;
  const Instant deadline = next_deadline();
  const Duration wait = deadline == Instant::never()
                            ? longest
                            : std::clamp(deadline - clock_.now(), Duration::zero(), longest);
  loop_.turn(wait);
  handle_inputs();
  const Instant now = clock_.now();
  if (core_.next_deadline() <= now) {
    emit(Tick{});
    handle_inputs();
  }
  leave_if_failed(control_.tick(now));
  if (look_where_at_ <= now) look_where_launcher_is();
  if (report_usage_at_ <= now) report_usage(now);
  environments_.tick(now);
  supervisor_.tick(now);
  disk_watch_.tick(now);
  network_watch_.tick(now, config_.inventory);
  bulk_.tick(now, is_linked_);
  attach_relay_.tick(now);
  tell_trouble();
}

Instant Agent::next_deadline() const {
  return std::min({core_.next_deadline(), supervisor_.next_deadline(), bulk_.next_deadline(),
                   environments_.next_deadline(), disk_watch_.next_deadline(),
                   control_.next_deadline(), attach_relay_.next_deadline(), report_usage_at_,
                   look_where_at_, network_watch_.next_deadline()});
}

void Agent::handle_inputs() {
  while (!inputs_.empty() && !leaving_) {
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    for (Action& action : core_.handle(clock_.now(), input)) {
      std::visit([this](auto& one) { perform(one); }, action);
    }
  }
  send_observed();
}

// Measures the node's address: the route to another address of the launcher may begin at another
// address of this node.
void Agent::measure_address() {
  const std::string& endpoint = config_.identity.control_endpoint;
  if (endpoint == measured_at_ || !config_.advertise.empty()) return;
  measured_at_ = endpoint;
  Inventory& inventory = config_.inventory;
  const std::string address = route_address(endpoint);
  if (address == inventory.address) return;
  spdlog::info("this node's address for other nodes is {} now", address);
  inventory.address = address;
  inventory.address_is_loopback = is_loopback_address(address);
  if (config_.moved) config_.moved(config_.identity, inventory);
}

// Keeps the addresses on disk, so that the next agent of this home begins with them.
void Agent::keep_addresses() {
  Identity& identity = config_.identity;
  const std::vector<LauncherAddress>& known = addresses_.known();
  identity.others.assign(known.begin() + 1, known.end());
  control_.give_up_after(addresses_.has_others() ? try_for_ : kAnswersWithin);
  Identity kept = identity;
  kept.control_endpoint = known.front().control;
  kept.bulk_endpoint = known.front().bulk;
  if (kept == saved_) return;
  saved_ = kept;
  const Status saved = save_identity(config_.home.identity(), kept);
  if (!saved) spdlog::error("{}", saved.error().message);
}

void Agent::report_usage(Instant now) {
  report_usage_at_ = now + config_.sample_every;
  UsageReport report{config_.identity.node, config_.session, config_.sample_every,
                     node_sampler_.sample(now), supervisor_.uses()};
  report.use.gpus = gpu_sampler_.newest();
  report.use.gpus.resize(std::min(report.use.gpus.size(), kMaxGpusOfUse));
  report.parts.resize(std::min(report.parts.size(), kMaxPartsOfUse));
  std::size_t ranks = 0;
  for (PartUse& part : report.parts) {
    part.ranks.resize(std::min(part.ranks.size(), kMaxRanksOfUse - ranks));
    ranks += part.ranks.size();
  }
  if (in_session_) send(std::move(report));
}

void Agent::network_changed(const Inventory& now) {
  Inventory& inventory = config_.inventory;
  inventory.interfaces = now.interfaces;
  inventory.rdma_ports = now.rdma_ports;
  inventory.fabric = now.fabric;
  ++inventory_number_;
  if (inventory.fabric) supervisor_.use_fabric(*inventory.fabric);
  spdlog::info("this node's network has changed; the launcher is told");
  emit(InventoryChanged{});
}

void Agent::send_observed() {
  if (observed_) send(*std::exchange(observed_, {}));
}

void Agent::send(AgentMessage body) {
  Envelope<AgentMessage> envelope;
  envelope.sequence = ++sequence_;
  envelope.body = std::move(body);
  // An unsent message is not queued: the core repeats it until it is acknowledged.
  const Status sent = control_.send(wire::encode(envelope));
  if (!sent) spdlog::debug("{}", sent.error().message);
}

// ---- actions -----------------------------------------------------------------------------------

void Agent::perform(SendSession& action) {
  action.open.version = LOCKSTEP_VERSION;
  action.open.inventory = config_.inventory;
  action.open.inventory_number = inventory_number_;
  action.open.machine = config_.machine;
  action.open.inventory.disk_free = probe_disk(config_.home.path());
  send(std::move(action.open));
}

// Reports why files do not come: staging waits for them, and cannot know the reason, but the bulk
// connection does.
void Agent::tell_trouble() {
  if (bulk_.trouble() == told_trouble_) return;
  told_trouble_ = bulk_.trouble();
  if (told_trouble_.empty()) return;
  for (const AttemptId& attempt : staging_)
    emit(StagingProgress{attempt, "its node waits for files: " + told_trouble_});
}

// Why the disk is low; the reason stays the same while it lasts, so it is reported once.
Why Agent::low_disk() const {
  if (!bulk_.trouble().empty()) return told(bulk_.trouble());
  const auto space = io::disk_space(config_.home.attempts());
  if (!space) return told(space.error().message);
  const Bytes low =
      config_.low_space.count != 0 ? config_.low_space : io::default_low_space(space->total);
  if (space->free >= low) return {};
  return DiskIsLow{low, config_.home.attempts()};
}

Why Agent::why_no_new_part() const {
  Why why = low_disk();
  if (why) return why;
  const auto scarce = pids_of_jobs_.shortage();
  return scarce ? Why(ProcessesAreScarce{scarce->limit, scarce->cgroup}) : Why();
}

void Agent::perform(SendHeartbeat& action) {
  action.beat.low_disk = why_no_new_part();
  action.beat.acked = acked_;
  action.beat.acked_at = acked_at_;
  action.beat.wall_clock = io::wall_clock();
  send(action.beat);
  look_for_notice();
}

void Agent::look_for_notice() {
  const Duration now = io::since_boot();
  auto notice = read_notice(config_.home.notice(), config_.boot, now);
  if (!notice || notice_) return;
  spdlog::warn("this machine is taken away in {}: {}", format_duration(notice->until - now),
               notice->reason);
  emit(MachineTaken{notice->until - now, notice->reason, false});
  notice_ = std::move(notice);
}

void Agent::perform(StageWorkspace& action) {
  bulk_.open();  // the connection is open before the first log line comes
  staging_.insert(action.assignment.attempt);
  told_trouble_.clear();
  workers_.submit([this, alive = alive_, assignment = std::move(action.assignment)] {
    const AttemptId& attempt = assignment.attempt;
    const auto progress = [&](const std::string& text) {
      emit_from_worker(alive, StagingProgress{attempt, text});
    };
    WorkspaceStaged staged{attempt, {}};
    if (const Status account = check_account(assignment.spec.run_as); !account) {
      staged.result = account;
      staged.cause = Cause::account_missing;
      return emit_from_worker(alive, std::move(staged));
    }
    auto plan = stage_into(config_, assignment, config_.home.attempt(attempt), progress);
    if (!plan) staged.result = plan.error();
    if (plan) staged.restored = std::move(plan->restored);
    emit_from_worker(alive, std::move(staged));
  });
}

// Workers end before this object does, but inputs that they posted may run after it is gone.
void Agent::emit_from_worker(const std::shared_ptr<bool>& alive, Input input) {
  loop_.post([this, alive, input = std::move(input)] {
    if (!*alive) return;
    if (const auto* staged = std::get_if<WorkspaceStaged>(&input)) staging_.erase(staged->attempt);
    emit(input);
  });
}

// Sends the lease to the runner in time since boot, which both share. If the message is lost, the
// runner ends too soon, never too late.
void Agent::perform(RenewLease& action) {
  const Duration until = io::since_boot() + (action.until - clock_.now());
  const std::string path = config_.home.attempt(action.attempt).lease();
  const Status written =
      io::write_file_atomically(path, std::to_string(until.count()) + "\n", 0600, false);
  if (!written) spdlog::error("{}", written.error().message);
}

void Agent::perform(ShipLogs& action) {
  bulk_.ship(action.attempt, config_.home.attempt(action.attempt),
             recovered_.count(action.attempt) > 0);
}

void Agent::perform(StartRunner& action) {
  disk_watch_.watch(action.assignment.attempt, action.assignment.spec.limits);
  supervisor_.start(action.assignment);
}

void Agent::perform(RemovePart& action) {
  disk_watch_.forget(action.attempt);
  bulk_.forget(action.attempt);
  collections_.forget(action.attempt);
  recovered_.erase(action.attempt);
  supervisor_.remove(action.attempt);
}

void Agent::perform(Reconnect&) {
  spdlog::warn("{} does not answer; connecting again", config_.identity.control_endpoint);
  if (addresses_.has_others() && control_.is_up()) return dial_next();
  leave_if_failed(control_.redial());
}

void Agent::perform(LeaveMachine&) {
  spdlog::info("the agent ends, because its machine is taken away");
  leaving_ = true;
}

void Agent::perform(ExitAgent& action) {
  refused_ = action.reason;
  leaving_ = true;
}

}  // namespace lockstep::agent
