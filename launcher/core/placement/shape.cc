#include "launcher/core/placement/shape.h"

#include "launcher/state/absences.h"
#include "launcher/words/nodes/say_placement.h"

namespace lockstep::launcher {

Shape shape_of(const JobSpec& spec) {
  const ResourceRequest& r = spec.resources;
  const int own = r.isolate_gpus ? spec.distribution.processes_per_node : 0;
  return {r.instance_count,    r.cpus,     r.memory, r.gpus,   own,     spec.run_as, spec.limits,
          spec.in_container(), r.isolated, r.rdma,   r.labels, r.nodes, spec.timeout};
}

Shape shape_of(const Job& job) {
  Shape shape = shape_of(job.spec);
  shape.not_on = nodes_without(job, job.attempts.size());
  return shape;
}

NodesAsked asked_for(const Shape& shape) {
  NodesAsked asked;
  asked.nodes = shape.nodes;
  asked.isolated = shape.isolated;
  asked.names = shape.names;
  asked.more_names = asked.names.size() > kMaxReasonNodes;
  if (asked.more_names) asked.names.resize(kMaxReasonNodes);
  asked.cpus = shape.cpus;
  asked.memory = shape.memory;
  asked.gpus = shape.gpus;
  asked.rdma = shape.rdma == Rdma::required;
  for (const auto& [key, value] : shape.labels) asked.labels.push_back({key, value});
  return asked;
}

std::string describe(const Shape& shape) { return words::describe(asked_for(shape)); }

}  // namespace lockstep::launcher
