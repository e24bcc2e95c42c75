#pragma once
// The launcher's state: jobs, attempts, nodes and tokens. State is exactly the fold of its facts:
// only apply() changes it, live and in recovery alike. Data that is not from facts (when a node was
// last heard, which node must send logs) is in liveness.h and context.h.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"
#include "launcher/state/event.h"
#include "launcher/state/facts/fact.h"
#include "launcher/state/job_record.h"
#include "launcher/state/jobs/deleted.h"
#include "launcher/state/jobs/ended.h"
#include "launcher/state/jobs/index.h"
#include "launcher/state/jobs/steps.h"
#include "launcher/state/jobs/table.h"
#include "launcher/state/people/assets.h"
#include "launcher/state/people/names.h"
#include "launcher/state/people/principals.h"
#include "launcher/state/people/usage.h"
#include "launcher/state/targets/computes.h"
#include "launcher/state/targets/defined_sizes.h"

namespace lockstep::launcher {

struct Token {
  Instant expires;
  int uses = 1;
  int used = 0;
  Approval approval = Approval::as_configured;
  std::string pool;     // the pool of the nodes that join with it
  std::string machine;  // the machine whose agent may use it; "": any agent
  Instant created;
  std::string by;  // its maker; "": the launcher, or unknown
  friend bool operator==(const Token&, const Token&) = default;
};

struct Node {
  NodeId id;
  std::string name;
  PublicKey key;
  Instant joined;
  std::string pool;     // the pool of the node; never changes
  std::string machine;  // a machine of the pool's target; "": no provider made it; never changes
  // The machine's id when it joined; "": unknown. Cloned images have the same one.
  std::string machine_id;
  // The newest session; none before the first. `inventory` and `boot` came with it.
  std::optional<SessionId> session;
  BootId boot;
  Inventory inventory;
  std::string agent_version;             // "": unknown
  std::vector<NodeEvent> history;        // oldest first; the newest kMaxNodeEvents
  std::vector<SessionId> past_sessions;  // replaced sessions, newest last; bounded
  std::optional<Why> lost;               // why it is LOST
  std::optional<std::string> drain;      // why it takes no new work
  struct Notice {
    Instant until;  // the time at which its machine is taken away
    Why why;
    friend bool operator==(const Notice&, const Notice&) = default;
  };
  std::optional<Notice> notice;     // the notice of the newest session
  bool waits_for_approval = false;  // the node has joined, and no admin has approved it yet
  NodeLabels labels;                // set by people; see State::labels_of
  HostClaim host_claim;             // the node's claim to be on inventory.host_id
  std::uint64_t revision = 0;       // the revision of its desired state
  std::map<AttemptId, int> parts;   // attempts with a part assigned here, and its node rank
  // Sums over the parts that have not ended, so that placement need not visit every part.
  struct Use {
    int parts = 0;
    int wholes = 0;    // parts that asked for the whole node
    int isolated = 0;  // parts that asked for isolation
    int cpus = 0;
    int gpus = 0;
    Bytes memory;
    friend bool operator==(const Use&, const Use&) = default;
  };
  Use use;
  // The users as whom its agent could not run ranks, with the job that failed and why. An entry is
  // removed when a session starts, when the job ends because no node has the account or is
  // canceled, or when the job is deleted.
  std::map<std::pair<std::string, JobId>, Why> cannot_run_as;
  friend bool operator==(const Node&, const Node&) = default;
};
inline constexpr std::size_t kMaxPastSessions = 16;

// The data kept of a removed node: enough to tell its agent about the removal, and to name the node
// in old reports.
struct RemovedNode {
  std::string name;
  PublicKey key;
  std::string by;
  Instant at;
  friend bool operator==(const RemovedNode&, const RemovedNode&) = default;
};

// One environment. It is kept while a job uses it. With locks, and unless it is a family's, it is
// also kept while a registered name has its definition.
struct Environment {
  struct Lock {
    Digest tree;
    Instant at;
    AttemptId attempt;  // the attempt for which it was solved
    NodeId node;        // the node that solved it
    friend bool operator==(const Lock&, const Lock&) = default;
  };
  std::uint64_t generation = 0;
  std::map<std::string, Lock> locks;  // by platform; only of the current generation
  std::set<std::uint64_t> jobs;       // orders of the jobs that use it
  std::set<std::uint64_t> live;       // the unfinished ones of these jobs
  friend bool operator==(const Environment&, const Environment&) = default;
};
struct EnvironmentVersion {
  RegisteredEnvironment environment;
  Digest definition;
  Instant at;
  std::string by;
  std::string project;   // the project of the name, set by its first version; "": the default one
  bool foreign = false;  // see EnvironmentRegistered
  bool archived = false;
  std::optional<Bytes> files = {};  // see EnvironmentRegistered
  friend bool operator==(const EnvironmentVersion&, const EnvironmentVersion&) = default;
};

// The nodes of one pool, by id. The iterator steps through the table of all nodes, and searches
// only when ids of other pools lie in between.
class PoolNodes {
 public:
  using Nodes = std::map<NodeId, Node>;
  class Iterator {
   public:
    Iterator(const Nodes& nodes, std::set<NodeId>::const_iterator id,
             std::set<NodeId>::const_iterator end)
        : nodes_(&nodes), id_(id), end_(end), node_(nodes.begin()) {
      seek();
    }
    const Node& operator*() const { return node_->second; }
    Iterator& operator++() {
      ++id_;
      ++node_;
      seek();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return id_ != other.id_; }

