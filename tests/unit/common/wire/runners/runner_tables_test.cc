// The tables of messages between agents and runners, of a gang's runners, and of their files.

#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "proto/probe.access.h"
#include "proto/runner.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(RunnerTables, OfAgentAndRunner) {
  check_bodies<pb::RunnerControl, RunnerControl>({1});
  check_table<pb::LogsTaken, LogsTaken>();
  check_table<pb::EndPart, EndPart>();
  check_table<pb::StagedInput, StagedInput>();
  check_table<pb::PlacedInput, PlacedInput>();
  check_table<pb::WorkspacePlan, WorkspacePlan>();
}

TEST(RunnerTables, OfAGang) {
  check_bodies<pb::GangMessage, GangMessage>({1});
  check_table<pb::GangHello, GangHello>();
  check_table<pb::GangRows, GangRows>();
  check_table<pb::GangReady, GangReady>();
  check_table<pb::GangStart, GangStart>();
  check_table<pb::FencePart, FencePart>();
  check_table<pb::FenceDone, FenceDone>();
  check_table<pb::ModexRequest, ModexRequest>();
  check_table<pb::ModexReply, ModexReply>();
  check_table<pb::GangAbort, GangAbort>();
  check_table<pb::GangNodeDone, GangNodeDone>();
  check_table<pb::GangStandings, GangStandings>();
  check_table<pb::GangLook, GangLook>();
  check_table<pb::GangSeen, GangSeen>();
}

TEST(RunnerTables, OfAProbe) {
  check_table<pb::ProbeCandidate, ProbeCandidate>();
  check_table<pb::ProbeOffer, ProbeOffer>();
  check_table<pb::ProbePeer, ProbePeer>();
  check_table<pb::ProbePlan, ProbePlan>();
  check_table<pb::PathFinding, PathFinding>();
  check_table<pb::ProbeFindings, ProbeFindings>();
  check_table<pb::ProbeOutcome, ProbeOutcome>();
}

}  // namespace
}  // namespace lockstep::test
