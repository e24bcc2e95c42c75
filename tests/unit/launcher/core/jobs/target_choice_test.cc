// The target of a job that names none.

#include "common/domain/why/nodes/placement.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TargetChoiceTest : public testing::Test {
 protected:
  void create(const std::string& name, ComputeType type = ComputeType::virtualmachine) {
    ComputeSpec spec;
    spec.name = name;
    spec.type = type;
    spec.source = type == ComputeType::local ? NodeSource::none : NodeSource::join;
    launcher.send(ComputeInput{launcher.next_reply(), CreateCompute{spec}, UserCaller{"root"}});
    launcher.expect_one<ReplyCompute>();
  }
  FakeNode join(const std::string& compute, const std::string& name, int cpus = 4, int gpus = 0) {
    const Digest secret = sha256("token of " + compute);
    launcher.send(TokenInput{launcher.next_reply(), secret, launcher.now + minutes(60), 100,
                             UserCaller{"root"}, Approval::waived, compute});
    launcher.expect_one<ReplyDone>();
    return launcher.join_with(secret, name, inventory(cpus, gibibytes(8), gpus));
  }
  // The target, and what the person is told.
  std::string submit(JobSpec spec) {
    const ReplyTo to = launcher.next_reply();
    launcher.send(SubmitInput{to, "s" + std::to_string(to.request), std::move(spec), "generated"});
    const auto reply = launcher.expect_one<ReplySubmitted>();
    launcher.drop_notices();
    notes = reply.notes;
    return launcher.view(reply.job).spec.compute;
  }
  JobSpec asking(int cpus, int gpus = 0) {
    JobSpec spec = job_spec("job" + std::to_string(++jobs));
    spec.resources.cpus = cpus;
    spec.resources.memory = gibibytes(1);
    spec.resources.gpus = gpus;
    return spec;
  }

  TestLauncher launcher;
  std::vector<Why> notes;
  int jobs = 0;
};

TEST_F(TargetChoiceTest, NothingIsChosenWhereLocalIsAlone) {
  join("local", "n1");
  create("laptop", ComputeType::local);
  EXPECT_EQ(submit(asking(1)), "");
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(TargetChoiceTest, AnyOtherTargetThatIsFreeComesBeforeLocal) {
  join("local", "n1", 2);
  create("lab");
  join("lab", "n2", 4);
  JobSpec spec = asking(1);
  spec.compute_why = told("a client said so");
  EXPECT_EQ(submit(spec), "lab");
  EXPECT_THAT(notes, ElementsAre(Why(TargetWasChosen{{"lab"}, {{"local"}}})));
  EXPECT_EQ(launcher.explain(JobId("job1")).lines.front(), words::text_of(notes.front()));
  JobSpec named = asking(1);
  named.compute = "local";
  named.compute_why = told("a client said so");
  EXPECT_EQ(submit(named), "local");
  EXPECT_EQ(launcher.view(JobId("job2")).spec.compute_why, Why());
}

TEST_F(TargetChoiceTest, WhatIsFreeNowComesFirst) {
  join("local", "n1");
  create("lab");
  join("lab", "n2");
  JobSpec busy = asking(4);
  busy.compute = "lab";
  submit(busy);
  EXPECT_EQ(submit(asking(2)), "local");
  EXPECT_THAT(notes, ElementsAre(Why(TargetWasChosen{{"local"}, {{"lab", TargetIs::busy}}})));
}

TEST_F(TargetChoiceTest, TheLeastIsLeftOverAndGpusCountMost) {
  create("big");
  join("big", "n1", 64);
  create("gpu");
  join("gpu", "n2", 4, 8);
  create("small");
  join("small", "n3", 8);
  EXPECT_EQ(submit(asking(2)), "small");
  EXPECT_EQ(submit(asking(16)), "big");
  EXPECT_EQ(submit(asking(2, 1)), "gpu");
}

TEST_F(TargetChoiceTest, WhereNothingFitsTheJobWaitsInLocal) {
  create("lab");
  join("lab", "n2");
  EXPECT_EQ(submit(asking(100)), "");
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(TargetChoiceTest, NamedNodesDecide) {
  join("local", "n1");
  create("lab");
  join("lab", "n2");
  JobSpec spec = asking(1);
  spec.resources.nodes = {"n1"};
  EXPECT_EQ(submit(spec), "local");
  spec = asking(1);
  spec.compute = "lab";
  spec.resources.nodes = {"n1"};
  EXPECT_EQ(launcher.submit_refused(spec).message,
            "lockstep.nodes: node n1 belongs to target 'local', but the job runs on target 'lab'; "
            "name the node's target with `compute: local` or --compute local");
}

TEST_F(TargetChoiceTest, TheChoiceStaysOverARestart) {
  create("lab");
  join("lab", "n2");
  EXPECT_EQ(submit(asking(1)), "lab");
  launcher.restart();
  EXPECT_EQ(launcher.view(JobId("job1")).spec.compute, "lab");
}

TEST_F(TargetChoiceTest, AnInstanceTypeIsNotUsedWhereTheTargetHasNoSize) {
  join("local", "n1");
  JobSpec spec = asking(1);
  spec.resources.instance_type = "Standard_NC24rs_v3";
  EXPECT_EQ(submit(spec), "");
  EXPECT_THAT(notes, ElementsAre(Why(InstanceTypeNotUsed{"Standard_NC24rs_v3", "local", ""})));
}

}  // namespace
}  // namespace lockstep::launcher
