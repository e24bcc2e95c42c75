#pragma once
// A launcher whose target "lab" has machines that it makes itself; the test plays the provider.

#include "tests/unit/launcher/core/machines/machine_fixture.h"

namespace lockstep::launcher {

class Elastic : public Machines {
 protected:
  Elastic() = default;
  explicit Elastic(CoreConfig config) : Machines(std::move(config)) {}

  // Made, and its provider listed nothing under our tag.
  void make(const ComputeSpec& spec) {
    // Later, each new user would be made known to the machines.
    launcher.send(
        PrincipalInput{{}, AddUser{"alice", "", {}, {Role::admin, ""}}, LauncherItself{}});
    launcher.take<ReplyDone>();
    create_target(spec);
    const auto calls = launcher.take<CallProvider>();
    for (const CallProvider& call : calls) {
      if (call.verb == ProviderVerb::list)
        ends(call);
      else
        waiting_.push_back(call);
    }
  }
  // The calls that are due, with tokens.
  std::vector<CallProvider> calls() {
    stash();
    const std::vector<CallProvider> all = take_waiting();
    for (const CallProvider& call : all) {
      if (call.verb != ProviderVerb::create) continue;
      ProviderTokensInput tokens{call.call, {}, launcher.now + minutes(60)};
      for (const std::string& name : call.machines) tokens.secret_hashes[name] = secret(name);
      launcher.send(tokens);
      launcher.expect_one<StartProvider>();
    }
    return all;
  }
  std::vector<CallProvider> take_waiting() { return std::exchange(waiting_, {}); }
  // The provider lists nothing.
  void end_lists() {
    for (CallProvider& call : take_waiting())
      if (call.verb == ProviderVerb::list)
        ends(call);
      else
        waiting_.push_back(std::move(call));
  }
  bool has_calls() const { return !waiting_.empty(); }
  // Calls that became due; a test looks at them later.
  void stash() {
    for (CallProvider& call : launcher.take<CallProvider>()) waiting_.push_back(std::move(call));
  }
  void drop_notices() {
    stash();
    launcher.take<RevokeNode>();
    launcher.take<ForgetCompute>();
    launcher.drop_notices();
  }
  // As the fixture's, and what follows is kept for later.
  template <typename... Words>
  void say(Words&&... words) {
    Machines::say(std::forward<Words>(words)...);
    drop_notices();
  }
  template <typename... Words>
  void running(Words&&... words) {
    Machines::running(std::forward<Words>(words)...);
    drop_notices();
  }
  template <typename... Words>
  void absent(Words&&... words) {
    Machines::absent(std::forward<Words>(words)...);
    drop_notices();
  }
  template <typename... Words>
  void fails(Words&&... words) {
    Machines::fails(std::forward<Words>(words)...);
    drop_notices();
  }
  void ends(const CallProvider& call) {
    Machines::ends(call);
    drop_notices();
  }
  CallProvider only_call() {
    const auto all = calls();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? CallProvider{} : all.front();
  }
  // Every machine of the call joins.
  std::vector<FakeNode> all_join(const CallProvider& call) {
    std::vector<FakeNode> nodes;
    for (const std::string& name : call.machines) {
      nodes.push_back(launcher.join_with(secret(name), name, inventory()));
      drop_notices();
      running(call, name);
    }
    ends(call);
    drop_notices();
    return nodes;
  }
  JobId submit_gang(const std::string& name, int nodes) {
    JobSpec spec = job_spec(name, nodes);
    spec.compute = "lab";
    const JobId job = launcher.submit(spec);
    drop_notices();
    return job;
  }
  std::string why_it_waits(const JobId& job) { return launcher.view(job).reason; }
  // Time passes with all nodes alive.
  void pass(Duration time, std::vector<FakeNode>& nodes) {
    std::vector<FakeNode*> alive;
    for (FakeNode& node : nodes) alive.push_back(&node);
    for (Duration done{0}; done < time; done += seconds(1)) {
      for (FakeNode* node : alive) launcher.beat(*node);
      launcher.tick(seconds(1));
      drop_notices();
    }
  }

 private:
  std::vector<CallProvider> waiting_;
};

}  // namespace lockstep::launcher
