// What the golden files do not show: each form of a sentence about limits, settings, core files and
// RDMA.

#include "launcher/words/ranks/say_notes.h"

#include <gmock/gmock.h>

#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/rdma.h"
#include "launcher/words/ranks/say_rdma.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(NoteWords, ProcessesThatWereRefused) {
  EXPECT_EQ(say(ForksRefused{3, 512, 4'096, false, 0}),
            "rank 3 was refused 512 processes or threads: its limit is 4,096 (--pids-limit; "
            "lockstep.limits.pids in a job file)");
  EXPECT_EQ(say(ForksRefused{3, 512, 28'672, true, 0}),
            "rank 3 was refused 512 processes or threads: all jobs of this node together may have "
            "28,672");
  EXPECT_THAT(say(ForksRefused{0, 8, 4'096, false, 2}), EndsWith("; so were 2 other ranks"));
  EXPECT_EQ(say(ForksRefusedInContainer{1, 8'208}),
            "the ranks were refused 1 process or thread: the limit of their container is 8,208 "
            "(--pids-limit; lockstep.limits.pids in a job file; for each of them)");
}

TEST(NoteWords, LogsThatAreCut) {
  EXPECT_THAT(say(LogsAreCut{gibibytes(3), 2, 1, gibibytes(1)}),
              StartsWith("3.0 GiB of the output of rank 2 are not kept: "));
  EXPECT_EQ(say(LogsAreCut{gibibytes(3), 2, 2, gibibytes(1)}),
            "3.0 GiB of the output of 2 ranks (the first is 2) are not kept: the limit of a job's "
            "logs on this node is 1.0 GiB (--log-limit; lockstep.limits.log in a job file)");
}

TEST(NoteWords, AFolderThatDiffers) {
  EXPECT_THAT(say(FolderDiffers{"/a", false, "it is taken"}),
              StartsWith("its folder is /a on this node, and another one on other nodes: "));
  EXPECT_THAT(say(FolderDiffers{"/a", true, "it is taken"}),
              HasSubstr("and another one in each attempt: "));
}

TEST(NoteWords, SettingsThatLookLikeAMistake) {
  const std::string of_job = "set by the job or its environment";
  SettingIsMistaken note{{"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"},
                         false,
                         true,
                         "eth0",
                         of_job,
                         "docker0 is down on this node and reaches no other node"};
  EXPECT_EQ(say(note),
            "GLOO_SOCKET_IFNAME and TP_SOCKET_IFNAME (set by the job or its environment): docker0 "
            "is down on this node and reaches no other node; leave them out, and the ranks use "
            "eth0");
  note.variables.pop_back();
  note.other_interface = "";
  EXPECT_EQ(say(note),
            "GLOO_SOCKET_IFNAME (set by the job or its environment): docker0 is down on this node "
            "and reaches no other node; leave it out");
  EXPECT_EQ(
      say(SettingIsMistaken{{"NCCL_IB_DISABLE"}, false, false, "", of_job, "NCCL uses no RDMA"}),
      "NCCL_IB_DISABLE (set by the job or its environment): NCCL uses no RDMA; leave it out, "
      "unless that is meant");
  EXPECT_EQ(
      say(SettingIsMistaken{{"memlock"}, true, false, "", "the hard limit", "too little for RDMA"}),
      "memlock (the hard limit): too little for RDMA");
}

TEST(NoteWords, WhereTheCoreFileIs) {
  EXPECT_EQ(say(NoCoreFile{3, CoreWasNotRead{seconds(40), true}}),
            "no core file of rank 3: it was not read within 40.0s");
  EXPECT_EQ(say(NoCoreFile{3, CoreWasNotRead{std::nullopt, true}}),
            "no core file of rank 3: there was no time to read it");
  EXPECT_EQ(say(NoCoreFile{3, CoreWasNotRead{std::nullopt, false}}),
            "no core file of rank 3: there was no time to look at it");
  EXPECT_THAT(say(CoresGoElsewhere{CoreTaker::program, "/usr/libexec/abrt", false}),
              HasSubstr("to /usr/libexec/abrt (kernel.core_pattern), which Lockstep cannot ask"));
  EXPECT_THAT(say(CoresGoElsewhere{CoreTaker::program, "/usr/libexec/abrt", true}),
              HasSubstr("which is outside of the container"));
  EXPECT_THAT(say(CoresGoElsewhere{CoreTaker::socket, "", false}), HasSubstr("to a socket"));
  EXPECT_THAT(say(CoresGoElsewhere{}), HasSubstr("kernel.core_pattern is empty"));
  EXPECT_THAT(say(CoreFileNotFound{3, true}), EndsWith("(kernel.core_pattern)"));
  EXPECT_THAT(say(CoreFileNotFound{3, false}), HasSubstr("the kernel wrote none"));
}

TEST(NoteWords, WhatANodeLacksForRdma) {
  EXPECT_EQ(say(RdmaIsLacking{RdmaLack::no_port, "", {}}), "this node has no RDMA device");
  EXPECT_EQ(say(RdmaIsLacking{RdmaLack::no_active_port, "mlx5_0:1 is DOWN", {}}),
            "this node has no active RDMA port (mlx5_0:1 is DOWN)");
  EXPECT_EQ(say(RdmaIsLacking{RdmaLack::no_partition, "mlx5_0:1", {}}),
            "this node's RDMA port (mlx5_0:1) is a full member of no partition (pkey), so other "
            "nodes cannot reach it");
  EXPECT_EQ(say(RdmaIsLacking{RdmaLack::no_gid, "rxe0:1 of eth1", {}}),
            "this node's RDMA port (rxe0:1 of eth1) has no GID of an IP address (RoCE v2): give "
            "its network interface one, and set it up");
  EXPECT_EQ(say(RdmaIsLacking{RdmaLack::locked_memory, "", mebibytes(8)}),
            "ranks of this node can lock only 8.0 MiB of memory: set LimitMEMLOCK=infinity for "
            "the agent's service, or memlock in /etc/security/limits.conf, and start the agent "
            "again");
  EXPECT_EQ(say(RdmaIsLacking{RdmaLack::wrong_gid, "NCCL_IB_GID_INDEX=3", {}}),
            "NCCL_IB_GID_INDEX=3 of the job is not the index of a GID of an active RDMA port here; "
            "leave it out, or choose one of `lockstep node show --fabric`");
}

TEST(NoteWords, WhyRanksTalkOverTcp) {
  RanksAvoidRdma why;
  why.cause = SocketsCause::no_device_files;
  why.library = "NCCL 2.23.4";
  why.in_container = true;
  EXPECT_EQ(say(why),
            "its ranks talk over TCP, not RDMA (NCCL 2.23.4): /dev/infiniband has no device that "
            "its container may open; see `lockstep environment log` for what the engine gives");
  why = {};
  why.library = "NCCL";
  why.cause = SocketsCause::disabled;
  why.of = "NCCL_IB_DISABLE=1";
  EXPECT_EQ(say(why),
            "its ranks talk over TCP, not RDMA (NCCL): NCCL_IB_DISABLE=1 of the job keeps it from "
            "RDMA; leave it out");
  why.by = SettingSource::operator_file;
  why.set_for = "fabric.yml:7";
  EXPECT_EQ(say(why),
            "its ranks talk over TCP, not RDMA (NCCL): NCCL_IB_DISABLE=1 keeps it from RDMA; the "
            "operator set it: fabric.yml:7");
  why.by = SettingSource::probe;
  why.set_for = "no port is in the gang's fabric";
  EXPECT_THAT(say(why), EndsWith("; Lockstep set it: no port is in the gang's fabric"));
  why = {};
  why.library = "NCCL";
  why.cause = SocketsCause::no_plugin;
  why.of = "libnccl-net-ofi.so";
  EXPECT_EQ(say(why),
            "its ranks talk over TCP, not RDMA (NCCL): the network plugin libnccl-net-ofi.so of "
            "NCCL_NET_PLUGIN is not there");
  why.has_failed = true;
  EXPECT_THAT(say(why), StartsWith("RDMA failed (NCCL): "));
  why = {};
  why.cause = SocketsCause::not_opened;
  why.library = "MPI";
  EXPECT_EQ(say(why), "its ranks talk over TCP, not RDMA (MPI): the ranks opened no RDMA device");
}

TEST(NoteWords, AJobThatWantsRdma) {
  const RdmaIsLacking lacking{RdmaLack::no_port, "", {}};
  EXPECT_EQ(say(RdmaIsNotUsed{Rdma::preferred, lacking, true}),
            "RDMA is preferred, but this node has no RDMA device; its ranks use TCP");
  EXPECT_EQ(say(RdmaIsNotUsed{Rdma::required, lacking, false}),
            "RDMA is required, but this node has no RDMA device");
}

}  // namespace
}  // namespace lockstep::words
