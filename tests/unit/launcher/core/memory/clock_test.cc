// The clocks of nodes: measured with heartbeats, and what follows for who failed first.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/ranks/parts.h"
#include "common/domain/why/ranks/ranks.h"
#include "launcher/core/memory/clock_meter.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Instant kStart{1'700'000'000'000'000'000};

// A heartbeat of a node whose clock is `ahead`, a second after the acknowledgement, and when it
// arrives. The acknowledgement was on its way for `there`, the heartbeat for `back`.
struct Trip {
  Heartbeat beat;
  Instant arrives;
};
Trip trip(Instant acked, Duration ahead, Duration there, Duration back) {
  Trip made;
  made.beat.acked = acked;
  made.beat.acked_at = acked + there + ahead;
  made.beat.wall_clock = made.beat.acked_at + seconds(1);
  made.arrives = acked + there + seconds(1) + back;
  return made;
}

ClockOffset measured(const std::vector<Trip>& trips) {
  ClockMeter meter;
  for (const Trip& each : trips) meter.add(each.beat, each.arrives);
  EXPECT_TRUE(meter.offset());
  return meter.offset().value_or(ClockOffset{});
}

TEST(ClockMeter, KnowsTheOffsetToHalfTheRoundTrip) {
  const ClockOffset even =
      measured({trip(kStart, -milliseconds(200), milliseconds(3), milliseconds(3))});
  EXPECT_EQ(even.ahead, -milliseconds(200));
  EXPECT_EQ(even.uncertainty, milliseconds(3));
  for (const int there : {0, 1, 5, 10}) {
    const ClockOffset uneven =
        measured({trip(kStart, milliseconds(70), milliseconds(there), milliseconds(10 - there))});
    EXPECT_LE(std::chrono::abs(uneven.ahead - milliseconds(70)), uneven.uncertainty) << there;
    EXPECT_EQ(uneven.uncertainty, milliseconds(5));
  }
}

TEST(ClockMeter, TakesTheShortestOfTheLastTrips) {
  std::vector<Trip> trips;
  for (const int delay : {40, 2, 60})
    trips.push_back(trip(kStart + seconds(trips.size()), milliseconds(500), milliseconds(delay),
                         milliseconds(delay)));
  EXPECT_EQ(measured(trips).uncertainty, milliseconds(2));
  for (int i = 0; i < 16; ++i)
    trips.push_back(
        trip(kStart + seconds(10 + i), milliseconds(500), milliseconds(9), milliseconds(9)));
  EXPECT_EQ(measured(trips).uncertainty, milliseconds(9)) << "the short one is long ago";
}

TEST(ClockMeter, FollowsAClockThatIsSet) {
  std::vector<Trip> trips = {trip(kStart, -minutes(60), milliseconds(1), milliseconds(1))};
  trips.push_back(trip(kStart + seconds(2), milliseconds(1), milliseconds(30), milliseconds(30)));
  EXPECT_EQ(measured(trips).ahead, milliseconds(1));
}

TEST(ClockMeter, IgnoresWhatCannotBe) {
  ClockMeter meter;
  Heartbeat beat;
  beat.wall_clock = kStart;
  meter.add(beat, kStart);  // of an older agent, or the first
  const Trip good = trip(kStart, milliseconds(5), milliseconds(1), milliseconds(1));
  meter.add(good.beat, kStart - seconds(1));        // before it was sent
  meter.add(good.beat, good.arrives + minutes(5));  // put off
  Heartbeat backwards = good.beat;
  backwards.wall_clock = backwards.acked_at - seconds(1);
  meter.add(backwards, good.arrives);
  EXPECT_FALSE(meter.offset());
}

// ---- who failed first ---------------------------------------------------------------------------

class FirstFailure : public ::testing::Test {
 protected:
  FirstFailure() : n1_(launcher_.join("n1")), n2_(launcher_.join("n2")) {
    JobSpec spec = job_spec("job", 2, 2);
    spec.retry.max = 0;
    job_ = launcher_.submit(spec);
    launcher_.prepared(n1_, attempt(job_));
    launcher_.prepared(n2_, attempt(job_));
  }

  // One heartbeat each way, each `delay` under way.
  void measure(const FakeNode& node, Duration ahead, Duration delay) {
    Trip made = trip(launcher_.now, ahead, delay, delay);
    made.beat.node = node.id;
    made.beat.session = node.session;
    made.beat.observed_sequence = node.sequence;
    made.beat.desired_revision = launcher_.core->desired_for(node.id).revision;
    launcher_.now = made.arrives;
    launcher_.send(HeartbeatInput{node.key, made.beat});
    launcher_.take<AckHeartbeat>();
    launcher_.drop_notices();
  }

  // Rank 0 on n1 and rank 2 on n2 fail at these true times; each node tells what its clock says.
  ExitReport fails(Duration ahead1, int at1, Duration ahead2, int at2) {
    const auto at = [](Duration ahead, int ms) { return kStart + milliseconds(ms) + ahead; };
    const RankExit first = rank_exit(0, Cause::exit_code, 1, at(ahead1, at1));
    const RankExit second = rank_exit(2, Cause::exit_code, 3, at(ahead2, at2));
    launcher_.finished(n1_, attempt(job_), node_exit({first, terminated(1, first.time)}));
    launcher_.finished(n2_, attempt(job_), node_exit({second, terminated(3, second.time)}));
    return launcher_.view(job_).report.value_or(ExitReport{});
  }

  TestLauncher launcher_;
  FakeNode n1_, n2_;
  JobId job_;
};

