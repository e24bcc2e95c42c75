#include "launcher/core/targets/compute_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/targets.h"
#include "launcher/core/access/users.h"
#include "launcher/core/base/counted.h"
#include "launcher/core/base/no_such.h"
#include "launcher/core/machines/instances.h"
#include "launcher/core/machines/scaling.h"
#include "launcher/core/machines/view.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/targets/size_requests.h"

namespace lockstep::launcher {

namespace {

bool names_host(const ComputeSpec& spec, const std::string& name) {
  return std::any_of(spec.hosts.begin(), spec.hosts.end(),
                     [&](const SshHost& host) { return host.name == name; });
}

// Settings that say where a provider's machines are.
std::vector<std::string> keys_of_place(NodeSource source) {
  if (source == NodeSource::kubernetes) return {"namespace", "kubeconfig", "context"};
  if (source == NodeSource::slurm) return {"directory"};
  return {};
}

// Whether both hosts are the same place. Passwords are sent there, so a user who changed the place
// could read them.
bool is_same_place(const SshHost& a, const SshHost& b) {
  return a.address == b.address && a.port == b.port && a.user == b.user && a.jump == b.jump &&
         a.key == b.key;
}

struct Asked {
  Context& core;
  const ComputeInput& input;
  bool is_checked = false;  // the provider answered that it could make such machines

  void refuse(ErrorCode code, std::string message) const {
    core.refuse(input.reply, code, std::move(message));
  }
  void refuse(const Error& error) const { refuse(error.code, error.message); }
  std::string by() const { return name_of(input.caller); }

  // True for target local, which always exists and which nobody may change; the request was
  // refused.
  bool is_local(const std::string& name) const {
    if (name != kLocalCompute) return false;
    refuse(ErrorCode::conflict,
           "target 'local' always exists; it cannot be created, changed or deleted");
    return true;
  }

  // Sets the owners of secrets. A host's password is a secret of the admin who names it first, and
  // for this host alone: otherwise another admin could send it to a machine of their own.
  void own_secrets(ComputeSpec& spec, const Compute* known) const {
    for (SshHost& host : spec.hosts) {
      host.secret_owner = by();
      if (known == nullptr) continue;
      for (const SshHost& before : known->spec.hosts)
        if (before.name == host.name && before.password_secret == host.password_secret &&
            is_same_place(before, host))
          host.secret_owner = before.secret_owner;
    }
  }

  // Finds a target; null: there is none, and the request was refused.
  const Compute* known_target(const std::string& name) const {
    const Compute* known = core.state.computes().find(name);
    if (known == nullptr) {
      refuse(no_such_compute(core.state, name));
    } else if (known->leaving) {
      refuse(ErrorCode::conflict, fmt::format("compute target '{}' is being deleted", name));
      return nullptr;
    }
    return known;
  }

  // Whether an update keeps the settings by which the provider finds the machines that it has made.
  // False: it does not, and was refused.
  bool keeps_provider(const Compute& known, const ComputeSpec& spec) const {
    if (known.machines.empty()) return true;
    for (const std::string& key : keys_of_place(spec.source)) {
      const auto now = known.spec.settings.find(key), then = spec.settings.find(key);
      const auto values = [](const auto& found, const auto& all) {
        return found == all.end() ? std::vector<std::string>() : found->second;
      };
      if (values(now, known.spec.settings) == values(then, spec.settings)) continue;
      refuse(ErrorCode::conflict,
             fmt::format("target '{}' has {}, which its provider would not find with another {}; "
                         "wait until it has none (`lockstep compute show {}`), or create another "
                         "target",
                         spec.name, counted(known.machines.size(), "machine"), key, spec.name));
      return false;
    }
    return true;
  }

