#pragma once
// What runs have logged, to and from proto/runs.proto. See fields.h.

#include "common/domain/messages/client_protocol.h"
#include "common/domain/runs/curve.h"
#include "common/wire/fields.h"
#include "proto/runs.pb.h"

namespace lockstep::pb {

void to_wire(const metrics::MetricSummary& from, MetricSummary* to);
Status from_wire(const MetricSummary& from, metrics::MetricSummary* to);
void to_wire(const metrics::Curve& from, MetricCurve* to);
Status from_wire(const MetricCurve& from, metrics::Curve* to);
void to_wire(const lockstep::GetMetrics& from, GetMetrics* to);
Status from_wire(const GetMetrics& from, lockstep::GetMetrics* to);
void to_wire(const lockstep::MetricsReply& from, MetricsReply* to);
Status from_wire(const MetricsReply& from, lockstep::MetricsReply* to);

}  // namespace lockstep::pb
