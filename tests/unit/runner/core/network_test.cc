// From a gang that connects, or does not, to one whose network was probed.
#include "tests/unit/runner/core/fixture.h"

namespace lockstep::runner {
namespace {

class GangNetwork : public RunnerCore {
 protected:
  // A gang of three hosts, of which this is node `node_rank`, up to ConnectGang.
  void connect(int node_rank = 0, bool on_one_host = false) {
    assignment = part(3, 1, Distribution::Kind::pytorch);
    assignment.node_rank = node_rank;
    give(Begin{assignment});
    take<LeasePorts>();
    give(Endpoint{7000, PublicKey("key"), 6105});
    take_report(PartState::prepared);
    GangTable table = table_of(3);
    for (int node = 0; node < 3; ++node) {
      auto& member = table.members[static_cast<std::size_t>(node)];
      member.address = "10.0.0." + std::to_string(node + 1);
      member.host_id = on_one_host ? "host" : "host" + std::to_string(node);
    }
    assignment.phase = WantedPhase::run;
    assignment.gang = table;
    give(AssignmentChanged{assignment});
    take<ConnectGang>();
  }
  void probe(int node_rank = 0) {
    connect(node_rank);
    give(GangConnected{{}, kGangKnows});
    take<ProbeGang>();
  }
  static ProbeResult result() {
    ProbeResult result;
    for (int node = 0; node < 3; ++node) {
      ChosenPath path;
      path.node_rank = node;
      path.interface = "eth1";
      path.address = "10.9.0." + std::to_string(node + 1);
      result.chosen.push_back(path);
    }
    return result;
  }
  // n1 does not reach n2 at the address that it uses.
  static ProbeResult broken() {
    ProbeResult broken = result();
    broken.failures.push_back(
        {1, 2, "10.9.0.2", "eth1", "10.9.0.3", 41'999, PathTrouble::timed_out, 0});
    broken.failures.push_back(
        {0, 1, "10.0.0.1", "eth0", "10.0.0.2", 41'998, PathTrouble::no_route, 0});
    broken.broken = 1;
    return broken;
  }
  NodeExitReport end_for(const Why& why) {
    EXPECT_EQ(std::get<GangAbort>(take<TellGang>().message).why, why);
    const NodeExitReport report = drain_and_end();
    EXPECT_EQ(report.cause, Cause::start_failed);
    EXPECT_EQ(report.why, why);
    EXPECT_FALSE(report.first_failed_rank);
    return report;
  }
  Assignment assignment;
};

const Why kPair = PathIsBroken{
    {1, 2, "10.9.0.2", "eth1", "10.9.0.3", 41'999, PathTrouble::timed_out, 0}, "n1", "n2", 0};

TEST_F(GangNetwork, IsProbedBeforeRanksStart) {
  probe();
  EXPECT_EQ(core.next_deadline(), now + kProbeWithin);
  give(ProbeDone{result(), ProbeDone::Verdict::passed});
  start_all(assignment);
  EXPECT_EQ(core.gang()->members[2].address, "10.9.0.3");
  EXPECT_EQ(core.gang()->members[2].hostname, "n2");
  ASSERT_TRUE(core.probe());
  EXPECT_EQ(core.report().probe, result());
  give(ProbeDone{result(), ProbeDone::Verdict::failed_here});  // doubled: nothing
}

TEST_F(GangNetwork, IsToldByTheFirstNodeAlone) {
  probe(1);
  give(ProbeDone{result(), ProbeDone::Verdict::passed});
  start_all(assignment);
  EXPECT_FALSE(core.report().probe);
  EXPECT_EQ(core.gang()->members[0].address, "10.9.0.1");
}

TEST_F(GangNetwork, AnOutcomeWithoutAChoiceChangesNothing) {
  probe();
  give(ProbeDone{});
  start_all(assignment);
  EXPECT_EQ(core.gang()->members[2].address, "10.0.0.3");
  EXPECT_FALSE(core.report().probe);
}

TEST_F(GangNetwork, OfOneHostIsNotProbed) {
  connect(0, true);
  give(GangConnected{{}, kGangKnows});
  start_all(assignment);
}

TEST_F(GangNetwork, WithAnOlderRunnerIsNotProbed) {
  connect();
  give(GangConnected{{}, kGangProbes - 1});
  start_all(assignment);
}

TEST_F(GangNetwork, ThatIsBrokenEndsTheStartOnTheNodeThatIsNamed) {
  probe(2);
  give(ProbeDone{broken(), ProbeDone::Verdict::failed_here});
  end_for(kPair);
  EXPECT_EQ(core.report().probe, broken()) << "for the launcher to say it in its words";
}

TEST_F(GangNetwork, OthersAwaitTheAbortOfThatNode) {
  probe(1);
  give(ProbeDone{broken(), ProbeDone::Verdict::failed_elsewhere});
  GangAbort abort;
  abort.node_rank = 2;
  abort.first.cause = Cause::start_failed;
  abort.why = kPair;
  give(AbortFromPeer{abort});
  const NodeExitReport report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  ASSERT_TRUE(report.aborted_by);
  EXPECT_EQ(report.aborted_by->node_rank, 2);
}

TEST_F(GangNetwork, TheFirstNodeEndsTheStartIfThatNodeDoesNot) {
  probe();
  give(ProbeDone{broken(), ProbeDone::Verdict::failed_elsewhere});
  EXPECT_EQ(core.next_deadline(), now + kProbeAbortWithin);
  pass(kProbeAbortWithin);
  end_for(kPair);
}

TEST_F(GangNetwork, AProbeThatNeverEndsFails) {
  probe(1);
  pass(kProbeWithin - milliseconds(1));
  pass(milliseconds(1));
  end_for(ProbeDidNotEnd{kProbeWithin});
  give(ProbeDone{result(), ProbeDone::Verdict::passed});  // after the end: nothing
}

TEST_F(GangNetwork, AbortsAndStopsMeanwhileEndIt) {
  probe(1);
  GangAbort abort;
  abort.why = StoppedByOrder{StopReason::canceled};
  give(AbortFromPeer{abort});
  take_drain();
  give(ProbeDone{result(), ProbeDone::Verdict::passed});
  give(LogsDrained{});
  EXPECT_EQ(take_end().cause, Cause::canceled);

  core = Core();
  probe(1);
  assignment.phase = WantedPhase::stop;
  give(AssignmentChanged{assignment});
  EXPECT_EQ(std::get<GangAbort>(take<TellGang>().message).first.cause, Cause::canceled);
  EXPECT_EQ(drain_and_end().cause, Cause::canceled);
}

TEST_F(GangNetwork, ALeaseThatEndsMeanwhileEndsIt) {
  give(LeaseRenewed{now + seconds(10)});
  assignment = part(3, 1);
  assignment.lease = seconds(10);
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7000, PublicKey("key"), 0});
  take_report(PartState::prepared);
  assignment.phase = WantedPhase::run;
  GangTable table = table_of(3);
  table.members[1].host_id = "another";
  assignment.gang = table;
  give(AssignmentChanged{assignment});
  take<ConnectGang>();
  give(GangConnected{{}, kGangKnows});
  take<ProbeGang>();
  EXPECT_EQ(core.next_deadline(), now + seconds(10) + kLeaseTimeout);
  pass(seconds(10) + kLeaseTimeout);
  take<TellGang>();
  take_signal(SIGKILL);
  take<KillEverything>();
  EXPECT_EQ(drain_and_end().cause, Cause::node_lost);
}

TEST_F(GangNetwork, APeerThatDrainedBeforeWeHeardTheOutcomeIsKnown) {
  probe(1);
  give(PeerDone{{0, std::nullopt}});
  give(ProbeDone{result(), ProbeDone::Verdict::passed});
  start_all(assignment);
}

TEST_F(GangNetwork, WhyItsRunnersDoNotConnectIsSaidSoonerByWhoKnows) {
  connect(1);
  const Instant begun = now;
  EXPECT_EQ(core.next_deadline(), begun + kConnectWithin);
  pass(seconds(5));
  const PathFailure failure{1, 0, "10.0.0.2", "eth0", "10.0.0.1", 40'001, PathTrouble::refused, 0};
  give(ParentChecked{failure});
  EXPECT_EQ(core.next_deadline(), begun + kNamedWithin);
  pass(kNamedWithin - seconds(5));
  end_for(GangNotConnected{kNamedWithin, PathIsBroken{failure, "n1", "n0", 0}});
  ASSERT_TRUE(core.report().probe);
  EXPECT_EQ(core.report().probe->failures.at(0), failure);
}

TEST_F(GangNetwork, AParentThatIsReachedAgainIsNotToBlame) {
  connect(1);
  give(ParentChecked{PathFailure{}});
  give(ParentChecked{std::nullopt});
  EXPECT_EQ(core.next_deadline(), now + kConnectWithin);
  EXPECT_FALSE(core.report().probe);
  give(ParentChecked{PathFailure{}});
  give(GangConnected{{}, kGangKnows});
  take<ProbeGang>();
  EXPECT_FALSE(core.report().probe);
  give(ParentChecked{PathFailure{}});  // late
  give(ProbeDone{result(), ProbeDone::Verdict::passed});
  start_all(assignment);
}

}  // namespace
}  // namespace lockstep::runner