TEST_F(FirstFailure, IsFoundThoughAClockIsSlow) {
  measure(n1_, Duration(0), milliseconds(1));
  measure(n2_, -milliseconds(200), milliseconds(1));
  const ExitReport report = fails(Duration(0), 100, -milliseconds(200), 150);
  EXPECT_EQ(report.rank, 0) << "n2's clock said 50 ms before it";
  EXPECT_EQ(report.time, kStart + milliseconds(100));
  EXPECT_THAT(report.also, IsEmpty());
  EXPECT_EQ(report.why, Why(RankFailed{0, "n1", Cause::exit_code, 1}));
  ASSERT_THAT(report.clocks, SizeIs(1));
  EXPECT_EQ(report.clocks[0].node_name, "n2");
  EXPECT_EQ(report.clocks[0].offset, (ClockOffset{-milliseconds(200), milliseconds(1)}));
}

TEST_F(FirstFailure, NamesBothIfTheClocksDoNotTellWhichItWas) {
  measure(n1_, Duration(0), milliseconds(2));
  measure(n2_, milliseconds(40), milliseconds(3));
  const ExitReport report = fails(Duration(0), 100, milliseconds(40), 104);
  EXPECT_EQ(report.rank, 0);
  ASSERT_THAT(report.also, SizeIs(1));
  EXPECT_EQ(report.also[0].rank, 2);
  EXPECT_EQ(report.also[0].node_name, "n2");
  EXPECT_EQ(report.why, Why(FirstOfSeveral{RankFailed{0, "n1", Cause::exit_code, 1},
                                           RankFailed{2, "n2", Cause::exit_code, 3}, 0,
                                           milliseconds(4), milliseconds(5)}));
  EXPECT_EQ(report.also[0].why, Why(RankFailed{2, "n2", Cause::exit_code, 3}));
  EXPECT_THAT(report.clocks, IsEmpty()) << "40 ms is nothing to tell";
}

TEST_F(FirstFailure, IsOneIfTheClocksTell) {
  measure(n1_, Duration(0), milliseconds(2));
  measure(n2_, milliseconds(40), milliseconds(3));
  EXPECT_THAT(fails(Duration(0), 100, milliseconds(40), 106).also, IsEmpty());
}

TEST_F(FirstFailure, OfNodesWithoutAMeasuredClockIsByTheirTimes) {
  const ExitReport report = fails(Duration(0), 100, Duration(0), 101);
  EXPECT_EQ(report.rank, 0);
  EXPECT_THAT(report.also, IsEmpty());
}

TEST_F(FirstFailure, ThatAPeerToldIsNamedBeforeItsNodeIsHeard) {
  PeerAbort abort{0, rank_exit(0, Cause::exit_code, 7, kStart),
                  RankEnded{0, Cause::exit_code, 7, 0, true, {}}};
  NodeExitReport stopped = node_exit({terminated(2), terminated(3)});
  stopped.cause = Cause::canceled;
  stopped.aborted_by = abort;
  launcher_.finished(n2_, attempt(job_), stopped);
  const ExitReport doomed = launcher_.facts<AttemptDoomed>().at(0).report;
  EXPECT_EQ(doomed.rank, 0);
  EXPECT_EQ(doomed.node_name, "n1");
  EXPECT_EQ(doomed.why, Why(RankFailed{0, "n1", Cause::exit_code, 7}));
}

TEST_F(FirstFailure, OfATimeOutIsNoNodesOwn) {
  RankExit first = rank_exit(0, Cause::timeout, 0, kStart);
  NodeExitReport stopped = node_exit({terminated(2), terminated(3)});
  stopped.cause = Cause::canceled;
  stopped.aborted_by = PeerAbort{0, first, RanTooLong{seconds(2)}};
  launcher_.finished(n2_, attempt(job_), stopped);
  const ExitReport doomed = launcher_.facts<AttemptDoomed>().at(0).report;
  EXPECT_EQ(doomed.cause, Cause::timeout);
  EXPECT_EQ(doomed.why, Why(NodeFailed{"n1", Cause::timeout, RanTooLong{seconds(2)}}));
  const Assignment stop = launcher_.assignment(n1_, attempt(job_));
  EXPECT_EQ(stop.phase, WantedPhase::stop);
  EXPECT_EQ(stop.grace, launcher_.config.stop_grace);
}

// ---- the times of logs --------------------------------------------------------------------------

class ClockOfAPart : public FirstFailure {
 protected:
  Duration ahead(std::size_t node_rank) const {
    return launcher_.core->clock_ahead(
        launcher_.core->state().attempt(attempt(job_))->parts.at(node_rank));
  }
};

TEST_F(ClockOfAPart, IsAsMeasuredLatelyAndAfterARestartAsItsReportSays) {
  EXPECT_EQ(ahead(1), Duration(0)) << "not measured yet";
  measure(n2_, -milliseconds(200), milliseconds(1));
  EXPECT_EQ(ahead(0), Duration(0));
  EXPECT_EQ(ahead(1), -milliseconds(200));
  launcher_.observe(n2_, attempt(job_), PartState::running);
  launcher_.drop_notices();
  measure(n2_, milliseconds(500), milliseconds(1));
  EXPECT_EQ(ahead(1), milliseconds(500)) << "it was set";
  launcher_.restart();
  EXPECT_EQ(ahead(1), -milliseconds(200)) << "until the next heartbeats";
  EXPECT_EQ(ahead(0), Duration(0));
}

}  // namespace
}  // namespace lockstep::launcher
