#include "tests/sim/runner.h"

#include <csignal>

#include "tests/sim/cluster.h"

namespace lockstep::sim {

Runner::Runner(Cluster& cluster, Node& node, Assignment assignment)
    : cluster_(cluster),
      node_(node),
      assignment_(std::move(assignment)),
      grace_(assignment_.grace),
      is_old_(cluster.world.random.chance(cluster.weather.old_runners)) {}

void Runner::start() {
  GangMember self;
  self.node = node_.id;
  self.hostname = "n" + std::to_string(node_.index);
  if (assignment_.lease > Duration::zero()) look_at_lease();
  give(runner::Begin{assignment_, self});
}

void Runner::look_at_lease() {
  const auto files = node_.directories.find(attempt());
  if (files != node_.directories.end()) give(runner::LeaseRenewed{files->second.lease_until});
  later(seconds(1), [this] { look_at_lease(); });
}

bool Runner::is_mpi() const {
  return assignment_.spec.distribution.kind == Distribution::Kind::mpi;
}

void Runner::later(Duration delay, std::function<void()> event) {
  cluster_.world.after(delay, [self = weak_from_this(), event = std::move(event)] {
    const auto runner = self.lock();
    if (runner && !runner->dead_) event();
  });
}

void Runner::give(runner::Input input) {
  if (dead_) return;
  if (const auto* changed = std::get_if<runner::AssignmentChanged>(&input)) {
    grace_ = std::min(grace_, changed->assignment.grace);
    if (is_old_ && changed->assignment.share)
      violate_gang("a runner that knows no rows is given a share of the table");
  }
  for (const auto& heard : cluster_.saboteur.runner_hears(std::move(input))) {
    auto actions = core_.handle(cluster_.world.now, heard);
    cluster_.saboteur.runner_acts(actions);
    for (const auto& action : actions) {
      if (dead_) return;
      perform(action);
    }
  }
  arm();
}

void Runner::arm() {
  const Instant due = core_.next_deadline();
  if (dead_ || due == Instant::never() || armed_ <= due) return;
  armed_ = due;
  later(std::max(Duration(0), due - cluster_.world.now), [this, due] {
    if (armed_ != due) return;
    armed_ = Instant::never();
    if (core_.next_deadline() <= cluster_.world.now) give(runner::Tick{});
    arm();
  });
}

void Runner::perform(const runner::Action& action) {
  std::visit([this](const auto& a) { act(a); }, action);
}

// ---- gang --------------------------------------------------------------------------------------

void Runner::act(const runner::TellGang& action) {
  for (const auto& peer : cluster_.peers_of(*this)) {
    if (const auto* abort = std::get_if<GangAbort>(&action.message)) {
      if (!cluster_.linked(node_, peer->node_.id)) continue;
      peer->later(cluster_.world.random.between(milliseconds(1), milliseconds(20)),
                  [raw = peer.get(), abort = *abort] { raw->give(runner::AbortFromPeer{abort}); });
    } else if (const auto* done = std::get_if<GangNodeDone>(&action.message)) {
      peer->hear_done(node_.id, *done);
      if (cluster_.world.random.chance(0.1)) peer->hear_done(node_.id, *done);
    }
  }
}

// Resent until it arrives, as what a gang's link still owes when its runner leaves.
void Runner::hear_done(NodeId from, const GangNodeDone& done) {
  later(cluster_.world.random.between(milliseconds(1), milliseconds(20)), [this, from, done] {
    if (!cluster_.linked(node_, from)) return hear_done(from, done);
    give(runner::PeerDone{done});
  });
}

void Runner::peer_died(int node_rank) {
  later(cluster_.world.random.between(milliseconds(10), seconds(2)),
        [this, node_rank] { give(runner::PeerLost{node_rank}); });
}

// ---- ranks -------------------------------------------------------------------------------------

void Runner::act(const runner::StartRank& action) {
  const auto nodes = static_cast<std::size_t>(assignment_.nodes());
  if (!core_.gang() || core_.gang()->members.size() != nodes)
    violate_gang("a rank starts before the whole table is there");
  Rank& rank = ranks_[action.rank];
  if (rank.state != Rank::State::none) {
    cluster_.world.violate("oracle:again", fmt::format("rank {} of {} is started twice",
                                                       action.rank, to_string(attempt())));
    return;
  }
  rank.state = Rank::State::starting;
  rank.plan = cluster_.plan_of(attempt().job).rank(action.rank, cluster_.world.random);
  if (cluster_.world.random.chance(cluster_.weather.start_fails / 4))
    rank.plan.ending = Ending::start_failed;
  later(cluster_.world.random.between(milliseconds(1), milliseconds(15)), [this, id = action.rank] {
    if (!spawn_dead_) live(id);
  });
  const bool master = action.rank == 0 && assignment_.nodes() > 1 &&
                      has_master_port(assignment_.spec.distribution.kind);
  if (master && cluster_.world.random.chance(cluster_.weather.port_taken)) {
    later(milliseconds(20), [this] {
      cluster_.world.count("fault:port_taken");
      cluster_.oracle.port_was_taken(attempt());
      cluster_.broken.insert(attempt());
      give(runner::MasterPortTaken{});
    });
  }
}

void Runner::live(int id) {
  Rank& rank = ranks_[id];
  auto& random = cluster_.world.random;
  const Ending ending = rank.plan.ending;
  if (ending == Ending::not_found || ending == Ending::start_failed) {
    rank.state = Rank::State::gone;
    cluster_.world.count("ending:" + std::string(to_string(ending)));
    cluster_.oracle.rank_never_ran(attempt(), id, node_.index, ending);
    return give(
        runner::RankStartFailed{id, ending == Ending::not_found ? 127 : 125, told("no such file")});
  }
  rank.state = Rank::State::alive;
  cluster_.oracle.rank_started(assignment_, id, node_.index);
  if (rank.plan.strays) set_strays(strays_ + 1);
  if (is_mpi() && ending != Ending::never_connected) {
    later(random.between(milliseconds(1), milliseconds(60)), [this, id] {
      if (ranks_[id].state != Rank::State::alive) return;
      ranks_[id].connected = true;
      later(cluster_.world.random.between(milliseconds(0), milliseconds(30)),
            [this, id] { give(runner::RankConnected{id}); });
    });
  }
  later(rank.plan.runs, [this, id] { end_by_itself(id); });
  give(runner::RankStarted{id, 1000 + id});
}

void Runner::end_by_itself(int id) {
  Rank& rank = ranks_[id];
  if (rank.state != Rank::State::alive || rank.plan.endless) return;
  auto& random = cluster_.world.random;
  const auto& plan = rank.plan;
  const bool coupled = cluster_.plan_of(attempt().job).coupled;
  if (plan.ending == Ending::ok && coupled && cluster_.broken.count(attempt()) != 0) {
    rank.plan.endless = true;  // waits in a collective for a rank that is no more
    return;
  }
  switch (plan.ending) {
    case Ending::ok:
      if (rank.connected)
        later(random.between(milliseconds(0), milliseconds(100)),
              [this, id] { give(runner::RankFinalized{id}); });
      return end(id, Ending::ok, 0, 0, false);
    case Ending::exit_code: return end(id, Ending::exit_code, plan.code, 0, false);
    case Ending::signal: return end(id, Ending::signal, 0, plan.code, false);
    case Ending::out_of_memory: return end(id, Ending::out_of_memory, 0, SIGKILL, true);
    case Ending::abort:
      later(random.between(milliseconds(0), milliseconds(40)), [this, id, code = plan.code] {
        give(runner::RankAborted{id, code, "on purpose"});
      });
      return end(id, Ending::abort, plan.code, SIGABRT, false);
    case Ending::no_finalize:
      if (!rank.connected) return end(id, Ending::ok, 0, 0, false);
      return end(id, Ending::no_finalize, 0, 0, false);
    case Ending::never_connected: return end(id, Ending::never_connected, 0, 0, false);
    case Ending::not_found:
    case Ending::start_failed:
    case Ending::aftermath:
    case Ending::killed: break;
  }
  end(id, Ending::killed, 0, SIGKILL, false);
}

void Runner::end(int id, Ending ending, int code, int signal, bool oom) {
  Rank& rank = ranks_[id];
  if (rank.state != Rank::State::alive) return;
  rank.state = Rank::State::gone;
  if (rank.signalled) ending = Ending::killed;
  if (ending != Ending::ok) cluster_.broken.insert(attempt());
  cluster_.world.count("ending:" + std::string(to_string(ending)));
  // MPI_Abort's code is what counts, not the signal that it causes.
  const int truth = signal != 0 && ending != Ending::abort ? signal : code;
  cluster_.oracle.rank_ended(attempt(), id, ending, truth);
  if (ending != Ending::ok && ending != Ending::killed) {
    const AttemptId attempt = this->attempt();
    cluster_.world.trace("rank {} of {} ends: {} {}", id, to_string(attempt), to_string(ending),
                         truth);
    cluster_.world.after(
        seconds(8), [&cluster = cluster_, attempt] { cluster.oracle.check_promptness(attempt); });
  }
  if (spawn_dead_) return;
  later(cluster_.world.random.between(milliseconds(1), milliseconds(5)),
        [this, id, code, signal, oom] {
          give(runner::RankExited{id, code, signal, oom});
        });
}

// A rank on another node is gone for good: this one's next collective fails, seconds later.
void Runner::wait_for_aftermath(bool rebooted) {
  for (auto& [id, rank] : ranks_) {
    if (rank.state != Rank::State::alive) continue;
    if (!cluster_.world.random.chance(0.7)) {
      if (rebooted) rank.plan.endless = true;
      continue;
    }
    later(cluster_.world.random.between(seconds(5), seconds(15)), [this, id = id, rebooted] {
      end(id, rebooted ? Ending::aftermath : Ending::exit_code, 1, 0, false);
    });
  }
}

// A rank is killed only after its grace. There are two exceptions: the lease is over, or the
// launcher gave the node up meanwhile. Processes that outlive all ranks of a node are not ranks.
void Runner::check_grace() {
  if (!has_ranks() || spawn_dead_ || assignment_.lease > Duration::zero()) return;
  if (cluster_.oracle.was_lost(attempt(), node_.id)) return;
  // One that was just being started got its SIGTERM a little later.
  constexpr Duration kStarting = milliseconds(100);
  if (terminated_ && cluster_.world.now - *terminated_ >= grace_ - kStarting) return;
  cluster_.world.violate(
      "oracle:grace",
      fmt::format(
          "ranks of {} on n{} are killed {} after SIGTERM", to_string(attempt()), node_.index,
          terminated_ ? format_duration(cluster_.world.now - *terminated_) : "without one"));
}

void Runner::act(const runner::SignalRanks& action) {
  if (action.signal == SIGTERM && !terminated_) terminated_ = cluster_.world.now;
  if (action.signal == SIGKILL) check_grace();
  for (auto& [id, rank] : ranks_)
    if (rank.state == Rank::State::alive) signal_rank(id, action.signal);
}

void Runner::signal_rank(int id, int signal) {
  later(cluster_.world.random.between(milliseconds(0), milliseconds(3)), [this, id, signal] {
    Rank& rank = ranks_[id];
    if (rank.state != Rank::State::alive) return;
    rank.signalled = true;
    if (signal == SIGKILL) return end(id, Ending::killed, 0, SIGKILL, false);
    if (rank.plan.ignores_term) return cluster_.world.count("ending:ignored_term");
    if (!rank.plan.ends_well_on_term) return end(id, Ending::killed, 0, signal, false);
    later(cluster_.world.random.between(milliseconds(1), milliseconds(400)),
          [this, id] { end(id, Ending::killed, 0, 0, false); });
  });
}

void Runner::set_strays(int strays) {
  if (strays > strays_) cluster_.world.count("ending:strays");
  strays_ = strays;
  cluster_.oracle.strays_changed(attempt(), node_.index, strays);
}

bool Runner::has_ranks() const {
  for (const auto& [id, rank] : ranks_)
    if (rank.state == Rank::State::alive) return true;
  return false;
}

void Runner::kill_ranks() {
  for (auto& [id, rank] : ranks_) {
    if (rank.state != Rank::State::alive) continue;
    rank.signalled = true;
    end(id, Ending::killed, 0, SIGKILL, false);
  }
}

void Runner::act(const runner::KillEverything&) {
  check_grace();
  kill_ranks();
  set_strays(0);
}

void Runner::kill_spawn() {
  if (spawn_dead_) return;
  spawn_dead_ = true;
  kill_ranks();
  later(milliseconds(2), [this] { give(runner::SpawnLost{}); });
}

void Runner::kill(bool with_strays) {
  if (dead_) return;
  kill_ranks();
  if (with_strays) set_strays(0);
  dead_ = true;
  cluster_.broken.insert(attempt());
  cluster_.runner_gone(*this);
}

// ---- the end -----------------------------------------------------------------------------------

void Runner::act(const runner::DrainLogs&) {
  if (!draining_) drained_when_quiet();
}

void Runner::drained_when_quiet() {
  draining_ = true;
  later(cluster_.world.random.between(milliseconds(1), milliseconds(30)), [this] {
    if (strays_ > 0 || has_ranks()) return drained_when_quiet();  // a pipe is still open
    draining_ = false;
    std::vector<LogSize> sizes;
    for (const auto& [id, rank] : ranks_) sizes.push_back({id, 100, 10});
    give(runner::LogsDrained{sizes});
  });
}

void Runner::act(const runner::ReadStderrTail& action) {
  later(milliseconds(1), [this, id = action.rank] { give(runner::StderrTail{id, "last words"}); });
}

void Runner::act(const runner::Report& action) {
  cluster_.world.trace("runner {} on n{}: {}", to_string(attempt()), node_.index,
                       to_string(action.report.state));
  cluster_.runner_reports(node_, *this, as_told(action.report));
}

void Runner::act(const runner::WriteFinalReport& action) {
  if (action.report.cause == Cause::node_lost) cluster_.world.count("runner:lease_over");
  const auto files = node_.directories.find(attempt());
  if (files != node_.directories.end()) files->second.final_report = action.report;
}

void Runner::act(const runner::Leave&) {
  kill_ranks();
  dead_ = true;
  cluster_.runner_gone(*this);
}

}  // namespace lockstep::sim