  // Whether attached hosts stay where they are. False: the request moves one, and was refused.
  // Everything of the machine is where the host was when it was attached.
  bool keeps_places(const Compute& known, const ComputeSpec& spec) const {
    for (const SshHost& host : spec.hosts)
      for (const SshHost& before : known.spec.hosts) {
        const Machine* machine = core.state.computes().find_machine(spec.name, host.name);
        if (before.name != host.name || machine == nullptr || !machine->reached) continue;
        if (before.address == host.address && before.user == host.user &&
            before.directory == host.directory)
          continue;
        refuse(
            ErrorCode::conflict,
            fmt::format("host {} of target '{}' is attached already, with another address, user "
                        "or directory; detach it first (`lockstep compute detach {} --host {}`), "
                        "or give the new host another name",
                        host.name, spec.name, spec.name, host.name));
        return false;
      }
    return true;
  }

  // Tries every named host at once, even if its back-off is not over.
  void try_now(const std::string& target, const std::string& machine) const {
    const Machine* known = core.state.computes().find_machine(target, machine);
    if (known == nullptr) return;
    core.machines.record(target, machine).must_refresh = true;
    core.pending.dirty_targets.insert(target);
  }

  // Whether the request waits until the provider has answered.
  bool waits_for_check(const ComputeSpec& spec) const {
    if (is_checked || !can_be_checked(spec)) return false;
    if (core.checks.joins(input)) return true;
    if (core.checks.is_full()) {
      refuse(ErrorCode::resource_exhausted,
             fmt::format("the settings of {} other targets are being checked; try again, or accept "
                         "the settings unchecked (--no-check)",
                         ComputeChecks::kMost));
      return true;
    }
    core.act(CheckProvider{core.checks.add(input), spec});
    return true;
  }

  void operator()(const CreateCompute& ask) const {
    ComputeSpec spec = ask.spec;
    if (is_local(spec.name)) return;
    if (const Status good = check(spec); !good) return refuse(good.error());
    own_secrets(spec, core.state.computes().find(spec.name));
    if (const Compute* known = core.state.computes().find(spec.name)) {
      if (known->leaving)
        return refuse(ErrorCode::conflict,
                      fmt::format("compute target '{}' is being deleted; create it again when it "
                                  "is gone",
                                  spec.name));
      if (known->spec == spec) return core.act(ReplyCompute{input.reply, spec.name});
      return refuse(ErrorCode::already_exists,
                    fmt::format("compute target '{}' already exists with other settings; `lockstep "
                                "compute update {}` changes it",
                                spec.name, spec.name));
    }
    if (const auto error = refused_by_size(core.state, core.config, spec)) return refuse(*error);
    if (const auto error = refused_by_zones(core.config, spec)) return refuse(*error);
    if (core.state.computes().all().size() >= kMaxComputes)
      return refuse(ErrorCode::resource_exhausted,
                    fmt::format("there are {} compute targets, the most allowed; delete one first",
                                kMaxComputes));
    if (ask.check && waits_for_check(spec)) return;
    core.emit(ComputeCreated{spec, by()});
    core.act(ReplyCompute{input.reply, spec.name});
  }

  void operator()(const UpdateCompute& ask) const {
    ComputeSpec spec = ask.spec;
    if (is_local(spec.name)) return;
    const Compute* known = known_target(spec.name);
    if (known == nullptr) return;
    if (const Status good = check(spec); !good) return refuse(good.error());
    if (known->spec.type != spec.type || known->spec.source != spec.source)
      return refuse(
          ErrorCode::invalid_argument,
          fmt::format("compute target '{}' is of type {}{}, and neither its type nor its "
                      "node source can change; create another target",
                      spec.name, to_string(known->spec.type),
                      known->spec.source == NodeSource::none
                          ? ""
                          : fmt::format(" with node source {}", to_string(known->spec.source))));
    if (spec.size != known->spec.size || spec.scale != known->spec.scale)
      if (const auto error = refused_by_size(core.state, core.config, spec)) return refuse(*error);
    if (spec.instance.schedules != known->spec.instance.schedules)
      if (const auto error = refused_by_zones(core.config, spec)) return refuse(*error);
    own_secrets(spec, known);
    if (!keeps_places(*known, spec) || !keeps_provider(*known, spec)) return;
    const bool must_check = ask.check && differs_for_provider(known->spec, spec);
    if (must_check && waits_for_check(spec)) return;
    // Also if the settings are the same: a person may have removed the cause of the machine's
    // failure.
    if (!(known->spec == spec) || known->not_before > core.now)
      core.emit(ComputeUpdated{spec, by()});
    for (const auto& [name, machine] : core.state.computes().find(spec.name)->machines)
      if (ask.upgrade || machine.failure) try_now(spec.name, name);
    core.act(ReplyCompute{input.reply, spec.name});
  }

