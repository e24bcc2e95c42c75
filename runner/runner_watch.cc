// The watch over the ranks of the gang: looks on this node (NodeWatch), messages between runners
// (GangWatch), and the job's action when its ranks hang.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runner/bootstrap/nccl_watch.h"
#include "runner/core/ranks.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

// The time for which node rank 0 watches other nodes' ranks after its own ranks have exited with 0:
// only then can they be seen to wait for a rank that has left. It watches longer while they do.
constexpr Duration kLingersFor = seconds(25);
constexpr Duration kLingersBeyondHang = seconds(90);

std::string kinds_of(const FoundList& list) {
  std::string text;
  for (const Found& found : list) {
    text += text.empty() ? "" : ", ";
    text += to_string(found.kind);
    if (!found.ranks.empty()) text += " (rank " + std::to_string(found.ranks.front().rank) + ")";
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

// ---- its begin and its end ----------------------------------------------------------------------

void Runner::make_gang_watch(const GangTable& gang) {
  GangWatch::Callbacks callbacks;
  callbacks.send_up = [this](const GangMessage& message) {
    if (link_) link_->send_up(message);
  };
  callbacks.broadcast = [this](const GangMessage& message) {
    if (link_) link_->broadcast(message);
  };
  callbacks.take_stacks = [this](const std::vector<int>& ranks) {
    if (node_watch_) node_watch_->take_stacks(ranks);
  };
  callbacks.keep_stacks = [this] {
    if (kept_stacks_) kept_stacks_->begin();
  };
  callbacks.ask_counts = [this] { ask_ras(); };
  callbacks.published = [this] { tell_found(); };
  callbacks.hangs = [this](const Found& found) { gang_hangs(found); };
  gang_watch_ = std::make_unique<GangWatch>(orders_.assignment, gang, std::move(callbacks),
                                            link_ ? link_->radix() : kGangTreeRadix);
}

// Libraries may use other addresses than the one that the probe chose.
std::vector<std::string> Runner::addresses_of(int node_rank) const {
  const auto node = static_cast<std::size_t>(node_rank);
  std::vector<std::string> addresses;
  const auto add = [&](const GangTable& gang) {
    if (node >= gang.members.size()) return;
    const std::string& address = gang.members[node].address;
    if (addresses.empty() || addresses.front() != address) addresses.push_back(address);
  };
  add(gang_->gang());
  if (link_) add(*link_->table());
  return addresses;
}

NodeWatch::Settings Runner::watch_settings() const {
  const Assignment& assignment = orders_.assignment;
  const auto kind = assignment.spec.distribution.kind;
  NodeWatch::Settings settings;
  settings.node_rank = assignment.node_rank;
  settings.meets_at_pmix = kind == Distribution::Kind::mpi;
  settings.meets_at_store = kind == Distribution::Kind::pytorch;
  // Ranks of this node are known by their sockets, because services here have the same address.
  for (int node = 0; node < assignment.nodes(); ++node)
    if (node != assignment.node_rank)
      for (std::string& address : addresses_of(node))
        settings.peers.addresses.push_back(std::move(address));
  settings.peers.store_port = gang_->gang().master_port;
  settings.pmix_pid = pmix_pid_;
  // A single rank waits for no other.
  const bool is_alone = assignment.nodes() == 1 && assignment.ranks_here() == 1;
  settings.stacks_after = is_alone ? Duration::zero() : assignment.spec.hang.after;
  if (const auto address = ras_address(*gang_)) settings.ras_port = ras_port_of(*address);
  settings.peers.ras_port = settings.ras_port.value_or(0);
  // Each rank uses the GPU of its local rank, unless one rank has all GPUs.
  const std::vector<int>& gpus = assignment.allotment.gpus;
  for (int i = 0; i < assignment.ranks_here() && !gpus.empty(); ++i)
    settings.gpus[assignment.first_rank() + i] =
        assignment.ranks_here() == 1
            ? gpus
            : std::vector<int>{gpus[static_cast<std::size_t>(i) % gpus.size()]};
  return settings;
}

// Called when the first rank starts here. Ranks are not compared if the gang has an older runner or
// the job has hang_after: off; the check of RDMA still needs to know what they send.
void Runner::begin_watch() {
  const bool is_solo = orders_.assignment.nodes() == 1;
  const bool is_wanted = is_watched() || orders_.assignment.spec.resources.rdma != Rdma::off;
  if (node_watch_ || is_watch_over_ || !is_wanted || !attach_place_) return;
  if (is_solo && is_watched() && !gang_watch_) make_gang_watch(gang_->gang());
  NodeWatch::Callbacks callbacks;
  if (setup_.isolation.cgroups && !setup_.container)
    callbacks.cgroup = [this](int rank) {
      const auto& cgroups = setup_.isolation.cgroups;
      return cgroups ? cgroups->memory_directory(rank - orders_.assignment.first_rank()) : "";
    };
  callbacks.logged = [this](int rank) {
    const LogCapture::Written written = logs_.written(rank);
    return std::pair(written.bytes, written.lines);
  };
  callbacks.told = [this](const RankStandings& standings) {
    note_standings(standings);
    if (gang_watch_ && !is_watch_over_) gang_watch_->sampled(clock_.now(), standings);
  };
  node_watch_ = std::make_unique<NodeWatch>(loop_, clock_, *attach_place_, attach_facts(),
                                            watch_settings(), std::move(callbacks));
  kept_stacks_ = std::make_unique<KeptStacks>(loop_, clock_, *attach_place_, attach_facts());
}

// Ends the watch of the ranks here, which are being ended or have ended. Node rank 0 may still
// watch other nodes' ranks.
void Runner::end_watch_here() {
  if (node_watch_) node_watch_->end();
  if (kept_stacks_) kept_stacks_->end();
}

// The gang is being ended, so earlier findings stay unchanged.
void Runner::end_watch() {
  is_watch_over_ = true;
  write_soon();
}

// The final report may be ready to be written now.
void Runner::write_soon() {
  if (stage_ == Stage::settling) write_again_at_ = clock_.now();
}

void Runner::look_at_watch(Instant now) {
  if (node_watch_) node_watch_->expire(now);
  if (kept_stacks_) kept_stacks_->expire(now);
  if (gang_watch_ && !is_watch_over_) gang_watch_->expire(now);
}

Instant Runner::watch_deadline() const {
  Instant next = Instant::never();
  if (node_watch_) next = std::min(next, node_watch_->next_deadline());
  if (kept_stacks_) next = std::min(next, kept_stacks_->next_deadline());
  if (gang_watch_ && !is_watch_over_) next = std::min(next, gang_watch_->next_deadline());
  return next;
}

void Runner::tool_failed(int id, int error, spawn::SpawnStage stage) {
  if (id >= kFirstKeptId)
    kept_stacks_->failed(id, error, stage);
  else
    node_watch_->tool_failed(id, error, stage);
}

void Runner::tool_exited(int id, int wait_status) {
  if (id >= kFirstKeptId)
    kept_stacks_->exited(id, wait_status);
  else
    node_watch_->tool_exited(id, wait_status);
}

// ---- other nodes --------------------------------------------------------------------------------

bool Runner::take_watched(int from, const GangMessage& message) {
  const auto* const told = std::get_if<GangStandings>(&message);
  const auto* const look = std::get_if<GangLook>(&message);
  const auto* const seen = std::get_if<GangSeen>(&message);
  if (told == nullptr && look == nullptr && seen == nullptr) return false;
  if (!gang_watch_ || is_watch_over_) return true;
  const Instant now = clock_.now();
  if (told != nullptr) gang_watch_->take(now, *told);
  if (look != nullptr && from == 0) gang_watch_->take(now, *look);
  if (seen != nullptr) gang_watch_->take(now, *seen);
  return true;
}

void Runner::note_other_over(int node_rank) {
  others_over_.insert(node_rank);
  write_soon();
  if (gang_watch_) gang_watch_->node_done(clock_.now(), node_rank);
}

// Keeps watching, only for jobs whose ranks wait for each other.
void Runner::linger() {
  const Assignment& assignment = orders_.assignment;
  const auto kind = assignment.spec.distribution.kind;
  const bool do_wait = kind == Distribution::Kind::mpi || kind == Distribution::Kind::pytorch;
  if (!gang_watch_ || is_watch_over_ || assignment.node_rank != 0 || !do_wait) return;
  lingers_since_ = clock_.now();
  gang_watch_->node_done(lingers_since_, assignment.node_rank);
}

bool Runner::watches_others() {
  const auto others = static_cast<std::size_t>(orders_.assignment.nodes() - 1);
  if (lingers_since_.ns == 0 || is_watch_over_ || others_over_.size() >= others) return false;
  const Duration longest = gang_watch_->finds_left()
                               ? orders_.assignment.spec.hang.after + kLingersBeyondHang
                               : Duration(kLingersFor);
  return clock_.now() - lingers_since_ < longest;
}

void Runner::ask_ras() {
  if (!node_watch_) return;
  node_watch_->ask_ras([this](Result<RasReport> report) { take_ras(report); });
}

// Takes an answer of RAS, which covers all ranks of the job.
void Runner::take_ras(const Result<RasReport>& report) {
  if (!report) {
    spdlog::debug("NCCL's RAS: {}", report.error().message);
    return;
  }
  std::vector<RasProcess> processes;
  for (const GangWatch::Process& one : gang_watch_->processes())
    processes.push_back({one.rank, one.pid, addresses_of(one.node_rank)});
  gang_watch_->take_counts(clock_.now(), counts_by_rank(*report, processes));
}

// ---- what was found -----------------------------------------------------------------------------

void Runner::tell_found() {
  spdlog::info("found: {}", kinds_of(gang_watch_->found()));
  if (stage_ < Stage::reported) control_->tell(shown(core_.report()));
}

void Runner::gang_hangs(const Found& found) {
  spdlog::warn("the gang hangs: {}", kinds_of({found}));
  switch (orders_.assignment.spec.hang.on) {
    case OnHang::report: return;
    case OnHang::stacks: return gang_watch_->keep_all_stacks(clock_.now());
    case OnHang::fail:
    case OnHang::retry: break;
  }
  if (final_report_) return end_gang_for(found);
  feed(GangHangs{found});
}

// The ranks here have exited with 0 and the core is done, so the other nodes get the message that
// the core would have sent.
void Runner::end_gang_for(const Found& found) {
  final_report_->cause = Cause::hang;
  final_report_->why = gang_hung(found);
  final_report_->hang = found;
  forget_probe_of(*final_report_);
  RankExit first;
  first.cause = Cause::hang;
  first.rank = orders_.assignment.first_rank();
  first.started = false;
  first.time = clock_.now();
  if (link_) link_->broadcast(GangAbort{orders_.assignment.node_rank, first, final_report_->why});
  end_watch();
}

}  // namespace lockstep::runner
