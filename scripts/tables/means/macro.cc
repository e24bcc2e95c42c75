// Means (a): the visitor in each struct, and typed accessors by number.
#include "means/codec.h"
#include "common/wire/table_codec.h"
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
namespace lockstep::means {
#define MEANS(Domain, Wire) \
  void write(const Domain& from, pb::Wire* to) { pb::to_message(from, to); } \
  Status read(const pb::Wire& from, Domain* to) { return pb::from_message(from, to); }
MEANS(ExitReport, ExitReport)
MEANS(RankExit, RankExit)
MEANS(ComputeSpec, ComputeSpec)
MEANS(Inventory, Inventory)
MEANS(launcher::PartGone, PartGone)
MEANS(launcher::TokenCreated, TokenCreated)
MEANS(ResourceRequest, ResourceRequest)
}
