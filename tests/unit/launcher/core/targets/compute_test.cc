// Compute targets: which there are, whose nodes a job gets, and that no pool's queue holds up
// another.

#include "common/domain/targets/compute.h"

#include "launcher/core/base/compute_checks.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ComputeSpec own_pool(const std::string& name) {
  return {name, ComputeType::virtualmachine, "", "", {}, NodeSource::join, {}};
}
ComputeSpec alias(const std::string& name) {
  return {name, ComputeType::local, "", "", {}, NodeSource::none, {}};
}

class ComputeTargets : public testing::Test {
 protected:
  void ask(ComputeInput::Ask what, const std::string& by = "root") {
    launcher.send(ComputeInput{launcher.next_reply(), std::move(what), UserCaller{by}});
  }
  void create(ComputeSpec spec) {
    ask(CreateCompute{std::move(spec)});
    launcher.expect_one<ReplyCompute>();
  }
  std::string refused(ComputeInput::Ask what, const std::string& by = "root") {
    ask(std::move(what), by);
    const auto refusals = launcher.take<ReplyRefused>();
    return refusals.empty() ? "granted" : refusals.front().message;
  }
  void remove(const std::string& name) {
    ask(DeleteCompute{name});
    launcher.expect_one<ReplyDone>();
    EXPECT_EQ(launcher.expect_one<ForgetCompute>().target, name);
  }
  Digest token_of(const std::string& compute) {
    const Digest secret = sha256("token of " + compute);
    launcher.send(TokenInput{launcher.next_reply(), secret, launcher.now + minutes(60), 100,
                             UserCaller{"root"}, Approval::waived, compute});
    launcher.expect_one<ReplyDone>();
    return secret;
  }
  FakeNode join(const std::string& compute, const std::string& name) {
    return launcher.join_with(token_of(compute), name, inventory());
  }
  JobId submit(const std::string& name, const std::string& compute, int nodes = 1) {
    JobSpec spec = job_spec(name, nodes);
    spec.compute = compute;
    const JobId job = launcher.submit(spec);
    launcher.drop_notices();
    return job;
  }
  std::vector<NodeId> places(const JobId& job) const { return launcher.placed_on(attempt(job)); }
  ComputeView view(const std::string& name) const {
    const auto views = launcher.core->compute_views(name);
    return views.empty() ? ComputeView{} : views.front();
  }
  void end(FakeNode& node, const JobId& job) {
    launcher.run_solo(node, attempt(job), node_exit({rank_exit(0)}));
  }

  TestLauncher launcher;
};

TEST_F(ComputeTargets, LocalIsThereFromTheStart) {
  EXPECT_EQ(launcher.core->compute_views("").size(), 1U);
  EXPECT_EQ(view("local").pool, "local");
  EXPECT_THAT(refused(CreateCompute{own_pool("local")}), HasSubstr("target 'local' always exists"));
  EXPECT_THAT(refused(UpdateCompute{own_pool("local")}), HasSubstr("target 'local' always exists"));
  EXPECT_THAT(refused(DeleteCompute{"local"}), HasSubstr("target 'local' always exists"));
}

TEST_F(ComputeTargets, AnAliasHasTheNodesOfLocal) {
  const FakeNode n1 = launcher.join("n1");
  create(alias("cpu-cluster"));
  const JobId job = submit("train", "cpu-cluster");
  EXPECT_EQ(places(job), std::vector<NodeId>{n1.id});
  EXPECT_EQ(view("cpu-cluster").pool, "local");
  EXPECT_EQ(view("cpu-cluster").nodes, (ComputeView::Nodes{1, 0, 1, 0}));
  EXPECT_EQ(view("cpu-cluster").running_jobs, 1);
  EXPECT_EQ(view("local").running_jobs, 0) << "the job names the alias";
}

