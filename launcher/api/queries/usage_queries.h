#pragma once
// Adds to the launcher's views the resources that nodes and ranks use now, and answers GetUsage.
// Everybody who may list the nodes sees the use of nodes; the use of a job is for those who may
// read the job. The reads of an admin are not audited: numbers of use are not contents, and
// `lockstep top` asks every two seconds. No socket, no clock.

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/ports/measurements.h"
#include "launcher/api/queries/queries.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/core/core.h"

namespace lockstep::launcher {

// The time for which the job has been silent, if it is long enough to be shown; else 0. All its
// nodes must have reported lately.
Duration silence_of(const Measurements& measurements, const Job& job);

// Adds the use of the job's running parts, if `parts`, and its silence. Changes nothing unless the
// viewer may read the job.
void add_use(const Measurements& measurements, const Viewer& viewer, const State& state, bool parts,
             JobView* view);

// Adds the use to the answer of a question.
void add_use(const Measurements& measurements, const Viewer& viewer, const State& state,
             const Query& question, ClientReply* reply);

// the most parts in one reply
inline constexpr std::size_t kMaxUsageParts = 100'000;
UsageReply usage_of(const Measurements& measurements, const Core& core, const Viewer& viewer,
                    const GetUsage& question);

}  // namespace lockstep::launcher
