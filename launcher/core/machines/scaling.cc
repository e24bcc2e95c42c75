#include "launcher/core/machines/scaling.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/domain/why/nodes/machines.h"
#include "launcher/core/machines/changes.h"
#include "launcher/core/machines/free_names.h"
#include "launcher/core/placement/host_labels.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/wait_for_machines.h"
#include "launcher/core/queue/quotas.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {
namespace {

// The number of machines of the target, by their use for waiting jobs.
struct Supply {
  int total = 0;  // all machines, including those that leave
  int leaving = 0;
  int busy = 0;      // machines that hold parts
  int unusable = 0;  // machines whose node takes no work
  int coming = 0;    // machines without a node, or with one that has been silent only briefly
  int idle = 0;      // machines that can take work and have none
  std::vector<std::string> not_begun;  // machines without a node for which no call runs
  // Machines whose node holds no part, and since when.
  std::vector<std::pair<Instant, std::string>> without_work;
  int staying() const { return total - leaving; }
};

// Whether the node will soon report or be LOST. After a restart of the launcher this holds for all
// nodes.
bool is_expected(const Cluster& cluster, const Node& node) {
  if (node.lost || node.drain || node.notice) return false;
  const NodeWatch* watch = cluster.watches.find(node.id);
  return !node.session || watch == nullptr || watch->liveness != Liveness::alive;
}

Supply supply_of(const Context& core, const std::string& target, const Compute& compute) {
  Supply supply;
  const Cluster cluster = core.cluster();
  for (const auto& [name, machine] : compute.machines) {
    ++supply.total;
    const MachineRecord& record = core.machines.of(target, name);
    const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
    if (machine.is_leaving()) {
      ++supply.leaving;
    } else if (node == nullptr) {
      ++supply.coming;
      if (!record.work) supply.not_begun.push_back(name);
    } else if (!node->parts.empty()) {
      ++supply.busy;
    } else if (is_expected(cluster, *node)) {
      ++supply.coming;
    } else {
      ++(why_unusable(cluster, *node) ? supply.unusable : supply.idle);
      supply.without_work.emplace_back(record.idle_since.value_or(core.now), name);
    }
  }
  std::sort(supply.without_work.begin(), supply.without_work.end());
  return supply;
}

// The free resources of one machine that jobs share.
struct Room {
  int cpus = 0, gpus = 0;
  std::uint64_t memory = 0;
};

int cpus_of(const Shape& shape, const Room& whole) { return shape.cpus.value_or(whole.cpus); }
int gpus_of(const Shape& shape, const Room& whole) { return shape.gpus.value_or(whole.gpus); }

// Counts the machines that queued jobs need, as if none were there.
class Packer {
 public:
  Packer(const Inventory* sample, int most) : most_(most) {
    if (sample == nullptr) return;
    whole_ = Room{static_cast<int>(sample->cpus.size()), static_cast<int>(sample->gpus.size()),
                  sample->memory.count};
  }
  // Adds the machines that the job needs; false: its gang does not fit beside the jobs before.
  bool add(const Shape& shape) {
    std::vector<std::size_t> in;
    if (whole_ && !shape.whole_node())
      for (std::size_t i = 0; i < rooms_.size() && in.size() < wanted(shape); ++i)
        if (has(rooms_[i], shape)) in.push_back(i);
    const std::size_t fresh = wanted(shape) - in.size();
    if (rooms_.size() + fresh > static_cast<std::size_t>(std::max(most_, 0))) return false;
    for (std::size_t i = 0; i < fresh; ++i) {
      in.push_back(rooms_.size());
      rooms_.push_back(whole_.value_or(Room{}));
    }
    for (const std::size_t room : in) take(rooms_[room], shape);
    return true;
  }
  bool is_full() const { return rooms_.size() >= static_cast<std::size_t>(std::max(most_, 0)); }
  int machines() const { return static_cast<int>(rooms_.size()); }

 private:
  static std::size_t wanted(const Shape& shape) { return static_cast<std::size_t>(shape.nodes); }
  bool has(const Room& room, const Shape& shape) const {
    return room.cpus >= cpus_of(shape, *whole_) && room.gpus >= gpus_of(shape, *whole_) &&
           room.memory >= memory_of(shape);
  }
  void take(Room& room, const Shape& shape) const {
    if (!whole_ || shape.whole_node()) {
      room = Room{-1, -1, 0};
      return;
    }
    room.cpus -= cpus_of(shape, *whole_);
    room.gpus -= gpus_of(shape, *whole_);
    room.memory -= std::min(room.memory, memory_of(shape));
  }
  std::uint64_t memory_of(const Shape& shape) const {
    return shape.memory ? shape.memory->count : whole_->memory;
  }

