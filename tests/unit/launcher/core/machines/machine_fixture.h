#pragma once
// A launcher whose target "lab" has machines that a provider makes; the test plays the provider.

#include "common/domain/why/nodes/providers.h"
#include "launcher/core/machines/changes.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {

inline SshHost host(const std::string& name) {
  SshHost made;
  made.name = made.address = name;
  return made;
}

class Machines : public testing::Test {
 protected:
  Machines() = default;
  explicit Machines(CoreConfig config) : launcher(std::move(config)) {}

  void ask(ComputeInput::Ask what) {
    launcher.send(ComputeInput{launcher.next_reply(), std::move(what), UserCaller{"root"}});
  }
  std::string refused(ComputeInput::Ask what) {
    ask(std::move(what));
    const auto refusals = launcher.take<ReplyRefused>();
    return refusals.empty() ? "granted" : refusals.front().message;
  }
  void create(const std::vector<std::string>& hosts) {
    ComputeSpec spec{"lab", ComputeType::virtualmachine, "", "", {}, NodeSource::ssh, {}};
    for (const std::string& name : hosts) spec.hosts.push_back(host(name));
    ask(CreateCompute{spec});
    launcher.expect_one<ReplyCompute>();
  }
  void create_target(const ComputeSpec& spec) {
    ask(CreateCompute{spec});
    launcher.expect_one<ReplyCompute>();
  }
  void attach(const std::string& name) {
    ask(AttachHosts{"lab", {host(name)}});
    launcher.expect_one<ReplyCompute>();
  }
  void detach(const std::string& name, bool force = false) {
    ask(DetachHosts{"lab", {name}, force});
    launcher.expect_one<ReplyCompute>();
    launcher.drop_notices();
  }
  // The one call that is due now; its tokens are made, if it needs any.
  CallProvider call() {
    const auto call = launcher.expect_one<CallProvider>();
    if (call.verb != ProviderVerb::create) return call;
    ProviderTokensInput tokens{call.call, {}, launcher.now + minutes(60)};
    for (const std::string& name : call.machines) tokens.secret_hashes[name] = secret(name);
    launcher.send(tokens);
    EXPECT_EQ(launcher.expect_one<StartProvider>().call, call.call);
    return call;
  }
  bool is_called() { return !launcher.take<CallProvider>().empty(); }
  Digest secret(const std::string& name) const { return sha256("secret of " + name); }

  void say(const CallProvider& call, ProviderEvent event) {
    launcher.send(ProviderEventInput{call.call, std::move(event)});
  }
  void running(const CallProvider& call, const std::string& name, bool is_held = false) {
    ProviderEvent runs{ProviderEvent::Kind::running, name};
    runs.is_held = is_held;
    say(call, std::move(runs));
  }
  void absent(const CallProvider& call, const std::string& name) {
    say(call, {ProviderEvent::Kind::absent, name});
  }
  void fails(const CallProvider& call, const std::string& name, MachineFault fault) {
    say(call, {ProviderEvent::Kind::error, name, "connect", fault, ProviderSaid{"no answer"}});
  }
  void ends(const CallProvider& call) {
    launcher.send(ProviderEndedInput{call.call, MachineFault::failed, ProviderSaidNothing{}});
  }
  FakeNode joined(const CallProvider& call, const std::string& name) {
    FakeNode node = launcher.join_with(secret(name), name, inventory());
    running(call, name);
    return node;
  }
  FakeNode attached(const std::string& name) {
    create({name});
    const CallProvider first = call();
    FakeNode node = joined(first, name);
    ends(first);
    launcher.drop_notices();
    return node;
  }
  JobId submit(const std::string& name) {
    JobSpec spec = job_spec(name);
    spec.compute = "lab";
    const JobId job = launcher.submit(spec);
    launcher.drop_notices();
    return job;
  }
  ComputeView view() const {
    const auto views = launcher.core->compute_views("lab", true);
    return views.empty() ? ComputeView{} : views.front();
  }
  MachineView machine(const std::string& name) const {
    for (const MachineView& one : view().machines)
      if (one.name == name) return one;
    return {};
  }

  TestLauncher launcher;
};

}  // namespace lockstep::launcher