TEST_F(ComputeTargets, AnUnknownTargetIsRefusedWithTheNearestAndAWayOut) {
  create(own_pool("gpu-cluster"));
  JobSpec spec = job_spec("train");
  spec.compute = "gpu-clster";
  const Error error = launcher.submit_refused(spec);
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_EQ(
      error.message,
      "there is no compute target 'gpu-clster'; did you mean 'gpu-cluster'? Existing targets: "
      "local, gpu-cluster. `lockstep compute create --name gpu-clster --type local` makes "
      "'gpu-clster' another name of target local; or choose one with `compute:` in the file, "
      "--set compute=NAME, --compute NAME or `lockstep config set defaults.compute=NAME`");
  EXPECT_EQ(launcher.core->refusals(spec, LauncherItself{}).at(0).whole().message, error.message);
}

TEST_F(ComputeTargets, ANodeBelongsToTheTargetOfItsToken) {
  create(own_pool("gpu-cluster"));
  const FakeNode g1 = join("gpu-cluster", "g1");
  const FakeNode n1 = launcher.join("n1");
  const JobId there = submit("there", "gpu-cluster");
  const JobId here = submit("here", "local");
  EXPECT_EQ(places(there), std::vector<NodeId>{g1.id});
  EXPECT_EQ(places(here), std::vector<NodeId>{n1.id});
  EXPECT_EQ(launcher.core->node_view("g1")->compute, "gpu-cluster");
  EXPECT_EQ(launcher.core->node_view("n1")->compute, "local");
}

TEST_F(ComputeTargets, AGangNeverSpansPools) {
  create(own_pool("gpu-cluster"));
  join("gpu-cluster", "g1");
  launcher.join("n1");
  const JobId gang = submit("gang", "gpu-cluster", 2);
  EXPECT_EQ(launcher.status(gang), JobStatus::queued);
  EXPECT_THAT(launcher.view(gang).reason, HasSubstr("1 of the 1 nodes of target 'gpu-cluster'"));
  EXPECT_THAT(launcher.explain(gang).lines, Not(testing::Contains(HasSubstr("n1"))));
  const FakeNode g2 = join("gpu-cluster", "g2");
  launcher.drop_notices();
  EXPECT_EQ(places(gang).size(), 2U);
}

TEST_F(ComputeTargets, TheHeadOfOneQueueBlocksNoOtherPool) {
  create(own_pool("gpu-cluster"));
  FakeNode g1 = join("gpu-cluster", "g1");
  FakeNode n1 = launcher.join("n1");
  const JobId busy = submit("busy", "gpu-cluster");
  const JobId head = submit("head", "gpu-cluster");
  EXPECT_THAT(launcher.view(head).reason, HasSubstr("waits for 1 node"));
  const JobId other = submit("other", "");
  EXPECT_EQ(places(other), std::vector<NodeId>{n1.id});
  const JobId behind = submit("behind", "gpu-cluster");
  EXPECT_THAT(launcher.view(behind).reason, HasSubstr("behind job 'head'"));
  end(g1, busy);
  EXPECT_EQ(places(head), std::vector<NodeId>{g1.id});
  EXPECT_EQ(launcher.status(behind), JobStatus::queued);
}

TEST_F(ComputeTargets, AliasesShareOneQueueInOrderOfSubmission) {
  create(alias("one-name"));
  create(alias("another"));
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId first = submit("first", "one-name");
  const JobId wide = submit("wide", "another", 2);
  const JobId small = submit("small", "one-name");
  EXPECT_EQ(launcher.status(wide), JobStatus::queued);
  EXPECT_EQ(launcher.status(small), JobStatus::queued) << "else the gang would starve";
  end(n1, first);
  EXPECT_EQ(places(wide).size(), 2U);
}

TEST_F(ComputeTargets, ATargetWithoutNodesSaysHowToGetSome) {
  create(own_pool("empty"));
  const JobId job = submit("train", "empty");
  EXPECT_EQ(launcher.view(job).reason,
            "needs 1 node, but target 'empty' has no nodes; `lockstep node token --compute empty` "
            "makes a token with which nodes join it");
  EXPECT_FALSE(launcher.view(job).in_vain) << "they may be on their way";
  launcher.pass(minutes(3), {});
  const JobId late = submit("late", "empty");
  EXPECT_TRUE(launcher.view(late).in_vain);
  EXPECT_THAT(launcher.view(late).reason,
              HasSubstr("target 'empty' has no nodes; to change that, join some: `lockstep node "
                        "token --compute empty`"));
}