  const int most_;
  std::optional<Room> whole_;  // an empty machine; unknown: each part gets a machine of its own
  std::vector<Room> rooms_;
};

// The scale of a target. A compute instance that is on is a cluster of exactly one machine.
Scale scale_of(const Compute& compute) {
  if (!compute.instance) return compute.spec.scale;
  return {compute.spec.scale.tier, 1, 1, compute.spec.scale.idle_time};
}

Why why_at_least(const Compute& compute, const Scale& scale) {
  if (compute.instance) return InstanceIsOn{compute.instance->why};
  return MinInstances{scale.min_instances};
}

struct Need {
  int machines = 0;
  std::size_t jobs = 0;
  JobId first;             // the first job that needs machines
  std::set<Shape> shapes;  // the shapes of these jobs; at most kMostShapes
};
constexpr std::size_t kMostShapes = 32;

// The machines that queued jobs need, at most `most`.
Need need_of(const Context& core, const std::string& target, const Compute& compute, int most) {
  Need need;
  Packer packer(core.samples.of(target), most);
  if (most <= 0) return need;
  const Cluster cluster = core.cluster();
  std::map<std::string, Demand> of_users;  // the machines that earlier jobs of each user need
  LabelledHosts labelled(core.state, compute);
  const bool machines_end = lifetime_of_new(compute).has_value();
  core.scheduler.visit(target, [&](const Job& job) {
    Shape shape = shape_of(job.spec);
    // If no machine ends, jobs that differ only in `lasts` have one shape.
    if (!machines_end) shape.lasts.reset();
    // A job that its user's quota holds back gets no machine, because that machine would be idle.
    if (!core.state.principals().quotas().empty()) {
      const Demand more = least_demand(core.state, job.spec);
      Demand& before = of_users[job.spec.submitter];
      const Demand all{before.nodes + more.nodes, before.cpus + more.cpus, before.gpus + more.gpus};
      if (over_quota(core.state, job.spec, all)) return true;
      before = all;
    }
    if (shape.nodes > most_machines(compute.spec) || unfit(cluster, target, shape)) return true;
    if (!labelled.take(shape)) return true;
    if (!packer.add(shape)) return false;
    if (need.jobs++ == 0) need.first = job.id;
    if (need.shapes.size() < kMostShapes) need.shapes.insert(shape);
    return !packer.is_full();
  });
  need.machines = packer.machines();
  return need;
}

Why why_wanted(const Need& need) {
  return JobsNeedMachine{static_cast<std::int64_t>(need.jobs), need.first};
}

class Scaler {
 public:
  Scaler(Context& core, const std::string& target, const Compute& compute)
      : core_(core), target_(target), compute_(compute), scale_(scale_of(compute)) {}

  void run() {
    note_idle_machines();
    give_back_failures();
    if (is_off(compute_)) return dismiss_all(InstanceIsOff{compute_.instance->why});
    const Supply supply = supply_of(core_, target_, compute_);
    const Need need = need_of(core_, target_, compute_, room_for_need(supply));
    const std::vector<std::string> useless = useless_for(need, supply);
    const int missing =
        need.machines - (supply.idle - static_cast<int>(useless.size())) - supply.coming;
    if (missing > 0) {
      make_room(supply, missing, useless);
      grow(supply, missing, why_wanted(need), need.shapes);
    } else {
      shrink(supply, -missing, useless);
    }
    const Supply after = supply_of(core_, target_, compute_);
    if (after.staying() < scale_.min_instances)
      grow(after, scale_.min_instances - after.staying(), why_at_least(compute_, scale_), {});
  }

 private:
  // The number of machines that could work for queued jobs: existing ones and those that may be
  // made.
  int room_for_need(const Supply& supply) const {
    return most_machines(compute_.spec) - supply.busy - supply.unusable - supply.leaving;
  }

  // The idle machines on which no waiting job can run, because they were made with other settings.
  std::vector<std::string> useless_for(const Need& need, const Supply& supply) const {
    std::vector<std::string> useless;
    if (need.shapes.empty() || need.shapes.size() == kMostShapes) return useless;
    const Cluster cluster = core_.cluster();
    for (const auto& [since, name] : supply.without_work) {
      const Node* node = core_.state.node(compute_.machines.at(name).node);
      if (node == nullptr || why_unusable(cluster, *node)) continue;
      if (std::all_of(need.shapes.begin(), need.shapes.end(), [&](const Shape& shape) {
            return static_cast<bool>(never_fits(cluster, *node, shape));
          }))
        useless.push_back(name);
    }
    return useless;
  }

  void make_room(const Supply& supply, int missing, const std::vector<std::string>& useless) {
    int lacking = missing - (most_machines(compute_.spec) - supply.total);
    for (const std::string& name : useless) {
      if (lacking-- <= 0) return;
      dismiss(name, NoJobFitsMachine{});
    }
  }

