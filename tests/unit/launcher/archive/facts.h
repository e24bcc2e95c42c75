#pragma once
// Facts of whole lives of jobs, valid for the core's state: made of one node that joined first.

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/state/facts/fact.h"

namespace lockstep::archive {

using launcher::StampedFact;

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline Instant at_second(std::int64_t second) { return {second * kSecond}; }

inline StampedFact node_joins() {
  return {at_second(1), launcher::NodeJoined{NodeId(1), "n1", PublicKey("key"), sha256("token")}};
}

struct Life {
  std::string name;
  std::int64_t submitted = 10;  // seconds
  std::int64_t placed = 20, ended = 30;
  bool runs = true;  // else it is canceled while it waits
  std::string owner = "ann", project = "p";
  int cpus = 2, gpus = 1;
  Bytes memory = gibibytes(1);
  JobStatus status = JobStatus::completed;
  bool deleted = false;
};

inline JobSpec spec_of(const Life& life) {
  JobSpec spec;
  spec.name = life.name;
  spec.submitter = life.owner;
  spec.project = life.project;
  spec.experiment_name = "e";
  spec.tags = {{"of", life.owner}};
  return spec;
}

inline Allotment allotment_of(const Life& life) {
  Allotment allotment;
  for (int i = 0; i < life.cpus; ++i) allotment.cpus.push_back(i);
  for (int i = 0; i < life.gpus; ++i) allotment.gpus.push_back(i);
  allotment.memory = life.memory;
  return allotment;
}

inline std::vector<StampedFact> attempt_of(const Life& life, std::uint32_t number = 1) {
  const AttemptId attempt{JobId(life.name), number, 0};
  PartReport report;
  report.attempt = attempt;
  report.state = PartState::running;
  PartReport end = report;
  end.state = PartState::finished;
  end.exit.emplace();
  end.exit->ranks.resize(1);
  end.exit->ranks[0].cpu_time = seconds(3);
  launcher::PartPlacement part;
  part.node = NodeId(1);
  part.allotment = allotment_of(life);
  const Instant placed = at_second(life.placed), ended = at_second(life.ended);
  return {{placed, launcher::AttemptPlaced{attempt, {part}, {}}},
          {placed, launcher::PartChanged{attempt, NodeId(1), report}},
          {ended, launcher::PartChanged{attempt, NodeId(1), end}},
          {ended, launcher::AttemptEnded{attempt, {}}},
          {ended, launcher::PartReleased{attempt, NodeId(1)}}};
}

inline std::vector<StampedFact> facts_of(const Life& life) {
  const JobId job(life.name);
  const Instant submitted = at_second(life.submitted), ended = at_second(life.ended);
  std::vector<StampedFact> facts{
      {submitted, launcher::JobSubmitted{job, "s-" + life.name, spec_of(life), 0, 0}}};
  ExitReport report;
  if (life.runs) {
    for (StampedFact& fact : attempt_of(life)) facts.push_back(std::move(fact));
  } else {
    report.cause = Cause::canceled;
    facts.push_back({ended, launcher::CancelRequested{job, told(life.owner)}});
  }
  facts.push_back(
      {ended, launcher::JobFinished{job, life.runs ? life.status : JobStatus::canceled, report}});
  if (life.deleted)
    facts.push_back({ended, launcher::JobDeleted{job, life.owner, "s-" + life.name, 1}});
  return facts;
}

}  // namespace lockstep::archive
