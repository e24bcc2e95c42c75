// Labels of machines: they stay with a host that is detached, and those of a target's file are its
// nodes'.

#include "tests/unit/launcher/core/machines/elastic_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Labels : public Elastic {
 protected:
  std::string label(const LabelNode& ask) {
    launcher.send(LabelInput{launcher.next_reply(), ask, UserCaller{"root"}});
    const std::string said = launcher.expect_one<ReplyDone>().message;
    drop_notices();
    return said;
  }
  NodeLabels labels(const std::string& node) { return launcher.core->node_view(node)->labels; }
  void detach_host(const std::string& name) {
    ask(DetachHosts{"lab", {name}, false});
    launcher.take<ReplyCompute>();
    drop_notices();
    for (const CallProvider& call : take_waiting()) {
      if (call.verb != ProviderVerb::remove) continue;
      absent(call, name);
      ends(call);
    }
  }
  // A target with one host, whose node joins.
  void create_with_vm1() {
    create({"vm1"});
    stash();
    drop_notices();
    for (const CallProvider& call : calls()) {
      launcher.join_with(secret("vm1"), "vm1", inventory());
      drop_notices();
      running(call, "vm1");
      ends(call);
    }
  }
  // Its agent is a new one, with a key of its own, and so another node.
  void attach_host(const std::string& name, const std::string& node_name) {
    ask(AttachHosts{"lab", {host(name)}});
    launcher.take<ReplyCompute>();
    stash();
    drop_notices();
    for (const CallProvider& call : calls()) {
      if (call.verb != ProviderVerb::create) continue;
      launcher.join_with(secret(name), node_name, inventory());
      drop_notices();
      running(call, name);
      ends(call);
      drop_notices();
    }
  }
};

TEST_F(Labels, OfAHostStayWhenItIsDetachedAndAttachedAgain) {
  create_with_vm1();
  EXPECT_EQ(label({"vm1", {{"rack", "7"}}, {}}), "node vm1 has the labels rack=7");
  detach_host("vm1");
  ASSERT_FALSE(launcher.core->node_view("vm1").has_value());
  attach_host("vm1", "vm1-again");
  ASSERT_TRUE(launcher.core->node_view("vm1-again").has_value());
  EXPECT_EQ(labels("vm1-again"), (NodeLabels{{"rack", "7"}}));
  EXPECT_EQ(label({"vm1-again", {}, {"rack"}}), "node vm1-again has no labels");
  detach_host("vm1");
  attach_host("vm1", "vm1-later");
  EXPECT_EQ(labels("vm1-later"), NodeLabels{}) << "what was removed stays removed";
}

TEST_F(Labels, OfATargetsFileAreNotAskedForInVain) {
  create_with_vm1();
  ComputeSpec spec = launcher.core->state().computes().find("lab")->spec;
  spec.labels = {{"rack", "7"}};
  ask(UpdateCompute{spec});
  launcher.take<ReplyCompute>();
  drop_notices();
  JobSpec wanted = job_spec("big");
  wanted.compute = "lab";
  wanted.resources.labels = {{"rack", "7"}};
  wanted.resources.gpus = 4;
  const JobId job = launcher.submit(wanted);
  drop_notices();
  EXPECT_THAT(why_it_waits(job),
              HasSubstr("leave out --gpus (lockstep.resources.gpus in a job file), or join"));
}

TEST_F(Labels, OfAHostThatIsNotAttachedMakeItTheNextMachine) {
  ComputeSpec spec;
  spec.name = "lab";
  spec.type = ComputeType::amlcompute;
  spec.source = NodeSource::ssh;
  spec.scale = {Tier::dedicated, 0, 2, seconds(10)};
  for (const char* name : {"vm1", "vm2", "vm3"}) spec.hosts.push_back(host(name));
  make(spec);
  JobSpec first = job_spec("first");
  first.compute = "lab";
  first.resources.nodes = {"vm3"};
  const JobId job = launcher.submit(first);
  drop_notices();
  const CallProvider attaches = only_call();
  EXPECT_THAT(attaches.machines, ElementsAre("vm3")) << "the job names it";
  std::vector<FakeNode> nodes = all_join(attaches);
  label({"vm3", {{"rack", "7"}}, {}});
  launcher.finished(nodes[0], attempt(job), node_exit({rank_exit(0)}));
  drop_notices();
  pass(seconds(15), nodes);
  const CallProvider removal = only_call();
  ASSERT_EQ(removal.verb, ProviderVerb::remove);
  absent(removal, "vm3");
  ends(removal);
  ASSERT_FALSE(launcher.core->node_view("vm3").has_value());
  std::vector<JobId> jobs;
  for (const char* name : {"second", "third"}) {
    JobSpec wanted = job_spec(name);
    wanted.compute = "lab";
    wanted.resources.labels = {{"rack", "7"}};
    jobs.push_back(launcher.submit(wanted));
    drop_notices();
  }
  const CallProvider again = only_call();
  EXPECT_THAT(again.machines, ElementsAre("vm3")) << "no other host helps them";
  launcher.join_with(secret("vm3"), "vm3-again", inventory());
  drop_notices();
  running(again, "vm3");
  ends(again);
  EXPECT_EQ(launcher.status(jobs[0]), JobStatus::preparing);
  EXPECT_EQ(launcher.status(jobs[1]), JobStatus::queued);
  EXPECT_TRUE(calls().empty());
}

TEST_F(Labels, OfATargetsFileAreThoseOfMachinesThatItMakes) {
  ComputeSpec spec;
  spec.name = "lab";
  spec.type = ComputeType::amlcompute;
  spec.source = NodeSource::docker;
  spec.settings["image"] = {"debian:12"};
  spec.scale = {Tier::dedicated, 0, 2, seconds(120)};
  spec.labels = {{"disk", "ssd"}};
  make(spec);
  JobSpec wanted = job_spec("fast");
  wanted.compute = "lab";
  wanted.resources.labels = {{"disk", "ssd"}};
  JobSpec other = job_spec("other");
  other.compute = "lab";
  other.resources.labels = {{"disk", "tape"}};
  const JobId tape = launcher.submit(other);
  drop_notices();
  EXPECT_TRUE(calls().empty()) << "no machine of the target will have that label";
  const JobId fast = launcher.submit(wanted);
  drop_notices();
  const auto nodes = all_join(only_call());
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(labels("lab-1"), (NodeLabels{{"disk", "ssd"}}));
  EXPECT_EQ(launcher.status(fast), JobStatus::preparing);
  EXPECT_EQ(launcher.status(tape), JobStatus::queued);
  // A node's own value counts before its target's.
  EXPECT_EQ(label({"lab-1", {{"disk", "tape"}}, {}}), "node lab-1 has the labels disk=tape");
  EXPECT_THAT(label({"lab-1", {}, {"disk"}}),
              HasSubstr("disk is a label of all nodes of target 'lab'"));
  spec.labels = {{"disk", "hdd"}};
  ask(UpdateCompute{spec});
  launcher.take<ReplyCompute>();
  drop_notices();
  EXPECT_EQ(labels("lab-1"), (NodeLabels{{"disk", "hdd"}}));
}

}  // namespace
}  // namespace lockstep::launcher