  void operator()(const AttachHosts& ask) const {
    if (is_local(ask.name)) return;
    const Compute* known = known_target(ask.name);
    if (known == nullptr) return;
    if (known->spec.source != NodeSource::ssh)
      return refuse(
          ErrorCode::conflict,
          fmt::format("compute target '{}' does not take hosts: its type is {}{}; "
                      "`lockstep compute attach` with another name makes a target that "
                      "does",
                      ask.name, to_string(known->spec.type),
                      known->spec.source == NodeSource::none
                          ? ""
                          : fmt::format(" with node source {}", to_string(known->spec.source))));
    ComputeSpec spec = known->spec;
    for (const SshHost& host : ask.hosts) {
      const auto same = std::find_if(spec.hosts.begin(), spec.hosts.end(),
                                     [&](const SshHost& one) { return one.name == host.name; });
      if (same == spec.hosts.end())
        spec.hosts.push_back(host);
      else
        *same = host;
    }
    if (const Status good = check(spec); !good) return refuse(good.error());
    own_secrets(spec, known);
    if (!keeps_places(*known, spec)) return;
    if (!(known->spec == spec)) core.emit(ComputeUpdated{spec, by()});
    for (const SshHost& host : ask.hosts) try_now(ask.name, host.name);
    core.act(ReplyCompute{input.reply, ask.name});
  }

  void operator()(const DetachHosts& ask) const {
    if (is_local(ask.name)) return;
    const Compute* known = known_target(ask.name);
    if (known == nullptr) return;
    for (const std::string& host : ask.hosts)
      if (known->machines.count(host) == 0 && !names_host(known->spec, host)) {
        std::vector<std::string_view> names;
        for (const auto& [name, machine] : known->machines) names.push_back(name);
        return refuse(ErrorCode::not_found,
                      fmt::format("target '{}' has no host '{}'. Its hosts: {}", ask.name,
                                  host.substr(0, 100), names.empty() ? "none" : listed(names)));
      }
    ComputeSpec spec = known->spec;
    std::erase_if(spec.hosts, [&](const SshHost& host) {
      return std::find(ask.hosts.begin(), ask.hosts.end(), host.name) != ask.hosts.end();
    });
    if (!(known->spec == spec)) core.emit(ComputeUpdated{spec, by()});
    for (const std::string& host : ask.hosts) {
      const Machine* found = core.state.computes().find_machine(ask.name, host);
      if (found == nullptr) continue;  // a host of a cluster that is not in use
      const Machine& machine = *found;
      if (!machine.is_leaving() || (ask.force && !machine.is_forced()))
        core.emit(MachineLeaving{ask.name, host, HostDetached{by()}, ask.force});
    }
    core.act(ReplyCompute{input.reply, ask.name});
  }

  void operator()(const DeleteCompute& ask) const {
    const std::string& name = ask.name;
    if (is_local(name)) return;
    const Computes& computes = core.state.computes();
    const Compute* known = computes.find(name);
    if (known == nullptr) return refuse(no_such_compute(core.state, name));
    const auto jobs = static_cast<std::size_t>(computes.load_of(name).unfinished);
    if (jobs > 0)
      return refuse(ErrorCode::conflict,
                    fmt::format("compute target '{}' has {} that {} not ended; cancel {} first, or "
                                "wait (to give up what runs on its machines, detach them: --host, "
                                "--force)",
                                name, counted(jobs, "job"), jobs == 1 ? "has" : "have",
                                jobs == 1 ? "it" : "them"));
    const std::string pool = computes.pool_of(name);
    const std::size_t joined = pool == name ? nodes_without_machine(pool) : 0;
    if (joined != 0)
      return refuse(ErrorCode::conflict,
                    fmt::format("compute target '{}' has {}; remove {} first (`lockstep compute "
                                "list-nodes {}`, `lockstep node remove NODE`)",
                                name, counted(joined, "node"), joined == 1 ? "it" : "them", name));
    if (pool == name) forget_tokens(pool);
    if (!known->machines.empty()) return leave(name, ask.force);
    core.emit(ComputeDeleted{name, by()});
    core.act(ReplyDone{input.reply, fmt::format("compute target '{}' is deleted", name)});
  }

