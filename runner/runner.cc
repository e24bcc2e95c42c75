#include "runner/runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/why.h"
#include "common/io/files/disk_space.h"

namespace lockstep::runner {
namespace {

constexpr Bytes kReportReserve = kibibytes(256);
constexpr Duration kLookAtLeaseEvery = seconds(1);
constexpr Duration kLookAtLimitsEvery = seconds(2);
// How long the agent has to take the last status.
constexpr Duration kFarewellTimeout = milliseconds(200);

// Ids of lockstep-spawn: see runner/attach/place.h.
bool is_rank(int id) { return id < kFirstAttachedId; }
bool is_core(int id) { return id >= kFirstCoreId && id < kFirstWatchId; }
bool is_of_watch(int id) { return id >= kFirstWatchId; }

}  // namespace

Runner::Runner(io::EventLoop& loop, io::AttemptDir directory, Orders orders,
               const NodeBounds& bounds)
    : loop_(loop),
      directory_(std::move(directory)),
      orders_(std::move(orders)),
      limits_(limits_of(orders_.assignment.spec.limits, bounds.caps)),
      logs_(loop, directory_, bounds.log_spool, limits_.log),
      limit_watch_(limits_),
      sampler_(bounds.sample_every),
      nursery_(bounds.nursery),
      probe_cache_(bounds.probe_cache),
      probes_(bounds.probes),
      stage_(secrets_of(orders_.assignment.spec.environment_variables).empty()
                 ? Stage::supervising
                 : Stage::awaiting_secrets) {}

Runner::~Runner() = default;

void Runner::set_up() {
  setup_ = set_up_node(loop_, directory_, orders_, {limits_, nursery_}, spawn_events(),
                       container_events());
  if (setup_.pmix) pmix_pid_ = setup_.pmix->pid();
  for (const auto& note : setup_.isolation.notes) spdlog::info("{}", note);
  for (const Why& note : setup_.isolation.for_job) spdlog::warn("{}", log_text(note));
  if (setup_.error) {
    spdlog::error("setup failed: {}", log_text(setup_.error->why));
    feed(SetupFailed{setup_.error->cause, setup_.error->why});
  } else {
    spdlog::info("ranks run as {} in {} under {}", setup_.run_as.name, setup_.directory,
                 setup_.isolation.kind);
    check_rdma();
  }
}

Status Runner::run() {
  TRY_ASSIGN(control_, RunnerServer::listen(
                           loop_, directory_.path(), directory_.control_socket_name(),
                           {[this] { return shown(core_.report()); },
                            [this](Assignment assignment) { on_assignment(std::move(assignment)); },
                            [this](const LogsTaken& taken) { logs_.taken(taken.logs); },
                            [this](const EndPart& order) { end(order); },
                            [this](const AttachFrame& frame) { take_attach_frame(frame); }}));
  // The reserve is made before the runner reports that it runs, so that there is room for the
  // report even if the disk fills later.
  if (const auto kept = io::make_reserve(directory_.report_reserve(), kReportReserve); !kept)
    spdlog::warn(
        "no disk space is reserved for the final report, so it waits while the disk is full: {}",
        kept.error().message);
  if (orders_.assignment.lease > Duration::zero()) look_at_lease();
  look_at_limits_at_ = clock_.now() + kLookAtLimitsEvery;  // not during the start
  feed(Begin{orders_.assignment, describe_self(orders_.assignment)});
  set_up();
  while (true) {
    take_inputs();
    if (stage_ >= Stage::reported) break;
    loop_.turn(until_deadline());
    look_at_clock();
    if (logs_.blocked_reason() != blocked_shown_) perform(Report{core_.report()});
    drain_if_empty();
  }
  leave();
  if (stage_ == Stage::homeless)
    return make_error(ErrorCode::not_found,
                      "its attempt directory was removed: " + directory_.path());
  return {};
}

void Runner::on_assignment(Assignment assignment) {
  const bool stops = assignment.phase == WantedPhase::stop;
  if (stops) settle_until_ = lingers_since_ = {};
  if (stops && assignment.stop_reason == StopReason::canceled && cores_) cores_->give_up();
  if (awaits_secrets() && assignment.secrets) launch_.secrets = *std::move(assignment.secrets);
  if (awaits_secrets() && (assignment.secrets || stops)) stage_ = Stage::supervising;
  assignment.secrets.reset();
  feed(AssignmentChanged{std::move(assignment)});
}

void Runner::look_at_clock() {
  const Instant now = clock_.now();
  logs_.retry(now);
  if (now >= write_again_at_) write_final_report();
  if (now >= look_at_lease_at_) look_at_lease();
  if (now >= join_at_) join_cgroups();
  if (now >= unpause_at_) unpause();
  if (now >= sweep_at_) sweep();
  if (now >= lease_again_at_) lease_ports();
  if (now >= look_at_limits_at_) look_at_limits(false);
  if (now >= sampler_.next_sample()) sample_ranks();
  if (transport_ && now >= transport_->next_look()) look_at_transport(false);
  if (attachments_) attachments_->expire(now);
  expire_probe(now);
  look_at_watch(now);
  look_at_cores();
  if (setup_.container) setup_.container->expire(now);
  if (bootstrap_) bootstrap_->expire(now);
  if (now >= core_.next_deadline()) feed(Tick{});
}

Duration Runner::until_deadline() {
  const Instant next = std::min(
      {core_.next_deadline(), logs_.retry_at(), write_again_at_, look_at_lease_at_, join_at_,
       unpause_at_, sweep_at_, look_at_limits_at_, lease_again_at_, sampler_.next_sample(),
       probe_deadline(), watch_deadline(), transport_ ? transport_->next_look() : Instant::never(),
       attachments_ ? attachments_->next_deadline() : Instant::never(),
       cores_ ? cores_->next_deadline() : Instant::never(),
       setup_.container ? setup_.container->next_deadline() : Instant::never(),
       bootstrap_ ? bootstrap_->next_deadline() : Instant::never()});
  if (next == Instant::never()) return Duration::max();
  return std::max(Duration::zero(), next - clock_.now());
}

// The lease's end is in time since boot, which goes on while the machine sleeps, so it is checked
// repeatedly.
void Runner::look_at_lease() {
  const Instant now = clock_.now();
  const auto until = io::read_lease(directory_);
  feed(LeaseRenewed{until ? now + (*until - io::since_boot()) : Instant{}});
  look_at_lease_at_ = now + kLookAtLeaseEvery;
}

void Runner::take_inputs() {
  if (awaits_secrets()) return;
  while (!inputs_.empty()) {
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    const std::vector<Action> actions = core_.handle(clock_.now(), input);
    record_started();  // recorded before anybody is told
    for (const Action& action : actions) std::visit([this](const auto& a) { perform(a); }, action);
  }
}

spawn::Client::Events Runner::spawn_events() {
  return {
      [this](int id, int pid) {
        if (is_rank(id)) return rank_started(id, pid);
        if (!is_core(id) && !is_of_watch(id)) attachments_->started(id, pid);
      },
      [this](int id, int error, spawn::SpawnStage stage) {
        if (is_rank(id)) return rank_failed(id, error, stage);
        if (is_of_watch(id)) return tool_failed(id, error, stage);
        is_core(id) ? cores_->failed(id, error, stage, clock_.now())
                    : attachments_->failed(id, error, stage);
      },
      [this](int id, int wait_status, const spawn::Spent& spent) {
        if (is_rank(id)) return rank_exited(id, wait_status, spent);
        if (is_of_watch(id)) return tool_exited(id, wait_status);
        is_core(id) ? cores_->exited(id, wait_status, clock_.now())
                    : attachments_->exited(id, wait_status);
      },
      [this] {
        if (spawner_ == Spawner::kills) spawner_ = Spawner::serves;
      },
      [this] { spawn_lost(); },
  };
}

ContainerProcess::Events Runner::container_events() {
  return {
      [this](io::Fd socket) {
        if (setup_.isolation.spawn) setup_.isolation.spawn->connect(std::move(socket));
      },
      [this](Cause cause, const std::string& why) {
        spdlog::error("{}", why);
        spawner_ = Spawner::gone;
        feed(SetupFailed{cause, told(why)});
        feed(SpawnLost{});  // ranks that were ordered will not start
      },
  };
}

// Ends the ranks as after a failure of one. A part that is ending already continues to end.
void Runner::end(const EndPart& order) {
  spdlog::error("the agent ends the part: {}", log_text(order.why));
  limit_watch_.ended(order.why);
  if (order.cause == Cause::disk_limit) logs_.give_up_on_disk();
  feed(SetupFailed{order.cause, order.why});
}

LimitCounts Runner::count_limits() const {
  LimitCounts counts;
  if (setup_.container) {
    counts.refused_in_container = setup_.container->refused_forks();
    counts.container_pids = setup_.container->pids_limit();
  } else if (const auto& cgroups = setup_.isolation.cgroups) {
    for (int local_rank = 0; local_rank < orders_.assignment.ranks_here(); ++local_rank)
      if (const long long refused = cgroups->refused_forks(local_rank); refused > 0)
        counts.refused_forks[orders_.assignment.first_rank() + local_rank] = refused;
    const io::PidsOfJobs of_all = cgroups->pids_of_jobs();
    counts.refused_of_all = of_all.refused;
    if (of_all.is_used_up) counts.pids_of_all = of_all.limit;
  }
  const LogCapture::Dropped dropped = logs_.dropped();
  counts.dropped_of = dropped.first_rank;
  counts.dropping_ranks = dropped.ranks;
  counts.dropped = Bytes{dropped.bytes};
  return counts;
}

// Checks limits, and reports ranks that have ended while others run, which change no state of the
// part.
void Runner::look_at_limits(bool final) {
  look_at_limits_at_ = clock_.now() + kLookAtLimitsEvery;
  const bool is_reached = limit_watch_.look(count_limits(), final);
  if (final) return;
  PartReport report = core_.report();
  if (!is_reached && report.ended.size() == ended_told_) return;
  perform(Report{std::move(report)});
}

// Reports limits; a rank that could not fork seldom reports that itself.
void Runner::tell_limits() {
  look_at_limits(true);
  final_report_->limits = limit_watch_.reached();
  if (!final_report_->first_failed_rank) return;
  const LimitCounts counts = count_limits();
  for (RankExit& exit : final_report_->ranks)
    if (exit.rank == *final_report_->first_failed_rank && !exit.why)
      exit.why = limit_watch_.refusal_of(exit.rank, counts);
}

// The runner leaves once its report is on disk, which was ordered before.
void Runner::perform(const Leave&) {}

// The loop has ended and the final report is on disk, so nobody waits for an answer. Each
// destructor waits for a bounded time; the longest wait is Client's, for a rank that the kernel
// holds.
void Runner::leave() {
  link_.reset();
  setup_.isolation.spawn.reset();
  joiner_.reset();
  if (auto& cgroups = setup_.isolation.cgroups)
    if (const auto removed = cgroups->remove(); !removed)
      spdlog::warn("{}", removed.error().message);
  const Instant until = clock_.now() + kFarewellTimeout;
  while (control_->backlog_bytes() > 0 && clock_.now() < until) loop_.turn(milliseconds(10));
  answer_attachments();
  if (bootstrap_) bootstrap_->end();
  spdlog::info("left");
}

}  // namespace lockstep::runner