  void note_idle_machines() {
    for (const auto& [name, machine] : compute_.machines) {
      const Node* node = machine.node.value == 0 ? nullptr : core_.state.node(machine.node);
      const bool is_idle = node != nullptr && node->parts.empty() && node->session;
      auto& idle_since = core_.machines.record(target_, name).idle_since;
      if (!is_idle)
        idle_since.reset();
      else if (!idle_since)
        idle_since = core_.now;
    }
  }

  // Gives back machines that could not be made or whose node is LOST. Other machines replace them.
  void give_back_failures() {
    std::vector<std::pair<std::string, Why>> leave;
    for (const auto& [name, machine] : compute_.machines) {
      if (machine.is_leaving()) continue;
      const Node* node = machine.node.value == 0 ? nullptr : core_.state.node(machine.node);
      if (node != nullptr && node->lost)
        leave.emplace_back(name, MachineNodeLost{*node->lost});
      else if (node == nullptr && machine.failure)
        leave.emplace_back(name, MachineNotMade{why_failed(*machine.failure)});
    }
    for (auto& [name, why] : leave) dismiss(name, std::move(why));
  }

  void grow(const Supply& supply, int count, const Why& why, const std::set<Shape>& shapes) {
    if (compute_.not_before > core_.now) return;
    NewNames names(target_, compute_, shapes);
    const int most = most_machines(compute_.spec) - supply.total;
    for (int i = 0; i < std::min(count, most); ++i) {
      auto name = names.next();
      if (!name) return;
      core_.emit(MachineWanted{target_, *std::move(name), why});
    }
  }

  // Gives back surplus machines, but never below min_instances: first those that are not started
  // yet, then those that have been idle for longest.
  void shrink(const Supply& supply, int surplus, const std::vector<std::string>& useless) {
    int left = std::max(std::min(surplus + supply.unusable + static_cast<int>(useless.size()),
                                 supply.staying() - scale_.min_instances),
                        0);
    for (const std::string& name : supply.not_begun) {
      if (left <= 0) return;
      dismiss(name, MachineNotNeeded{});
      --left;
    }
    for (const auto& [since, name] : supply.without_work) {
      if (left <= 0 || since + scale_.idle_time > core_.now) return;
      // While jobs wait, idle machines that can run them stay.
      const bool is_useless = std::find(useless.begin(), useless.end(), name) != useless.end();
      if (!useless.empty() && surplus <= 0 && !is_useless && is_usable(name)) continue;
      dismiss(name, MachineIdle{core_.now - since});
      --left;
    }
  }

  bool is_usable(const std::string& name) const {
    const Node* node = core_.state.node(compute_.machines.at(name).node);
    return node != nullptr && !why_unusable(core_.cluster(), *node);
  }

  void dismiss_all(const Why& why) {
    std::vector<std::string> names;
    for (const auto& [name, machine] : compute_.machines)
      if (!machine.is_leaving()) names.push_back(name);
    for (const std::string& name : names) dismiss(name, why);
  }

  void dismiss(const std::string& name, Why why) {
    core_.emit(MachineLeaving{target_, name, std::move(why), false});
  }

  Context& core_;
  const std::string& target_;
  const Compute& compute_;  // a reference into the state, so it shows the effect of facts at once
  const Scale scale_;
};

}  // namespace

void scale(Context& core, const std::string& target) {
  if (core.stopping) return;
  if (const Compute* compute = elastic(core.state, target)) Scaler(core, target, *compute).run();
}

bool has_demand(const Context& core, const std::string& target) {
  const Compute* compute = elastic(core.state, target);
  return compute != nullptr && need_of(core, target, *compute, 1).jobs != 0;
}

Instant next_scaling(const Context& core, const std::string& target) {
  const Compute* compute = elastic(core.state, target);
  if (compute == nullptr) return Instant::never();
  Instant due = compute->not_before > core.now ? compute->not_before : Instant::never();
  const Scale scale = scale_of(*compute);
  const Supply supply = supply_of(core, target, *compute);
  if (supply.staying() <= scale.min_instances) return due;
  for (const auto& [since, name] : supply.without_work)
    if (since + scale.idle_time > core.now) due = std::min(due, since + scale.idle_time);
  return due;
}

ScalingView scaling_view(const Context& core, const std::string& target) {
  ScalingView view;
  const Compute* compute = core.state.computes().find(target);
  if (compute == nullptr || !is_elastic(compute->spec)) return view;
  const Supply supply = supply_of(core, target, *compute);
  view.wanted = supply.staying();
  view.preparing = supply.coming;
  view.leaving = supply.leaving;
  view.changed = compute->scaled;
  view.why_data = compute->scaled_why;
  view.failure_data = compute->failure;
  const auto lacking = core.samples.lacking(target, core.now);
  if (!view.failure_data && lacking)
    view.failure_data = MachinesLackAccount{lacking->first, lacking->second};
  if (compute->not_before > core.now) view.retry_at = compute->not_before;
  return view;
}

}  // namespace lockstep::launcher
