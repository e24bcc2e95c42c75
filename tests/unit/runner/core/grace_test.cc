// Whatever ends the ranks, on one node or several, they get the whole grace between SIGTERM and
// SIGKILL: a rank may be saving a checkpoint.
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/runner/core/fixture.h"

namespace lockstep::runner {
namespace {

constexpr Duration kGrace = seconds(10);

struct Occasion {
  std::string name;
  // What begins the end of the ranks here; it may take some time.
  std::function<std::vector<Input>(Assignment&)> begins;
  int nodes_at_least = 1;
};

Input changed(Assignment& assignment, StopReason reason) {
  assignment.phase = WantedPhase::stop;
  assignment.stop_reason = reason;
  return AssignmentChanged{assignment};
}

RankExit of(Cause cause) {
  RankExit exit;
  exit.rank = 2;
  exit.cause = cause;
  return exit;
}

std::vector<Occasion> occasions() {
  std::vector<Occasion> all = {
      {"canceled", [](auto& a) { return std::vector{changed(a, StopReason::canceled)}; }},
      {"superseded", [](auto& a) { return std::vector{changed(a, StopReason::superseded)}; }},
      {"the gang failed", [](auto& a) { return std::vector{changed(a, StopReason::gang_failed)}; },
       2},
      {"a sibling fails",
       [](auto&) {
         return std::vector<Input>{RankExited{1, 3, 0, false}};
       }},
      {"MPI_Abort",
       [](auto&) {
         return std::vector<Input>{RankAborted{1, 3, ""}};
       }},
      {"time-out", [](auto&) { return std::vector<Input>{Tick{}}; }},
      {"disk limit",
       [](auto&) {
         return std::vector<Input>{SetupFailed{Cause::disk_limit, told("full")}};
       }},
      {"the port was taken", [](auto&) { return std::vector<Input>{MasterPortTaken{}}; }},
  };
  for (const Cause cause : {Cause::timeout, Cause::canceled, Cause::exit_code, Cause::signal,
                            Cause::disk_limit, Cause::port_taken, Cause::start_failed})
    all.push_back({"a peer's " + std::string(to_string(cause)),
                   [cause](auto&) {
                     return std::vector<Input>{AbortFromPeer{{1, of(cause), told("it ended")}}};
                   },
                   2});
  // The launcher hears of the end of the ranks that ended at once, and stops the others.
  all.push_back({"time-out, then the launcher's stop",
                 [](auto& a) {
                   return std::vector<Input>{Tick{}, changed(a, StopReason::gang_failed)};
                 },
                 2});
  all.push_back({"a peer's failure, then the launcher's stop",
                 [](auto& a) {
                   return std::vector<Input>{
                       AbortFromPeer{{1, of(Cause::exit_code), told("it ended")}},
                       changed(a, StopReason::gang_failed)};
                 },
                 2});
  return all;
}

// The time from SIGTERM to SIGKILL, to ranks that do not end.
Duration grace_of(const Occasion& occasion, int nodes) {
  Core core;
  Assignment assignment;
  assignment.attempt = {JobId("job"), 1};
  assignment.spec.resources.instance_count = nodes;
  assignment.spec.distribution = {Distribution::Kind::mpi, 2};
  assignment.spec.timeout = minutes(1);
  assignment.grace = kGrace;
  assignment.solo = nodes == 1;
  assignment.phase = nodes == 1 ? WantedPhase::run : WantedPhase::prepare;
  Instant now{1'000'000'000};
  std::optional<Instant> terminated, killed;
  const auto give = [&](const Input& input) {
    for (const Action& action : core.handle(now, input)) {
      const auto* signal = std::get_if<SignalRanks>(&action);
      if (signal != nullptr && signal->signal == SIGTERM && !terminated) terminated = now;
      const bool kills = (signal != nullptr && signal->signal == SIGKILL) ||
                         std::holds_alternative<KillEverything>(action);
      if (kills && !killed) killed = now;
    }
  };
  give(Begin{assignment});
  give(Endpoint{7000, PublicKey("key"), 6105});
  if (nodes > 1) {
    assignment.phase = WantedPhase::run;
    assignment.gang = table_of(nodes);
    give(AssignmentChanged{assignment});
    give(GangConnected{});
  }
  for (int rank = 0; rank < 2; ++rank) {
    give(RankStarted{rank, 100 + rank});
    give(RankConnected{rank});
  }
  now = now + *assignment.spec.timeout - milliseconds(1);
  if (occasion.name.starts_with("time-out")) now = now + milliseconds(2);
  for (const Input& input : occasion.begins(assignment)) {
    give(input);
    now = now + milliseconds(5);
  }
  for (int i = 0; i < 100 && !killed && core.next_deadline() != Instant::never(); ++i) {
    now = std::max(now, core.next_deadline());
    give(Tick{});
  }
  EXPECT_TRUE(terminated && killed) << occasion.name;
  return terminated && killed ? Duration(*killed - *terminated) : Duration(0);
}

TEST(Grace, IsOneForAllOccasionsOnAnyNumberOfNodes) {
  for (const Occasion& occasion : occasions())
    for (const int nodes : {1, 2, 3})
      if (nodes >= occasion.nodes_at_least) {
        EXPECT_EQ(grace_of(occasion, nodes), kGrace)
            << occasion.name << " on " << nodes << " node(s)";
      }
}

}  // namespace
}  // namespace lockstep::runner