  std::size_t nodes_without_machine(const std::string& pool) const {
    std::size_t count = 0;
    for (const Node& node : core.state.nodes_of(pool)) count += node.machine.empty() ? 1 : 0;
    return count;
  }

  void leave(const std::string& name, bool force) const {
    const Compute& known = *core.state.computes().find(name);
    const std::size_t machines = known.machines.size();
    if (!known.leaving || (force && !known.leaving->force))
      core.emit(ComputeLeaving{name, by(), force});
    if (force)
      for (const auto& [machine, state] :
           std::map<std::string, Machine>(core.state.computes().find(name)->machines))
        if (state.is_leaving() && !state.is_forced())
          core.emit(MachineLeaving{name, machine, state.why, true});
    core.act(
        ReplyDone{input.reply, fmt::format("compute target '{}' is being deleted: its {} {} first "
                                           "(`lockstep compute show {}`)",
                                           name, counted(machines, "machine"),
                                           machines == 1 ? "is detached" : "are detached", name)});
  }

  // Forgets the target's join tokens. A node must not join a deleted target, nor a later target of
  // the same name.
  void forget_tokens(const std::string& pool) const {
    const std::map<Digest, Token> tokens = core.state.tokens();
    for (const auto& [hash, token] : tokens)
      if (token.pool == pool) core.emit(TokenForgotten{hash});
  }
};

ComputeView::Nodes count_nodes(const Cluster& cluster, const std::string& pool) {
  ComputeView::Nodes count;
  for (const Node& node : cluster.state.nodes_of(pool)) {
    ++count.total;
    if (!node.parts.empty())
      ++count.busy;
    else if (why_unusable(cluster, node))
      ++count.unavailable;
    else
      ++count.idle;
  }
  return count;
}

}  // namespace

void react(Context& core, const ComputeInput& input) {
  if (!permitted(core, input.reply, input.caller, Permission::manage_computes)) return;
  std::visit(Asked{core, input}, input.ask);
}

void react(Context& core, const ProviderCheckedInput& input) {
  const ComputeChecks::Waiting waiting = core.checks.take(input.check);
  for (const ReplyTo& reply : waiting.replies) {
    const ComputeInput again{reply, waiting.ask, waiting.caller};
    // The caller's role and the target may have changed since the provider was asked.
    if (!permitted(core, reply, again.caller, Permission::manage_computes)) continue;
    if (input.why_not.empty())
      std::visit(Asked{core, again, true}, again.ask);
    else
      core.refuse(reply, ErrorCode::conflict,
                  fmt::format("{}. Nothing was changed; --no-check accepts the settings unchecked",
                              input.why_not));
  }
}

std::optional<ComputeView> compute_view(const Context& core, const std::string& name,
                                        bool history) {
  const Cluster cluster = core.cluster();
  const Computes& computes = cluster.state.computes();
  if (!computes.has(name)) return std::nullopt;
  ComputeView view;
  view.spec.name = name;
  if (const Compute* compute = computes.find(name)) {
    view.spec = compute->spec;
    view.created = compute->created;
    view.created_by = compute->by;
    if (compute->leaving) view.leaving_data = TargetDeletedBy{compute->leaving->by};
    for (const auto& [machine, state] : compute->machines)
      view.machines.push_back(view_of(core, name, machine, state));
    if (history) view.history = compute->history;
  }
  view.scaling = scaling_view(core, name);
  view.instance = instance_view(core, name);
  view.pool = computes.pool_of(name);
  view.nodes = count_nodes(cluster, view.pool);
  const ComputeLoad load = computes.load_of(name);
  view.queued_jobs = load.queued;
  view.running_jobs = load.running;
  return view;
}

}  // namespace lockstep::launcher
