#pragma once
// The compute targets of a launcher, the nodes of each pool, and the number of jobs that name each
// target. Part of State: applier.h changes it. A pool has the name of the target that owns it;
// an alias has the pool "local".

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/domain/job/spec.h"
#include "common/domain/targets/compute.h"
#include "common/domain/why/why.h"
#include "launcher/state/targets/machines.h"

namespace lockstep::launcher {

struct ComputeCreated {
  static constexpr int kBody = 80;
  ComputeSpec spec;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const ComputeCreated&, const ComputeCreated&) = default;
};
struct ComputeUpdated {  // changes texts and tags, never the type
  static constexpr int kBody = 81;
  ComputeSpec spec;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const ComputeUpdated&, const ComputeUpdated&) = default;
};
struct ComputeDeleted {  // Deletes a target that had no nodes of its own and no unfinished job.
  static constexpr int kBody = 82;
  std::string name;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const ComputeDeleted&, const ComputeDeleted&) = default;
};

// The target is to be deleted when its last machine is gone.
struct ComputeLeaving {
  static constexpr int kBody = 83;
  std::string name;
  std::string by;
  bool force = false;  // the machines leave by force
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "by", s.by);
    see(field<3>, "force", s.force);
  }
  friend bool operator==(const ComputeLeaving&, const ComputeLeaving&) = default;
};

// A compute instance must be on, or off, from now on.
struct InstanceStarted {
  static constexpr int kBody = 105;
  std::string target;
  InstanceCause cause = InstanceCause::user;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "cause", s.cause);
    see(reason_or_old_text<3, 4>, "why", s.why);
  }
  friend bool operator==(const InstanceStarted&, const InstanceStarted&) = default;
};
struct InstanceStopped {
  static constexpr int kBody = 106;
  std::string target;
  InstanceCause cause = InstanceCause::user;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "target", s.target);
    see(field<2>, "cause", s.cause);
    see(reason_or_old_text<3, 4>, "why", s.why);
  }
  friend bool operator==(const InstanceStopped&, const InstanceStopped&) = default;
};

// Whether a compute instance must be on.
struct Instance {
  enum class Power { on, off };
  Power power = Power::on;
  Instant changed;
  InstanceCause cause = InstanceCause::user;
  Why why;
  Instant scheduled;  // when its schedules were set
  Instant seen;       // scheduled times up to this one have been applied
  friend bool operator==(const Instance&, const Instance&) = default;
};

struct Compute {
  struct Leaving {
    std::string by;
    bool force = false;
    friend bool operator==(const Leaving&, const Leaving&) = default;
  };
  ComputeSpec spec;
  Instant created;
  std::string by;
  std::optional<Leaving> leaving;
  std::map<std::string, Machine> machines;  // the machines, by name
  // The hosts of existing machines that the target no longer names. They must be reachable to
  // remove the machines.
  std::map<std::string, SshHost> former_hosts;
  std::vector<ComputeEvent> history;  // oldest first; the newest kMaxComputeEvents
  // For an elastic target only:
  std::int64_t last_machine = 0;  // number in the newest machine's name
  // Hosts that failed and were not used since, the longest ago first.
  std::vector<std::string> avoided;
  Why failure;         // MachineStepFailed; none: the last machine was made
  int failures = 0;    // the number of failures in a row
  Instant not_before;  // no machine is made before this; ns = 0: now
  Instant scaled;      // when a machine last was wanted or began to leave
  Why scaled_why;
  std::optional<Instance> instance;  // only for the type computeinstance
  // By host: a label belongs to the machine, also while it is detached.
  std::map<std::string, NodeLabels> labels_of_hosts;
  // The lifetime of the last machine made with these settings; zero: unknown, or unbounded.
  Duration lifetime{0};
  friend bool operator==(const Compute&, const Compute&) = default;
};

// The number of jobs that name one target.
struct ComputeLoad {
  std::int64_t unfinished = 0;  // the jobs that are not final
  std::int64_t queued = 0;      // the jobs in the queue
  std::int64_t running = 0;     // jobs whose last attempt has not ended
  friend bool operator==(const ComputeLoad&, const ComputeLoad&) = default;
};

// The target that the job names; "local" if it names none.
std::string target_of(const JobSpec& spec);

// True for a compute instance that is stopped.
bool is_off(const Compute& compute);

class Computes {
 public:
  // All targets except "local", which always exists.
  const std::map<std::string, Compute>& all() const { return computes_; }
  const Compute* find(const std::string& name) const;  // null for "local" too
  // Null: the target does not have the machine.
  const Machine* find_machine(const std::string& target, const std::string& name) const;
  // The place of the machine, even if the target no longer names its host or uses the name for
  // another host. Null: unknown.
  const SshHost* host_of(const std::string& target, const std::string& machine) const;
  bool has(const std::string& name) const;
  // The pool whose nodes the target uses. An unknown name is its own pool, because an ended job may
  // name a target that was deleted since.
  std::string pool_of(const std::string& target) const;
  const std::set<NodeId>& nodes_of(const std::string& pool) const;
  ComputeLoad load_of(const std::string& target) const;

  void apply(Instant at, const ComputeCreated& fact);
  void apply(Instant at, const ComputeUpdated& fact);
  void apply(Instant at, const ComputeDeleted& fact);
  void apply(Instant at, const ComputeLeaving& fact);
  void apply(Instant at, const InstanceStarted& fact);
  void apply(Instant at, const InstanceStopped& fact);
  void apply(Instant at, const MachineWanted& fact);
  void apply(Instant at, const MachineFound& fact);
  void apply(Instant at, const MachineCreated& fact);
  void apply(Instant at, const MachineFailed& fact);
  void apply(Instant at, const MachineLeaving& fact);
  void apply(Instant at, const MachineGone& fact);
  // The machine's agent joined as this node, or its node was removed (0).
  void machine_joined(Instant at, const std::string& target, const std::string& machine,
                      NodeId node);
  void machine_left(Instant at, const std::string& target, const std::string& machine, NodeId node);
  // The labels that people set on a host's node; none: they are removed. Machines that get new
  // names keep no labels.
  void keep_labels(const std::string& target, const std::string& machine, const NodeLabels& labels);
  NodeLabels kept_labels(const std::string& target, const std::string& machine) const;
  void add_node(const std::string& pool, NodeId node) { nodes_[pool].insert(node); }
  void remove_node(const std::string& pool, NodeId node);
  void count(const JobSpec& spec, const ComputeLoad& change);

  friend bool operator==(const Computes&, const Computes&) = default;

 private:
  Machine* machine(const std::string& target, const std::string& name);
  void switch_instance(Instant at, const std::string& target, Instance::Power power,
                       InstanceCause cause, const Why& why);
  void note_success(const std::string& target, const std::string& machine);
  void note_failure(Instant at, const MachineFailed& fact);
  void record(Instant at, const std::string& target, const std::string& machine, Why what);

  std::map<std::string, Compute> computes_;
  std::map<std::string, std::set<NodeId>> nodes_;  // by pool; no set is empty
  std::map<std::string, ComputeLoad> loads_;       // by target; only targets with jobs
};

}  // namespace lockstep::launcher
