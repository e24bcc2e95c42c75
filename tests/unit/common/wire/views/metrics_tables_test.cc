// The tables of what nodes and ranks use.

#include <limits>

#include "common/wire/job/assignment_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "proto/metrics.access.h"
#include "proto/runs.access.h"
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

TEST(MetricsTables, Runs) {
  check_table<pb::MetricPoint, metrics::Point>();
  check_table<pb::MetricSummary, metrics::MetricSummary>();
  check_table<pb::MetricBucket, metrics::Bucket>();
  check_table<pb::MetricCurve, metrics::Curve>();
  check_table<pb::GetMetrics, GetMetrics>();
  check_table<pb::MetricsReply, MetricsReply>();
  check_table<pb::GetLatest, GetLatest>();
  check_table<pb::LatestReply, LatestReply>();
}

TEST(MetricsTables, WhatATrainingComputedMayBeNoNumber) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    const metrics::Point sent{-7, Instant{5}, value};
    pb::MetricPoint wire;
    pb::to_wire(sent, &wire);
    metrics::Point received;
    ASSERT_TRUE(pb::from_wire(wire, &received));
    EXPECT_EQ(received, sent);
  }
}

}  // namespace
}  // namespace lockstep::test
