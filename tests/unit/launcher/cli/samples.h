#pragma once
// Views with every field filled, for golden tests.

#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"

namespace lockstep::cli {

inline constexpr Instant kNoon{1'893'499'200'000'000'000};  // 2030-01-01T12:00:00Z

inline JobView sample_job() {
  JobView job;
  JobSpec& spec = job.spec;
  spec.name = "gray_pig";
  spec.display_name = "Digits";
  spec.experiment_name = "handwriting";
  spec.description = "A small network.";
  spec.tags = {{"owner", "ada"}};
  spec.command = ShellCommand{"python train.py"};
  spec.environment_variables = {{"A", "b"}};
  spec.inputs = {{"lr", "1e-3"}};
  spec.outputs = {{"model", OutputType::uri_folder, OutputMode::upload}};
  spec.distribution = {Distribution::Kind::mpi, 2};
  spec.resources.instance_count = 2;
  spec.timeout = seconds(90);
  spec.submitter = "ada";
  spec.run_as = "ada";
  job.status = JobStatus::failed;
  job.reason = "rank 3 on local-1 exited with code 7";
  job.submitted = kNoon;
  job.ended = kNoon + seconds(12);
  AttemptView attempt;
  attempt.number = 1;
  attempt.placed = kNoon + seconds(1);
  attempt.started = kNoon + seconds(2);
  attempt.ended = kNoon + seconds(12);
  PartView part;
  part.node = NodeId(2);
  part.node_name = "local-1";
  part.node_rank = 1;
  part.first_rank = 2;
  part.outputs.push_back({OutputKind::named, "model", std::nullopt, 2, {300}, {"a: a fifo"}});
  part.ranks = 2;
  part.state = PartState::finished;
  part.allotment = {{2, 3}, gibibytes(4), {}};
  attempt.parts = {part};
  ExitReport report;
  report.cause = Cause::exit_code;
  report.exit_code = 7;
  report.rank = 3;
  report.node = NodeId(2);
  report.node_name = "local-1";
  report.time = kNoon + seconds(11);
  report.message = "rank 3 on local-1 exited with code 7";
  report.why = told(report.message);
  report.stderr_tail = "Traceback:\n  boom\x1b[31m\n";
  report.terminated_ranks = {0, 1, 2};
  attempt.report = report;
  job.report = report;
  job.attempts = {attempt};
  return job;
}

inline NodeView sample_node() {
  NodeView node;
  node.id = NodeId(2);
  node.name = "local-1";
  node.liveness = Liveness::alive;
  node.draining = true;
  node.reason = "drained: disk";
  node.inventory.hostname = "box";
  node.inventory.cpus = {2, 3};
  node.inventory.memory = gibibytes(4);
  node.inventory.address = "127.0.0.1";
  node.inventory.isolation = "cgroup-v1";
  node.inventory.limitations = {"no user namespaces"};
  node.attempts = {{JobId("gray_pig"), 1}};
  node.last_heard = kNoon;
  node.joined = kNoon;
  return node;
}

}  // namespace lockstep::cli
