#pragma once
// One part of an attempt, as it is shown.

#include "common/domain/messages/views.h"
#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// `rank`: that of its node in the attempt.
PartView view_of_part(const Cluster& cluster, const Job& job, const Attempt& attempt, int rank,
                      ViewDetail detail);

}  // namespace lockstep::launcher
