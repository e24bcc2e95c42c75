// The tables of what nodes and ranks use.

#include "common/wire/job/assignment_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "proto/metrics.access.h"
#include "proto/usage.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(MetricsTables, Samples) {
  check_table<pb::GpuUse, GpuUse>();
  check_table<pb::NodeUse, NodeUse>();
  check_table<pb::RankUse, RankUse>();
  check_table<pb::PartUse, PartUse>();
  check_table<pb::UsageReport, UsageReport>();
  check_table<pb::UseSample, UseSample>();
  check_table<pb::MeasuredNode, MeasuredNode>();
  check_table<pb::MeasuredPart, MeasuredPart>();
}

TEST(MetricsTables, Usage) {
  check_table<pb::NodeUsage, NodeUsage>();
  check_table<pb::PartUsage_Use, UsageNow>();
  check_table<pb::PartUsage, PartUsage>();
  check_table<pb::JobUsage, JobUsage>();
  check_table<pb::GetUsage, GetUsage>();
  check_table<pb::UsageReply, UsageReply>();
}

}  // namespace
}  // namespace lockstep::test
