#pragma once
// Codecs of findings about a gang's ranks and of the ranks' standings: proto/fabric.proto, and the
// messages of proto/runner.proto that carry them. See fields.h.

#include "common/domain/runners/watch_protocol.h"
#include "common/domain/ranks/found.h"
#include "common/wire/fields.h"
#include "proto/fabric.pb.h"

namespace lockstep::pb {

// Codecs of findings. A sender may have more than the limits of found.h: the rest is left out, and
// texts are cut.
LOCKSTEP_CODEC(lockstep::FoundRank, FoundRank);
LOCKSTEP_CODEC(lockstep::Found, Found);

using FoundsOnWire = google::protobuf::RepeatedPtrField<Found>;
void write_found(const FoundList& from, FoundsOnWire* to);
Status read_found(const FoundsOnWire& from, FoundList* to);

LOCKSTEP_CODEC(lockstep::RankStanding, RankStanding);
LOCKSTEP_CODEC(lockstep::RankPace, RankPace);

}  // namespace lockstep::pb