   private:
    void seek() {
      if (id_ == end_) return;
      if (node_ == nodes_->end() || node_->first != *id_) node_ = nodes_->find(*id_);
    }
    const Nodes* nodes_;
    std::set<NodeId>::const_iterator id_, end_;
    Nodes::const_iterator node_;
  };
  PoolNodes(const Nodes& nodes, const std::set<NodeId>& ids) : nodes_(nodes), ids_(ids) {}
  Iterator begin() const { return {nodes_, ids_.begin(), ids_.end()}; }
  Iterator end() const { return {nodes_, ids_.end(), ids_.end()}; }
  std::size_t size() const { return ids_.size(); }

 private:
  const Nodes& nodes_;
  const std::set<NodeId>& ids_;
};

class State {
 public:
  void apply(Instant at, const Fact& fact);

  const std::map<JobId, Job>& jobs() const { return jobs_.all(); }
  const std::map<NodeId, Node>& nodes() const { return nodes_; }
  PoolNodes nodes_of(const std::string& pool) const { return {nodes_, computes_.nodes_of(pool)}; }
  // The nodes whose newest session came from this host.
  const std::set<NodeId>& nodes_on_host(const std::string& host_id) const;
  // The node of the same host that holds a part of an isolated job; null: there is none, or it is
  // this node. Cheap, because placement calls it for every node.
  const Node* isolated_beside(const Node& node) const;
  const Computes& computes() const { return computes_; }
  // The node's own label, otherwise its target's; null: it has neither. Cheap, because placement
  // calls it for every node.
  const std::string* label_of(const Node& node, const std::string& key) const;
  NodeLabels labels_of(const Node& node) const;  // all labels of the node
  const DefinedSizes& sizes() const { return sizes_; }
  const Assets& assets() const { return assets_; }
  const Names& names() const { return owned_names_; }  // names of environments and assets
  // The unfinished jobs that name this version ("NAME:VERSION") themselves or in a step, by order.
  const std::set<std::uint64_t>& jobs_with(NameKind kind, const std::string& version) const;
  const std::map<Digest, Token>& tokens() const { return tokens_; }
  // The waiting jobs that are not canceled, in order of submission.
  const std::map<std::uint64_t, JobId>& queue() const { return queue_; }
  // The orders of the waiting jobs that are to run after this one.
  const std::set<std::uint64_t>& dependents(const JobId& job) const;
  // The orders of the jobs that attempts of this job submitted.
  const std::set<std::uint64_t>& children(const JobId& job) const;
  // all jobs, by order
  const std::map<std::uint64_t, JobId>& submitted() const { return submitted_; }
  const JobIndex& index() const { return index_; }
  // Visits the jobs with an order below `before`, newest first, until `visit` returns false.
  // `among`: only these orders; null: all.
  void each_older(std::uint64_t before, const std::set<std::uint64_t>* among,
                  const std::function<bool(const Job&)>& visit) const;
  const std::set<JobId>& unfinished() const { return unfinished_; }  // the jobs that are not final
  // The jobs with outputs that wait to be written.
  const std::set<JobId>& unwritten() const { return unwritten_; }
  // The final jobs that may be deleted: no output waits to be written, and the job is not a step,
  // which stays as long as its pipeline. Also the size of all final jobs.
  const EndedJobs& ended_jobs() const { return ended_; }
  const std::map<EndedJobs::Place, JobId>& ended() const { return ended_.all(); }
  const JobSize& ended_size() const { return ended_.size(); }
  EndedJobs::Gives gives(const Job& job) const;  // the job must be final
  const DeletedJobs& deleted() const { return deleted_; }
  const Principals& principals() const { return principals_; }
  const UsageTable& usage() const { return usage_; }       // by user and project
  const SourceTable& sources() const { return sources_; }  // by user and project
  const FairShares& shares() const { return shares_; }     // by pool and user
  // The least incarnation of new attempts.
  std::uint64_t incarnation() const { return incarnation_; }
  // The time of a restore from a backup.
  std::optional<Instant> restored_at() const { return restored_at_; }

