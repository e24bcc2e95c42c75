#include "runner/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/io/disk_space.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/io/short_path.h"
#include "common/wire/runner.h"

namespace lockstep::runner {
namespace {

constexpr Duration kWriteAgainAfter = milliseconds(500);
constexpr Duration kSettleTimeout = seconds(60);
constexpr Duration kLookIfSettledEvery = milliseconds(5);
constexpr Duration kLingerEvery = milliseconds(250);
constexpr Bytes kReportReserve = kibibytes(256);
constexpr Duration kLookAtLeaseEvery = seconds(1);
constexpr Duration kLookAtLimitsEvery = seconds(2);
constexpr Duration kFarewellTimeout = milliseconds(200);  // for the agent to take the last status

// Only what is surely so: a disk that fails may come back.
bool was_removed(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 && errno == ENOENT;
}

// Its size then.
Result<std::uint64_t> append_to_log(const std::string& path, const std::string& text) {
  TRY_ASSIGN(const io::Fd log,
             io::open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  TRY(io::write_all(log.get(), text));
  struct stat info {};
  if (::fstat(log.get(), &info) != 0) return errno_error(errno, "stat " + path);
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

namespace {

bool is_rank(int id) { return id < kFirstAttachedId; }
bool is_of_watch(int id) { return id >= kFirstWatchId; }

// Our clock goes on evenly when the machine's is set. The launcher knows how far the machine's is
// off now, and puts the ends of ranks on all nodes in order by that.
void follow_wall_clock(NodeExitReport& report, Duration set_by) {
  const auto follow = [set_by](Instant& time) {
    if (time.ns > -set_by.count() && time.ns != 0) time = time + set_by;
  };
  follow(report.ended);
  for (RankExit& rank : report.ranks) follow(rank.time);
}

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
      stage_(secrets_of(orders_.assignment.spec.environment_variables).empty()
                 ? Stage::supervising
                 : Stage::awaiting_secrets) {}

Runner::~Runner() = default;

Status Runner::run() {
  TRY_ASSIGN(control_, RunnerServer::listen(
                           loop_, directory_.path(), directory_.control_socket_name(),
                           {[this] { return shown(core_.report()); },
                            [this](Assignment assignment) { on_assignment(std::move(assignment)); },
                            [this](const LogsTaken& taken) { logs_.taken(taken.logs); },
                            [this](const EndPart& order) { end(order); },
                            [this](const AttachFrame& frame) { take_attach_frame(frame); }}));
  // Before anyone hears that it runs: whatever fills the disk from then on, the report has its
  // place.
  if (const auto kept = io::make_reserve(directory_.report_reserve(), kReportReserve); !kept)
    spdlog::warn(
        "no disk space is reserved for the final report, so it waits while the disk is full: {}",
        kept.error().message);
  if (orders_.assignment.lease > Duration::zero()) look_at_lease();
  look_at_limits_at_ = clock_.now() + kLookAtLimitsEvery;  // not beside the start
  feed(Begin{orders_.assignment, describe_self(orders_.assignment)});
  setup_ = set_up_node(loop_, directory_, orders_, {limits_, nursery_}, spawn_events(),
                       container_events());
  if (setup_.pmix) pmix_pid_ = setup_.pmix->pid();
  for (const auto& note : setup_.isolation.notes) spdlog::info("{}", note);
  for (const auto& note : setup_.isolation.for_job) spdlog::warn("{}", note);
  if (setup_.error) {
    spdlog::error("setup failed: {}", setup_.error->why);
    feed(SetupFailed{setup_.error->cause, setup_.error->why});
  } else {
    spdlog::info("ranks run as {} in {} under {}", setup_.run_as.name, setup_.directory,
                 setup_.isolation.kind);
  }
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
  if (attachments_) attachments_->expire(now);
  look_at_watch(now);
  if (setup_.container) setup_.container->expire(now);
  if (bootstrap_) bootstrap_->expire(now);
  if (now >= core_.next_deadline()) feed(Tick{});
}

Duration Runner::until_deadline() {
  const Instant next = std::min(
      {core_.next_deadline(), logs_.retry_at(), write_again_at_, look_at_lease_at_, join_at_,
       unpause_at_, sweep_at_, look_at_limits_at_, lease_again_at_, sampler_.next_sample(),
       attachments_ ? attachments_->next_deadline() : Instant::never(), watch_deadline(),
       setup_.container ? setup_.container->next_deadline() : Instant::never(),
       bootstrap_ ? bootstrap_->next_deadline() : Instant::never()});
  if (next == Instant::never()) return Duration::max();
  return std::max(Duration::zero(), next - clock_.now());
}

// Its end is in time since boot, which runs on while the machine sleeps: looked at again and again.
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
    record_started();  // before anyone is told
    for (const Action& action : actions) std::visit([this](const auto& a) { perform(a); }, action);
  }
}

spawn::Client::Events Runner::spawn_events() {
  return {
      [this](int id, int pid) {
        is_rank(id) ? rank_started(id, pid) : attachments_->started(id, pid);
      },
      [this](int id, int error, spawn::SpawnStage stage) {
        if (is_of_watch(id)) return tool_failed(id, error, stage);
        is_rank(id) ? rank_failed(id, error, stage) : attachments_->failed(id, error, stage);
      },
      [this](int id, int wait_status, const spawn::Spent& spent) {
        if (is_of_watch(id)) return tool_exited(id, wait_status);
        is_rank(id) ? rank_exited(id, wait_status, spent) : attachments_->exited(id, wait_status);
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
        feed(SetupFailed{cause, why});
        feed(SpawnLost{});  // ranks that were ordered never start
      },
  };
}

void Runner::perform(const ConnectGang& action) {
  if (link_) link_->connect(orders_.assignment.attempt, orders_.assignment.node_rank, action.gang);
}

void Runner::perform(const TellGang& action) {
  if (link_) link_->broadcast(action.message);
}

void Runner::gang_received(int from, GangMessage message) {
  if (take_watched(from, message)) return;
  if (auto* abort = std::get_if<GangAbort>(&message)) {
    end_watch();
    spdlog::info("node rank {} ended the gang: {}", abort->node_rank, abort->message);
    feed(AbortFromPeer{std::move(*abort)});
  } else if (const auto* drained = std::get_if<GangDrained>(&message)) {
    spdlog::debug("the ranks of node rank {} are done", from);
    note_other_over(drained->node_rank);
    feed(PeerDrained{*drained});
  } else if (launching_ == Launching::ready) {
    bootstrap_->receive(message);
  } else {
    early_.push_back(std::move(message));
  }
}

// Contributions climb the tree, unions descend it; direct modex goes to one node.
void Runner::send_to_gang(const GangMessage& message) {
  if (!link_) return;
  if (std::holds_alternative<FencePart>(message))
    link_->send_up(message);
  else if (std::holds_alternative<FenceDone>(message))
    link_->send_down(message);
  else if (const auto* request = std::get_if<ModexRequest>(&message))
    link_->send_to(request->to_node, message);
  else if (const auto* reply = std::get_if<ModexReply>(&message))
    link_->send_to(reply->to_node, message);
  else
    link_->broadcast(message);
}

void Runner::perform(const Report& action) {
  // The core has begun to end the ranks: what is not started yet never is.
  if (action.report.state == PartState::stopping)
    give_up_starts("it was not started, because the ranks of this node were being ended");
  if (final_report_ && stage_ != Stage::reported) return;  // told when it is on disk
  blocked_shown_ = logs_.blocked_reason();
  ended_told_ = action.report.ended.size();
  spdlog::info("{}{}", to_string(action.report.state),
               blocked_shown_.empty() ? "" : ": " + blocked_shown_);
  control_->tell(shown(action.report));
}

// As the agent may know it: a part has ended when its final report is on disk.
PartReport Runner::shown(PartReport report) const {
  if (stage_ == Stage::reported) {
    report.exit = final_report_;
  } else if (final_report_) {
    report.state = PartState::running;
    report.exit.reset();
  }
  if (!why_no_port_.empty()) report.progress = why_no_port_;
  if (!logs_.blocked_reason().empty()) report.progress = logs_.blocked_reason();
  report.limits = limit_watch_.lines();
  report.notes = setup_.isolation.for_job;
  if (gang_watch_ && stage_ != Stage::reported) report.found = gang_watch_->found();
  if (awaits_secrets()) {
    report.attempt = orders_.assignment.attempt;
    report.progress = "waiting for the values of its secrets";
  }
  return report;
}

void Runner::perform(const WriteFinalReport& action) {
  final_report_ = action.report;
  final_report_->notes = setup_.isolation.for_job;
  follow_wall_clock(*final_report_, io::wall_clock() - clock_.now());
  stage_ = Stage::settling;
  io::unlink_short_path(directory_);
  if (setup_.place)
    if (const Status back = setup_.place->give_back(); !back)
      spdlog::error("{}", back.error().message);
  tell_limits();
  tell_totals();
  if (action.report.cause == Cause::completed) {
    settle_until_ = clock_.now() + kSettleTimeout;
    linger();
  }
  spdlog::info("the end: {}{}", to_string(action.report.cause),
               action.report.message.empty() ? "" : ": " + action.report.message);
  write_final_report();
}

// The ranks are ended as after a failure of theirs; a part that ends already just goes on with it.
void Runner::end(const EndPart& order) {
  spdlog::error("the agent ends the part: {}", order.message);
  limit_watch_.ended(order.message);
  if (order.cause == Cause::disk_limit) logs_.give_up_on_disk();
  feed(SetupFailed{order.cause, order.message});
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

// And at the ranks that have ended while others go on, which change no state of the part.
void Runner::look_at_limits(bool final) {
  look_at_limits_at_ = clock_.now() + kLookAtLimitsEvery;
  const bool is_reached = limit_watch_.look(count_limits(), final);
  if (final) return;
  PartReport report = core_.report();
  if (!is_reached && report.ended.size() == ended_told_) return;
  perform(Report{std::move(report)});
}

// A rank that could not fork seldom says so itself.
void Runner::tell_limits() {
  look_at_limits(true);
  final_report_->limits = limit_watch_.lines();
  if (!final_report_->first_failed_rank) return;
  const LimitCounts counts = count_limits();
  for (RankExit& exit : final_report_->ranks)
    if (exit.rank == *final_report_->first_failed_rank && exit.detail.empty())
      if (const std::string why = limit_watch_.refusal_of(exit.rank, counts); !why.empty())
        exit.detail = "it " + why;
}

// Ranks of another node may still need our last FenceDone, over a network that loses or is cut for
// a while: without it they stay in MPI_Finalize for ever. Until they have it our part is not ended,
// so that whoever gives it up, or cancels the job, finds us.
bool Runner::others_need_us() { return link_ && clock_.now() < settle_until_ && !link_->settled(); }

// What is told to have ended is gone: who looks at the engine, and who gets its GPUs next, relies
// on it.
bool Runner::container_ends() {
  if (!setup_.container) return false;
  setup_.isolation.spawn.reset();
  if (setup_.container->has_ended(clock_.now())) return false;
  return true;
}

// People look there for what kept the ranks from their start: no rank has a log then.
void Runner::tell_environment_log() {
  if (!orders_.assignment.spec.environment) return;
  const bool never_started =
      final_report_->started.ns == 0 && (is_infrastructure(final_report_->cause) ||
                                         final_report_->cause == Cause::environment_failed);
  std::string text;
  if (never_started && setup_.container) text += setup_.container->said();
  if (never_started) text += "failed: " + final_report_->message + "\n";
  if (setup_.container && !setup_.container->why_left().empty())
    text += setup_.container->why_left() + "\n";
  if (text.empty()) return;
  const int node_rank = orders_.assignment.node_rank;
  const auto size = append_to_log(directory_.log(node_rank, LogStream::environment), text);
  if (size)
    final_report_->logs.push_back({node_rank, 0, 0, *size});
  else
    spdlog::warn("{}", size.error().message);
}

// The agent trusts nothing else: a runner does not leave before it is on disk.
void Runner::write_final_report() {
  if (stage_ == Stage::settling) {
    if (others_need_us() || container_ends()) {
      write_again_at_ = clock_.now() + kLookIfSettledEvery;
      return;
    }
    if (watches_others()) {
      write_again_at_ = clock_.now() + kLingerEvery;
      return;
    }
    tell_environment_log();
    final_report_->log_times = logs_.times();
    stage_ = Stage::writing;
  }
  const std::string report = wire::encode(*final_report_);
  // The reserve becomes the report: no other file is made and none removed.
  auto written =
      io::write_into_reserve(directory_.report_reserve(), directory_.final_report(), report);
  if (!written) written = io::write_file_atomically(directory_.final_report(), report);
  if (written) {
    io::release_reserve(directory_.report_reserve());
    stage_ = Stage::reported;
    const bool late = write_again_at_ != Instant::never();
    write_again_at_ = Instant::never();
    if (late) perform(Report{core_.report()});
    return;
  }
  spdlog::error("final report: {}", written.error().message);
  if (was_removed(directory_.path())) {
    stage_ = Stage::homeless;
    return;
  }
  write_again_at_ = clock_.now() + kWriteAgainAfter;
}

// It leaves once its report is on disk, which was ordered before.
void Runner::perform(const Leave&) {}

// The loop has ended and the final report is on disk: nobody waits for an answer of ours any more.
// Each of these waits for a bounded time; the longest is Client's, for a rank in the kernel's
// hands.
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
