#pragma once
// The simulated lockstepd: the real launcher core between an inbox and a journal. Its loop is like
// the daemon's (launcher/core/turns.h): a turn handles the inputs, its facts are durable after a
// while, and then its actions are performed. At each of these points it can be killed or stopped,
// or the commit can fail. The journal survives, and a crash loses what was being written.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "launcher/core/core.h"
#include "launcher/core/turns.h"
#include "launcher/state/state.h"
#include "tests/sim/provider.h"
#include "tests/sim/world.h"

namespace lockstep::sim {

class Cluster;

class LauncherHost {
 public:
  explicit LauncherHost(Cluster& cluster);
  void start();
  void deliver(launcher::Input input);
  // An input signed with a user's key; it is dropped when the key was revoked.
  void deliver_from(const PublicKey& key, launcher::Input input);
  void crash();                      // it starts again later
  void stop_for(Duration duration);  // SIGSTOP … SIGCONT
  bool up() const { return core_ != nullptr; }
  void logs_arrived(const AttemptId& attempt, NodeId node);
  void logs_refused(const AttemptId& attempt, NodeId node, std::uint64_t episode);
  const launcher::State& committed() const { return committed_; }
  const launcher::Core* core() const { return core_.get(); }
  bool left() const { return left_; }  // shutdown was granted
  void check_replay();

 private:
  enum class CutAt { nowhere, before_commit, commit_fails, after_commit, amid_actions };

  void turn();
  launcher::Step handle(Instant at, const launcher::Input& input, bool more);
  launcher::Heard hear(Instant at, const launcher::HeartbeatInput& input);
  void note_heard(const launcher::Step& step);
  bool finish_turn();
  void count_stall();
  bool begin_write(std::vector<launcher::StampedFact> facts, CutAt cut);
  void end_write(CutAt cut);
  void perform_all(const std::vector<launcher::Action>& actions, CutAt cut);
  Duration draw_write();
  void plan_turn(Duration delay);
  void wake_at_deadline();
  bool commit(const std::vector<launcher::StampedFact>& facts);
  void record(const launcher::StampedFact& fact);
  void count_transitions(const launcher::StampedFact& fact,
                         const std::map<JobId, JobStatus>& before);
  void count_parts(const launcher::StampedFact& fact);
  void count_transition(const std::string& name);
  void count_liveness();
  void check_state();
  CutAt draw_cut();
  CutAt draw_cut_at();
  void begin_compaction();
  void end_compaction();
  void perform(const launcher::Action& action);
  void act(const launcher::SendDesired& action);
  void act(const launcher::AcceptSession& action);
  void act(const launcher::RefuseSession& action);
  void act(const launcher::AskForSession& action);
  void act(const launcher::AckObserved& action);
  void act(const launcher::AckHeartbeat& action);
  void act(const launcher::JobChanged&) {}
  void act(const launcher::AwaitLogs& action);
  void act(const launcher::AllowNode&) {}
  void act(const launcher::RevokeNode&) {}
  void act(const launcher::ReplySubmitted& action);
  void act(const launcher::ReplyJoined& action);
  void act(const launcher::ReplyDone& action);
  void act(const launcher::ReplyRefused& action);
  void act(const launcher::ReplyDeleted& action);
  void act(const launcher::ForgetJob&) {}
  void act(const launcher::TreesReplaced&) {}
  void act(const launcher::MergeOutputs& action);
  void act(const launcher::WriteOutput& action);
  void act(const launcher::ReplyEnvironment& action);
  void act(const launcher::ReplyCompute& action);
  void act(const launcher::ReplySizes& action);
  void act(const launcher::ReplyAsset& action);
  void act(const launcher::AllowUser& action) { users_[action.key] = action.user; }
  void act(const launcher::RevokeUser& action) { users_.erase(action.key); }
  void act(const launcher::UserChanged&) {}
  void act(const launcher::ReportRefused&) {}
  void act(const launcher::ReadersChanged&) {}
  void act(const launcher::CallProvider& action) { provider_.perform(action); }
  void act(const launcher::StartProvider& action) { provider_.perform(action); }
  void act(const launcher::HoldMachines&) {}
  void act(const launcher::CheckProvider& action) { provider_.perform(action); }
  void act(const launcher::ForgetCompute&) {}
  void act(const launcher::StopProvider&) {}  // its calls end by themselves
  void act(const launcher::ExitDaemon& action);

  Cluster& cluster_;
  Provider provider_;
  launcher::CoreConfig config_;
  std::vector<launcher::StampedFact> journal_;
  // A compaction in progress: `facts` will replace the journal's first `instead_of` facts.
  struct Compacting {
    std::vector<launcher::StampedFact> facts;
    std::size_t instead_of = 0;
  };
  std::optional<Compacting> compacting_;
  launcher::State committed_;  // the fold of all facts ever committed
  std::unique_ptr<launcher::Core> core_;
  std::optional<launcher::Turns> turns_;
  std::vector<launcher::StampedFact> ahead_;                // of the turn that has not ended
  std::deque<std::vector<launcher::StampedFact>> writing_;  // more than one only with a defect
  CutAt cut_after_write_ = CutAt::nowhere;  // while the written actions are performed
  bool was_writing_ = false;
  struct Told {
    bool low_disk = false, notice = false;
  };
  std::map<std::pair<NodeId, std::uint64_t>, Told> told_;  // by heartbeat
  std::uint64_t incarnation_ = 0;
  std::deque<launcher::Input> inbox_;
  bool stopped_ = false;
  bool was_stopped_ = false;
  bool turn_planned_ = false;
  bool left_ = false;
  Instant wake_ = Instant::never();
  std::uint64_t turns_taken_ = 0;
  std::uint64_t made_ = 0, durable_ = 0;  // facts since the start of this launcher
  Duration stalled_for_{0};               // how late the clock is; with a defect only
  std::map<PublicKey, std::string> users_;
  std::map<NodeId, SessionId> sessions_;
  std::set<std::pair<AttemptId, NodeId>> awaited_;
  std::map<NodeId, Liveness> liveness_;
};

}  // namespace lockstep::sim