  const Job* job(const JobId& id) const;
  const Attempt* attempt(const AttemptId& id) const;
  const Node* node(NodeId id) const;
  // The node that was on this node's host before, if it claims to be there still and the two were
  // never on one host together; null: there is none. The claim may be forged, so it has no effect
  // on the other node.
  const Node* displaced_by(const Node& node) const;
  const Node* node_with_key(const PublicKey& key) const;
  const Node* node_called(const std::string& name_or_id) const;
  const std::map<NodeId, RemovedNode>& removed_nodes() const { return removed_; }
  // The labels of a node with this name on this machine when it was removed.
  NodeLabels kept_labels(const std::string& machine_id, const std::string& name) const;
  // Null unless `key` belonged to a removed node.
  const RemovedNode* removed_with_key(const PublicKey& key) const;
  const Job* job_of_submission(const std::string& submission) const;
  // The newest completed job of a step of this family with this key; null: there is none.
  const Job* reusable(std::uint64_t family, const Digest& reuse_key) const;
  // The part of the attempt that is still assigned to the node; null: there is none.
  const Part* assigned_part(const AttemptId& id, NodeId node) const;
  std::string node_name(NodeId id) const;  // also for a removed node; "node 7" if unknown
  // By node: the attempts that have a fenced part there.
  const std::map<NodeId, std::set<AttemptId>>& fenced() const { return fenced_; }
  const std::map<EnvironmentId, Environment>& environments() const { return environments_; }
  const Environment* environment(const EnvironmentId& id) const;  // null: no job or name uses it
  // The environments of all accounts and families that have the definition.
  std::vector<EnvironmentId> environments_of(const Digest& definition) const;
  // The versions of each name, oldest first.
  const std::map<std::string, std::vector<EnvironmentVersion>>& registered() const {
    return registered_;
  }
  // Finds a version. `version` empty: what @latest means, the newest by the owner or by a user whom
  // the owner allows.
  const EnvironmentVersion* registered(const std::string& name, const std::string& version) const;
  Instant environments_unused_since() const { return environments_unused_since_; }
  NodeId next_node_id() const { return NodeId(next_node_); }

  friend bool operator==(const State&, const State&) = default;

 private:
  struct Applier;

  Job& job_ref(const JobId& id);
  Attempt& attempt_ref(const AttemptId& id);
  Node& node_ref(NodeId id);
  Part& part_ref(Attempt& attempt, NodeId node);
  void enqueue(const Job& job);
  void dequeue(const Job& job);
  void meet(Job& job, const JobId& after);  // `job` no longer waits for `after`
  // Notes that the desired states of the attempt's nodes have changed.
  void touch_nodes(const Attempt& attempt);
  void unassign(Attempt& attempt, Part& part);
  void unfence(Part& part, const AttemptId& attempt);
  // The environment plan of jobs that use it has changed.
  void touch_environment(const EnvironmentId& id);
  Steps* steps_around(const Job& job);  // the steps of the job's pipeline; null: it has none
  void leave_host(const Node& node);
  void note_isolated(const Node& node);
  void drop_environment(const EnvironmentId& id);  // removes it if nothing uses it any more

  JobTable<Job> jobs_;
  std::map<NodeId, Node> nodes_;
  std::map<Digest, Token> tokens_;
  std::map<std::uint64_t, JobId> queue_;
  std::map<std::uint64_t, JobId> submitted_;
  JobIndex index_;
  std::set<JobId> unfinished_;
  std::set<JobId> unwritten_;
  std::map<JobId, std::set<std::uint64_t>> dependents_;  // no set is empty
  std::map<JobId, std::set<std::uint64_t>> children_;    // no set is empty
  std::map<PublicKey, NodeId> keys_;
  std::map<std::string, NodeId> names_;
  std::map<std::string, std::set<NodeId>> hosts_;  // by host_id; no set is empty
  // By host_id: the nodes with parts of isolated jobs; no set is empty.
  std::map<std::string, std::set<NodeId>> isolated_;
  std::map<NodeId, RemovedNode> removed_;
  // By machine id and name: labels that people set on nodes that are removed.
  std::map<std::pair<std::string, std::string>, NodeLabels> labels_of_removed_;
  std::map<PublicKey, NodeId> revoked_;
  std::map<std::string, JobId> submissions_;
  // By family and reuse key: the orders of the steps' jobs that completed; no set is empty.
  std::map<std::pair<std::uint64_t, Digest>, std::set<std::uint64_t>> reusable_;
  EndedJobs ended_;
  DeletedJobs deleted_;
  Principals principals_;
  Computes computes_;
  DefinedSizes sizes_;
  Assets assets_;
  Names owned_names_;
  // By version, see jobs_with(); no set is empty.
  std::map<std::pair<NameKind, std::string>, std::set<std::uint64_t>> named_by_;
  UsageTable usage_;
  SourceTable sources_;
  FairShares shares_;
  std::uint64_t incarnation_ = 0;
  std::optional<Instant> restored_at_;
  std::map<NodeId, std::set<AttemptId>> fenced_;
  std::uint64_t next_node_ = 1;
  std::map<EnvironmentId, Environment> environments_;
  std::map<Digest, int> named_;  // the number of registered versions with each definition
  std::map<std::string, std::vector<EnvironmentVersion>> registered_;
  Instant environments_unused_since_;
};

}  // namespace lockstep::launcher
