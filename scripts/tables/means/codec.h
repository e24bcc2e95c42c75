#pragma once
// What each of the compared means implements.
#include "common/domain/compute.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_spec.h"
#include "common/domain/node.h"
#include "launcher/facts.h"
namespace lockstep::pb {
class ExitReport; class RankExit; class ComputeSpec; class Inventory; class PartGone;
class TokenCreated; class ResourceRequest;
}
namespace lockstep::means {
#define DECLARE(Domain, Wire) void write(const Domain& from, pb::Wire* to); Status read(const pb::Wire& from, Domain* to);
DECLARE(ExitReport, ExitReport)
DECLARE(RankExit, RankExit)
DECLARE(ComputeSpec, ComputeSpec)
DECLARE(Inventory, Inventory)
DECLARE(launcher::PartGone, PartGone)
DECLARE(launcher::TokenCreated, TokenCreated)
DECLARE(ResourceRequest, ResourceRequest)
#undef DECLARE
}
