#include "tests/sim/provider.h"

#include <fmt/format.h>

#include "common/domain/why/nodes/providers.h"
#include "tests/sim/cluster.h"

namespace lockstep::sim {

namespace {

Node& node_named(Cluster& cluster, const std::string& name) {
  return *cluster.nodes.at(static_cast<std::size_t>(std::stoi(name.substr(1))));
}

}  // namespace

void Provider::later(std::uint64_t call, Duration delay, std::function<void()> event) {
  cluster_.world.after(delay, [this, call, life = lives_, event = std::move(event)] {
    if (life == lives_ && calls_.count(call) != 0) event();
  });
}

Digest Provider::secret(std::uint64_t call, const std::string& machine) const {
  return sha256(fmt::format("secret of {} in call {} of life {}", machine, call, lives_));
}

void Provider::perform(const launcher::CallProvider& action) {
  const bool is_create = action.verb == launcher::ProviderVerb::create;
  cluster_.world.count(is_create ? "provider:create" : "provider:remove");
  calls_[action.call] = {action, {action.machines.begin(), action.machines.end()}};
  if (!is_create) return begin(action.call);
  later(action.call, milliseconds(5), [this, action] {
    launcher::ProviderTokensInput tokens{action.call, {}, cluster_.world.now + minutes(60)};
    for (const std::string& machine : action.machines)
      tokens.secret_hashes[machine] = secret(action.call, machine);
    cluster_.launcher.deliver(tokens);
  });
}

void Provider::perform(const launcher::StartProvider& action) {
  if (calls_.count(action.call) != 0) begin(action.call);
}

void Provider::perform(const launcher::CheckProvider& action) {
  cluster_.world.count("provider:check");
  cluster_.launcher.deliver(launcher::ProviderCheckedInput{action.check, ""});
}

void Provider::launcher_died() {
  ++lives_;
  calls_.clear();
}

void Provider::begin(std::uint64_t call) {
  auto& random = cluster_.world.random;
  const std::set<std::string> machines = calls_.at(call).open;
  for (const std::string& machine : machines)
    later(call, random.between(milliseconds(10), seconds(3)),
          [this, call, machine] { work(call, node_named(cluster_, machine)); });
  if (!random.chance(cluster_.weather.provider_crashes)) return;
  cluster_.world.count("fault:provider_crashes");
  const bool hangs = random.chance(0.3);
  later(call, hangs ? seconds(30) : random.between(milliseconds(1), seconds(4)),
        [this, call, hangs] { end(call, hangs ? MachineFault::timed_out : MachineFault::failed); });
}

void Provider::work(std::uint64_t call, Node& node) {
  cluster_.launcher.deliver(launcher::ProviderEventInput{
      call, {launcher::ProviderEvent::Kind::step, node.name(), "connect"}});
  if (!node.up || node.partitioned) return fail(call, node, MachineFault::unreachable);
  if (cluster_.world.random.chance(cluster_.weather.provider_fails)) {
    cluster_.world.count("fault:provider_fails");
    return fail(call, node, MachineFault::no_space);
  }
  if (calls_.at(call).asked.verb == launcher::ProviderVerb::create) return create(call, node);
  cluster_.oracle.machine_removed(node.name());
  node.uninstall();
  finish(call, node, {launcher::ProviderEvent::Kind::absent, node.name()});
}

void Provider::create(std::uint64_t call, Node& node) {
  if (node.id.value == 0)
    cluster_.workload.join_machine(node, secret(call, node.name()));
  else if (!node.agent || node.agent->dead())
    node.start_agent();
  await_join(call, node, cluster_.world.now + seconds(20));
}

void Provider::await_join(std::uint64_t call, Node& node, Instant until) {
  if (node.id.value != 0)
    return finish(call, node, {launcher::ProviderEvent::Kind::running, node.name()});
  if (cluster_.world.now >= until)
    return fail(call, node, MachineFault::launcher_unreachable, "join");
  later(call, milliseconds(200), [this, call, &node, until] { await_join(call, node, until); });
}

void Provider::fail(std::uint64_t call, Node& node, MachineFault fault, const std::string& step) {
  finish(call, node,
         {launcher::ProviderEvent::Kind::error, node.name(), step, fault, ProviderSaid{"a fault"}});
}

void Provider::finish(std::uint64_t call, Node& node, launcher::ProviderEvent event) {
  cluster_.world.trace("provider: call {} about n{}: {}", call, node.index,
                       static_cast<int>(event.kind));
  cluster_.launcher.deliver(launcher::ProviderEventInput{call, std::move(event)});
  Call& known = calls_.at(call);
  known.open.erase(node.name());
  if (known.open.empty()) end(call, MachineFault::failed);
}

void Provider::end(std::uint64_t call, MachineFault fault) {
  calls_.erase(call);
  cluster_.launcher.deliver(launcher::ProviderEndedInput{call, fault, told("the provider ended")});
}

}  // namespace lockstep::sim