TEST_F(ComputeTargets, OnlyLocalHasAFixedNumberOfNodes) {
  CoreConfig config;
  config.fixed_nodes = 1;
  TestLauncher fixed(config);
  fixed.join("n1");
  fixed.send(ComputeInput{fixed.next_reply(), CreateCompute{own_pool("lab")}, UserCaller{"root"}});
  fixed.expect_one<ReplyCompute>();
  JobSpec spec = job_spec("gang", 2);
  EXPECT_THAT(fixed.submit_refused(spec).message, HasSubstr("only 1 node of target 'local'"));
  spec.compute = "lab";
  EXPECT_EQ(fixed.status(fixed.submit(spec)), JobStatus::queued);
  fixed.drop_notices();
}

TEST_F(ComputeTargets, TheSameAgainIsNoErrorAndAnotherOneIs) {
  create(own_pool("lab"));
  create(own_pool("lab"));
  EXPECT_EQ(launcher.facts<ComputeCreated>().size(), 1U);
  EXPECT_THAT(refused(CreateCompute{alias("lab")}), HasSubstr("lockstep compute update lab"));
}

TEST_F(ComputeTargets, AnUpdateChangesTextsAndNeverTheType) {
  create(own_pool("lab"));
  ComputeSpec spec = own_pool("lab");
  spec.description = "the room in the cellar";
  ask(UpdateCompute{spec});
  launcher.expect_one<ReplyCompute>();
  EXPECT_EQ(view("lab").spec, spec);
  EXPECT_THAT(refused(UpdateCompute{alias("lab")}), HasSubstr("neither its type nor"));
  EXPECT_THAT(refused(UpdateCompute{own_pool("lob")}), HasSubstr("did you mean 'lab'"));
}

TEST_F(ComputeTargets, ATargetIsDeletedOnlyWhenItHasNoJobsAndNoNodes) {
  create(own_pool("lab"));
  FakeNode n1 = join("lab", "n1");
  const JobId job = submit("train", "lab");
  EXPECT_THAT(refused(DeleteCompute{"lab"}), HasSubstr("has 1 job that has not ended"));
  end(n1, job);
  EXPECT_THAT(refused(DeleteCompute{"lab"}), HasSubstr("has 1 node; remove it first"));
  launcher.send(RemoveNodeInput{launcher.next_reply(), "n1", UserCaller{"root"}, true});
  launcher.take<RevokeNode>();
  launcher.expect_one<ReplyDone>();
  remove("lab");
  EXPECT_THAT(refused(DeleteCompute{"lab"}), HasSubstr("there is no compute target 'lab'"));
  EXPECT_EQ(launcher.core->compute_views("").size(), 1U);
}

TEST_F(ComputeTargets, AJobThatNamesARemovedNodeWaitsUntilItIsBack) {
  create(own_pool("lab"));
  FakeNode n1 = join("lab", "n1");
  FakeNode n2 = join("lab", "n2");
  launcher.send(DrainInput{launcher.next_reply(), "n1", true, "repair", UserCaller{"root"}});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  JobSpec spec = job_spec("picky");
  spec.compute = "lab";
  spec.resources.nodes = {"n1"};
  const JobId picky = launcher.submit(spec);
  launcher.drop_notices();
  EXPECT_THAT(launcher.view(picky).reason, HasSubstr("n1"));
  launcher.send(RemoveNodeInput{launcher.next_reply(), "n1", UserCaller{"root"}, true});
  launcher.take<RevokeNode>();
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(picky).reason,
            "needs 1 node of n1, but target 'lab' has no node n1 any more; the job goes on if it "
            "comes back, or cancel it and name other nodes");
  const JobId other = submit("other", "lab");
  EXPECT_EQ(places(other), std::vector{n2.id}) << "it holds up no other job";
  FakeNode again = n1;  // installed anew, so with another key
  again.key = PublicKey("another key");
  again.session = SessionId(777);
  const Digest token = token_of("lab");
  launcher.send(JoinInput{launcher.next_reply(), token, again.key, "n1"});
  again.id = launcher.expect_one<ReplyJoined>().node;
  launcher.expect_one<AllowNode>();
  launcher.drop_notices();
  launcher.open(again);
  launcher.drop_notices();
  EXPECT_EQ(places(picky), std::vector{again.id});
}

