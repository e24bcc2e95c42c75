#include "means/codec.h"
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
namespace lockstep::means {
#define MEANS(Domain, Wire) \
  void write_any(const Domain& f, google::protobuf::Message* to); Status read_any(const google::protobuf::Message& from, Domain* to); \
  void write(const Domain& from, pb::Wire* to) { write_any(from, to); } \
  Status read(const pb::Wire& from, Domain* to) { return read_any(from, to); }
MEANS(ExitReport, ExitReport)
MEANS(RankExit, RankExit)
MEANS(ComputeSpec, ComputeSpec)
MEANS(Inventory, Inventory)
MEANS(launcher::PartGone, PartGone)
MEANS(launcher::TokenCreated, TokenCreated)
MEANS(ResourceRequest, ResourceRequest)
}
