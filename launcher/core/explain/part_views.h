#pragma once
// The view of one part of an attempt.

#include "common/domain/messages/views.h"
#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// The view of a part. `rank` is its node rank.
PartView view_of_part(const Cluster& cluster, const Job& job, const Attempt& attempt, int rank,
                      ViewDetail detail);

}  // namespace lockstep::launcher
