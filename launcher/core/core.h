#pragma once
// The launcher as a function from inputs to facts and actions. It owns the state of jobs, nodes and
// tokens and makes all decisions. It never reads a clock, a socket, a file or a random source. The
// shell appends the facts durably before it performs any action.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/views.h"
#include "launcher/core/base/config.h"
#include "launcher/core/base/input.h"
#include "launcher/core/base/refusal.h"
#include "launcher/core/base/step.h"

namespace lockstep::launcher {

class State;
struct Job;
struct Part;

class Core {
 public:
  explicit Core(CoreConfig config);
  ~Core();
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;

  // Handles an input. `more`: another input follows before the facts are written. Placing waiting
  // jobs and telling nodes is then done once, after the last of these inputs.
  Step handle(Instant now, const Input& input, bool more = false);
  // Notes that a node is alive and acknowledges its heartbeat. It makes no fact, checks no timeout
  // of other nodes and sends no other message, so it may be called between handle() and the time
  // when its facts are durable.
  Heard hear(Instant now, const HeartbeatInput& input);

  // Recovers: the stored facts in order, then `recovered` once, then resume().
  void replay(const StampedFact& fact);
  void recovered(Instant now);         // all nodes UNKNOWN, reconnect_grace begins
  std::vector<Action> resume() const;  // the actions that should be in progress now
  Instant next_deadline() const;       // Instant::never() when nothing is due

  DesiredState desired_for(NodeId node) const;

  // Read-only views for launcher/api.
  const State& state() const;
  const CoreConfig& config() const;
  // All trees that State (roots.h) or the nodes' reports on running jobs refer to.
  std::vector<Digest> trees() const;
  // The trees of one job; then the trees of the parts assigned to a node, together with the trees
  // that the node reported (roots.h).
  std::vector<Digest> trees_of(const JobId& job) const;
  std::vector<Digest> trees_of(NodeId node) const;
  std::optional<JobView> job_view(const JobId& job, ViewDetail detail = ViewDetail::whole) const;
  // Visits the jobs submitted before `after` (empty: all), newest first, until `take` returns
  // false. Views have ViewDetail::outline. `among`: only jobs with these orders (jobs/index.h);
  // null: all.
  void each_job_view(const JobId& after, const std::set<std::uint64_t>* among,
                     const std::function<bool(const Job&)>& wanted,
                     const std::function<bool(JobView)>& take) const;
  std::vector<JobView> job_views() const;    // newest first
  std::vector<NodeView> node_views() const;  // by name
  // "": all targets, sorted by name with "local" first; otherwise only the target with this name,
  // if it exists.
  std::vector<ComputeView> compute_views(const std::string& name, bool history = false) const;
  // The views of sizes; without names, all, sorted by name. Unknown names are left out.
  std::vector<SizeView> size_views(const std::vector<std::string>& names) const;
  std::optional<NodeView> node_view(const std::string& name_or_id, bool history = false) const;
  Liveness liveness(NodeId node) const;
  // How far the clock of the part's node is ahead of ours: the newest measurement, otherwise the
  // one in the node's report on the part. 0: unknown.
  Duration clock_ahead(const Part& part) const;
  std::optional<ExplainView> explain(const JobId& job) const;
  // nullopt: the job does not exist
  std::optional<SettingsView> settings_of(const JobId& job, int rank) const;
  // The job's events from `since` on, oldest first.
  std::optional<EventsReply> job_events(const JobId& job, Instant since) const;
  QuotaView quota_view(const QuotaHolder& holder) const;
  // See why_no_more_files() in quotas.h; "" for a job that does not exist.
  std::string why_no_more_files(const JobId& job, std::uint64_t more = 0) const;
  // See room_for_files() in quotas.h; nullopt also for a job that does not exist.
  std::optional<std::uint64_t> room_for_files(const JobId& job) const;
  // The users whose jobs' files take most space, for an admin, as "bob 240.0 GiB, alice 3.0 GiB";
  // "": there are none.
  std::string whose_files() const;
  // All reasons for which a submission of this job would be refused now; empty: it would be
  // accepted. Ignores the job's source.
  std::vector<Refusal> refusals(const JobSpec& spec, const Caller& caller,
                                const Judging& how = {}) const;
  std::optional<NodeId> node_with_key(const PublicKey& key) const;
  // The nodes that ran an attempt, in node-rank order (for log names); empty when unknown.
  std::vector<NodeId> nodes_of(const AttemptId& attempt) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::launcher
