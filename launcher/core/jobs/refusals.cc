#include "launcher/core/jobs/refusals.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "common/domain/environment/docker_args.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/messages/no_such_job.h"
#include "launcher/core/access/users.h"
#include "launcher/core/attempts/retry.h"
#include "launcher/core/base/no_such.h"
#include "launcher/core/jobs/target_choice.h"
#include "launcher/core/placement/placement.h"
#include "launcher/core/queue/quotas.h"

namespace lockstep::launcher {

std::vector<Refusal> refusals_of_nodes(const Cluster& cluster, const JobSpec& spec,
                                       const Judging& how) {
  const bool judges_all = how.what == Judging::What::all;
  const std::string target = target_of(spec);
  std::vector<Refusal> found;
  const bool is_there = cluster.state.computes().has(target);
  if (!is_there) {
    Error error = no_such_compute(cluster.state, target);
    error.message.append("; or ").append(kHowToChooseCompute);
    found.push_back({std::move(error), "compute"});
  }
  if (const Compute* compute = cluster.state.computes().find(target); compute && compute->leaving)
    found.push_back(
        {make_error(ErrorCode::conflict, fmt::format("compute target '{}' is being deleted; {}",
                                                     target, kHowToChooseCompute)),
         "compute"});
  if (spec.in_container())
    if (Status status =
            check_docker_args(spec.resources.docker_args, cluster.config.allowed_docker_args);
        !status)
      found.push_back({status.error()});
  if (!is_there || !judges_all) return found;
  if (auto refusal = refused_by_target(cluster, spec)) found.push_back(*std::move(refusal));
  auto error = never_possible(cluster, spec);
  if (error && !(how.wait_anyway && error->code == ErrorCode::unsatisfiable))
    found.push_back({*std::move(error), spec.resources.instance_count > 1
                                            ? "resources.instance_count"
                                            : "lockstep.resources"});
  return found;
}

std::vector<Refusal> refusals_of_steps(const Cluster& cluster, const JobSpec& spec,
                                       const Judging& how) {
  std::vector<Refusal> found;
  std::set<std::string> messages;
  const auto add = [&](Refusal refusal, const PipelineStep& step) {
    if (!messages.insert(refusal.error.message).second) return;
    refusal.step = step.name;
    found.push_back(std::move(refusal));
  };
  for (const PipelineStep& step : spec.pipeline->steps) {
    JobSpec one = step.spec;
    one.submitter = spec.submitter;
    one.project = spec.project;
    one.run_as = spec.run_as;
    if (how.what == Judging::What::all) {
      if (auto choice = choose_target(cluster, one)) one.compute = std::move(choice->target);
      if (auto error = refused_by_quota(cluster, one, {}, {})) add({*std::move(error)}, step);
    }
    for (Refusal& refusal : refusals_of_nodes(cluster, one, how)) add(std::move(refusal), step);
  }
  return found;
}

Result<std::optional<CheckpointSource>> first_checkpoint(const Cluster& cluster,
                                                         const Caller& caller,
                                                         const JobSpec& spec) {
  if (spec.from_checkpoint_of.value.empty()) return std::nullopt;
  const Job* from = cluster.state.job(spec.from_checkpoint_of);
  if (from == nullptr) return no_such_job(spec.from_checkpoint_of);
  const std::string& name = spec.from_checkpoint_of.value;
  Decision decision =
      may(cluster.state.principals(), caller, Permission::read_job, object_of(*from));
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  auto source = newest_checkpoint(*from);
  if (!source)
    return make_error(
        ErrorCode::conflict,
        fmt::format(
            "job '{}' has saved no checkpoint: its ranks wrote nothing to $LOCKSTEP_CHECKPOINT_DIR",
            name));
  if (source->job.value.empty()) source->job = from->id;
  return source;
}

}  // namespace lockstep::launcher
