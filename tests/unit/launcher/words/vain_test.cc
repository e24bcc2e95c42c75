#include "launcher/words/jobs/say_vain.h"

#include <gtest/gtest.h>

#include "common/domain/why/jobs/vain.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

NodesAsked asking_for(int count) {
  NodesAsked asked;
  asked.nodes = count;
  return asked;
}

NodesNeverFit never(NodesLack lack) {
  NodesNeverFit reason;
  reason.target = "lab";
  reason.wanted = 3;
  reason.lack = lack;
  return reason;
}

const std::string kOrJoin = ", or join nodes that have it: `lockstep node token --compute lab`";

std::string remedy_of(const NodesNeverFit& reason) {
  const std::string text = text_of(reason), before = "; to change that, ";
  return text.substr(text.find(before) + before.size());
}

std::string remedy_of(ShortOf short_of, bool is_local = false) {
  NodesNeverFit reason = never(NodesLack::amounts);
  reason.short_of = std::move(short_of);
  reason.is_local = is_local;
  return remedy_of(reason);
}

TEST(VainWords, WhoCanTakeIt) {
  NodesNeverFit reason = never(NodesLack::number);
  EXPECT_EQ(text_of(reason),
            "no node of target 'lab' can ever take it; to change that, join nodes that have it: "
            "`lockstep node token --compute lab`");
  reason.fitting = 1;
  EXPECT_EQ(text_of(reason),
            "only 1 node of target 'lab' can ever take it; to change that, ask for at most 1 node "
            "(-N; resources.instance_count in a job file), or join nodes that have it: `lockstep "
            "node token --compute lab`");
  reason.is_local = true;
  reason.target = "local";
  reason.example = NodePassedOver{"n1", NodeHasFewer{NodeAmount::gpus, 0, 4}};
  EXPECT_EQ(text_of(NeedsWhatNoNodeHas{asking_for(3), reason}),
            "needs 3 nodes, but only 1 node of target 'local' can ever take it (n1 has 0 gpus, 4 "
            "asked for); to change that, ask for at most 1 node (-N; resources.instance_count in a "
            "job file), or start more nodes with `lockstep up --nodes 3`");
}

TEST(VainWords, WhatHelpsForEachThingThatIsMissing) {
  NodesNeverFit label = never(NodesLack::label);
  label.labels = {{"rack", "a"}};
  EXPECT_EQ(remedy_of(label), "give a node the label: `lockstep node label NODE rack=a`" + kOrJoin);
  EXPECT_EQ(remedy_of(never(NodesLack::engine)),
            "install docker or podman on its nodes and restart their lockstep-agent" + kOrJoin);
  EXPECT_EQ(remedy_of(never(NodesLack::rdma)),
            "leave out --rdma (lockstep.rdma in a job file)" + kOrJoin);
  NodesNeverFit shared = never(NodesLack::isolation);
  EXPECT_EQ(remedy_of(shared), "leave out --isolated (lockstep.isolated in a job file)" + kOrJoin);
  shared.is_local = true;
  EXPECT_EQ(remedy_of(shared),
            "leave out --isolated (lockstep.isolated in a job file), or start one node alone with "
            "`lockstep up --nodes 1`");
  NodesNeverFit account = never(NodesLack::account);
  account.account = "ada";
  EXPECT_EQ(remedy_of(account),
            "create the account ada on a node and restart that node's lockstep-agent");
}

TEST(VainWords, WhichAmountsAreTooMuch) {
  ShortOf cpus;
  cpus.amounts = {AskedAmount::cpus};
  EXPECT_EQ(remedy_of(cpus, true), "ask for less (--cpus; lockstep.resources.cpus in a job file)");
  ShortOf several;
  several.amounts = {AskedAmount::cpus, AskedAmount::gpus, AskedAmount::pids};
  EXPECT_EQ(remedy_of(several),
            "ask for less (--cpus, --gpus, --pids-limit; lockstep.resources and lockstep.limits in "
            "a job file)" +
                kOrJoin);
  ShortOf gpus;
  gpus.amounts = {AskedAmount::gpus};
  gpus.no_gpus = true;
  gpus.node_without_gpu = "n1";
  EXPECT_EQ(remedy_of(gpus, true),
            "leave out --gpus (lockstep.resources.gpus in a job file); if n1 has gpus, Lockstep "
            "does not see them: run `nvidia-smi` there, then `lockstep down` and `lockstep up`");
  ShortOf one_each;
  one_each.gpu_for_each_rank = true;
  EXPECT_EQ(remedy_of(one_each, true),
            "leave out lockstep.gpus_per_rank, or ask for fewer ranks on each node (-n; "
            "distribution.process_count_per_instance in a job file)");
  ShortOf limits;
  limits.limits = true;
  EXPECT_EQ(remedy_of(limits, true),
            "leave out --require-limits (lockstep.limits.enforcement in a job file)");
}

TEST(VainWords, WhatIsToldOfASubmission) {
  const Why vain = NobodyJoins{"lab"};
  const std::string needs =
      " waits in vain: it needs 2 nodes, and target 'lab' has no nodes; to change that, join some: "
      "`lockstep node token --compute lab`";
  EXPECT_EQ(text_of(JobWaitsInVain{asking_for(2), vain, "", ""}), "the job" + needs);
  EXPECT_EQ(text_of(JobWaitsInVain{asking_for(2), vain, "train", ""}), "step 'train'" + needs);
  EXPECT_EQ(text_of(JobWaitsInVain{asking_for(2), vain, "", "3"}), "task 3" + needs);
  EXPECT_EQ(
      text_of(NodesLackEngine{1, 2, 2, "local"}).substr(0, 85),
      "needs a container engine on a node, but 2 of the 2 nodes of target 'local' have none:");
}

}  // namespace
}  // namespace lockstep::words