// ---- the provider is asked first ----------------------------------------------------------------

ComputeSpec containers(const std::string& image) {
  ComputeSpec spec{"lab", ComputeType::amlcompute, "", "", {}, NodeSource::docker, {}};
  spec.settings["image"] = {image};
  return spec;
}

class CheckedTargets : public ComputeTargets {
 protected:
  CheckProvider asks(ComputeInput::Ask what, const std::string& by = "root") {
    ask(std::move(what), by);
    EXPECT_TRUE(launcher.take<ReplyCompute>().empty());
    return launcher.expect_one<CheckProvider>();
  }
  void answer(const CheckProvider& check, const std::string& why_not = "") {
    launcher.send(ProviderCheckedInput{check.check, why_not});
    launcher.take<CallProvider>();  // `list` of the new target
  }
};

TEST_F(CheckedTargets, ATargetIsThereWhenTheProviderHasAgreed) {
  const CheckProvider check = asks(CreateCompute{containers("a"), true});
  EXPECT_EQ(check.spec, containers("a"));
  EXPECT_EQ(launcher.core->compute_views("").size(), 1U);
  answer(check);
  launcher.expect_one<ReplyCompute>();
  EXPECT_EQ(view("lab").spec, containers("a"));
}

TEST_F(CheckedTargets, WhatTheProviderSaysIsTheRefusal) {
  answer(asks(CreateCompute{containers("a"), true}), "there is no image a");
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().message,
            "there is no image a. Nothing was changed; --no-check accepts the settings unchecked");
  EXPECT_EQ(launcher.core->compute_views("").size(), 1U);
}

TEST_F(CheckedTargets, OnlyAChangeThatTheProviderSeesIsChecked) {
  create(containers("a"));
  launcher.take<CallProvider>();
  ComputeSpec spec = containers("a");
  spec.scale.max_instances = 7;
  ask(UpdateCompute{spec, false, true});
  launcher.expect_one<ReplyCompute>();
  spec.settings["image"] = {"b"};
  answer(asks(UpdateCompute{spec, false, true}), "no");
  launcher.expect_one<ReplyRefused>();
  EXPECT_EQ(view("lab").spec.settings.at("image").front(), "a");
  answer(asks(UpdateCompute{spec, false, true}));
  launcher.expect_one<ReplyCompute>();
  EXPECT_EQ(view("lab").spec, spec);
}

TEST_F(CheckedTargets, ARepeatedRequestWaitsForTheSameCheck) {
  const CheckProvider check = asks(CreateCompute{containers("a"), true});
  ask(CreateCompute{containers("a"), true});
  EXPECT_TRUE(launcher.take<CheckProvider>().empty());
  answer(check);
  EXPECT_EQ(launcher.take<ReplyCompute>().size(), 2U);
  answer(check, "too late");
}

TEST_F(CheckedTargets, OnlySoManyProvidersAreAskedAtOnce) {
  for (std::size_t i = 0; i < ComputeChecks::kMost; ++i)
    asks(CreateCompute{containers("a" + std::to_string(i)), true});
  EXPECT_THAT(refused(CreateCompute{containers("b"), true}), HasSubstr("8 other targets"));
  EXPECT_TRUE(launcher.take<CheckProvider>().empty());
}

