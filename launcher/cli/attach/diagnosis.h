#pragma once
// All that is known of a job's ranks at one moment, as a page and as JSON (`job diagnose`): what
// the gang found out, where each rank stands, the network that it uses, the nodes' clocks, and the
// stacks of all ranks. Pure.

#include <string>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/cli/attach/stack_groups.h"
#include "launcher/cli/attach/standings.h"

namespace lockstep::cli {

struct Diagnosis {
  JobView job;  // the job, with at least one attempt
  Instant at;
  std::vector<ShownStanding> standings;  // by rank; empty: the nodes reported nothing about them
  std::vector<NodeClock> clocks;  // the clocks of the attempt's nodes, as far as they were measured
  StackReport stacks;
  std::string no_stacks;  // why there are none; "": `stacks` has what there is
};

std::string diagnosis_text(const Diagnosis& diagnosis);
void keys(const Diagnosis& diagnosis, api::See& see);
// The name of its file among the job's logs: "diagnosis-20260131T120000Z".
std::string diagnosis_file(Instant at);

}  // namespace lockstep::cli
