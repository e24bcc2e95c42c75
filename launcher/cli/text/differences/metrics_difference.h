#pragma once
// What two jobs have logged differently. Pure.

#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "launcher/cli/text/differences/job_difference.h"

namespace lockstep::cli {

// "metrics.loss.last", "metrics.loss.least", "params.lr", …: what two jobs have logged differently.
// Null: the job has no such metric, or it was no number.
std::vector<FieldDifference> differences_of(const MetricsReply& a, const MetricsReply& b);

}  // namespace lockstep::cli