TEST_F(CheckedTargets, WhoIsNoAdminAnyMoreIsRefused) {
  launcher.send(PrincipalInput{{}, AddUser{"ann", "", {}, {Role::admin, ""}}, LauncherItself{}});
  launcher.take<ReplyDone>();
  const CheckProvider check = asks(CreateCompute{containers("a"), true}, "ann");
  launcher.send(PrincipalInput{{}, RemoveUser{"ann"}, LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.take<RevokeUser>();
  launcher.take<UserChanged>();
  launcher.take<ReadersChanged>();
  answer(check);
  EXPECT_TRUE(launcher.take<ReplyCompute>().empty());
  launcher.expect_one<ReplyRefused>();
}

TEST_F(ComputeTargets, ATokenDoesNotOutliveItsTarget) {
  create(own_pool("lab"));
  const Digest token = token_of("lab");
  remove("lab");
  create(own_pool("lab"));
  launcher.send(JoinInput{launcher.next_reply(), token, PublicKey("k"), "n1"});
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("not known"));
}

TEST_F(ComputeTargets, ATokenForATargetThatIsNotThereIsRefused) {
  launcher.send(TokenInput{launcher.next_reply(), sha256("x"), launcher.now + minutes(1), 1,
                           UserCaller{"root"}, Approval::waived, "lab"});
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("no compute target 'lab'"));
}

TEST_F(ComputeTargets, BadNamesAndTextsAreRefused) {
  for (const char* name : {"", "ab", "1abc", "a_b", "a b", "abcdefghijklmnopqrstuvwxy", "é-cluster",
                           "../../etc", "a\nb"})
    EXPECT_THAT(refused(CreateCompute{own_pool(name)}), HasSubstr("3 to 24 letters")) << name;
  ComputeSpec spec = own_pool("lab");
  spec.description = std::string(5'000, 'x');
  EXPECT_THAT(refused(CreateCompute{spec}), HasSubstr("description has 5000 bytes"));
  spec.description.clear();
  for (int i = 0; i < 51; ++i) spec.tags["t" + std::to_string(i)] = "v";
  EXPECT_THAT(refused(CreateCompute{spec}), HasSubstr("51 tags"));
}

TEST_F(ComputeTargets, OnlyAdminsChangeThem) {
  launcher.send(PrincipalInput{
      {}, AddUser{"sam", "sam", {}, {Role::submitter, "default"}}, LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.send(
      PrincipalInput{{}, AddUser{"olga", "", {}, {Role::operator_, ""}}, LauncherItself{}});
  launcher.take<ReplyDone>();
  for (const char* user : {"sam", "olga"}) {
    EXPECT_THAT(refused(CreateCompute{alias("mine")}, user), HasSubstr("needs the role admin"));
    EXPECT_THAT(refused(DeleteCompute{"local"}, user), HasSubstr("needs the role admin"));
  }
  launcher.take<AllowUser>();
}

TEST_F(ComputeTargets, PoolsAndQueuesAreTheSameAfterARestart) {
  create(own_pool("lab"));
  FakeNode g1 = join("lab", "g1");
  FakeNode n1 = launcher.join("n1");
  const JobId running = submit("running", "lab");
  const JobId waits = submit("waits", "lab");
  launcher.restart();
  launcher.open(g1, {report(attempt(running), PartState::staging)});
  launcher.drop_notices();
  launcher.open(n1);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(waits), JobStatus::queued);
  EXPECT_EQ(places(submit("here", "local")), std::vector<NodeId>{n1.id});
}

TEST_F(ComputeTargets, AQuotaSpansAllPoolsAndWakesAllQueues) {
  create(own_pool("lab"));
  const FakeNode g1 = join("lab", "g1");
  FakeNode n1 = launcher.join("n1");
  launcher.send(PrincipalInput{
      launcher.next_reply(),
      SetQuota{{QuotaHolder::Kind::project, "default"}, {{QuotaLimit::running_jobs, 1}}, {}},
      UserCaller{"root"}});
  launcher.expect_one<ReplyDone>();
  const JobId here = submit("here", "local");
  const JobId there = submit("there", "lab");
  EXPECT_EQ(launcher.view(there).reason, "waits: project 'default' has 1 of 1 running jobs");
  end(n1, here);
  EXPECT_EQ(places(there), std::vector<NodeId>{g1.id});
}

}  // namespace
}  // namespace lockstep::launcher
