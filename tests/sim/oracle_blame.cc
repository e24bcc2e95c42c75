// What a job's report blames is what in truth happened first.

#include "tests/sim/oracle.h"

#include "launcher/words/why.h"

namespace lockstep::sim {

using launcher::Job;

namespace {

bool matches(Cause cause, Ending ending) {
  switch (cause) {
    case Cause::exit_code: return ending == Ending::exit_code;
    case Cause::signal: return ending == Ending::signal;
    case Cause::out_of_memory: return ending == Ending::out_of_memory;
    case Cause::mpi_abort: return ending == Ending::abort;
    case Cause::exit_without_finalize: return ending == Ending::no_finalize;
    case Cause::never_connected: return ending == Ending::never_connected;
    case Cause::command_not_found: return ending == Ending::not_found;
    case Cause::command_not_executable:
    case Cause::completed:
    case Cause::timeout:
    case Cause::canceled:
    case Cause::workspace_failed:
    case Cause::start_failed:
    case Cause::port_taken:
    case Cause::runner_lost:
    case Cause::node_lost:
    case Cause::account_missing:
    case Cause::environment_failed:
    case Cause::disk_limit:
    case Cause::preempted:
    case Cause::hang:
    case Cause::no_rdma: break;
  }
  return true;  // no rank is to blame
}

}  // namespace

void Oracle::check_blame(const Job& job, const ExitReport& report) {
  const AttemptId last = job.attempts.empty() ? AttemptId{job.id} : job.attempts.back().id;
  if (report.cause == Cause::completed || report.cause == Cause::canceled)
    world_.violate("oracle:blame",
                   job.id.value + " Failed with the cause " + std::string(to_string(report.cause)));
  if (report.cause == Cause::timeout && !job.spec.timeout)
    world_.violate("oracle:blame", job.id.value + " has no time-out but ran into it");
  if (calm_ && is_infrastructure(report.cause) && !nobody_could_solve(job, report))
    world_.violate("oracle:blame", job.id.value + " blames the machines in a calm world: " +
                                       words::text_of(report.why));
  if (report.exit_code == 0)
    world_.violate("oracle:blame", job.id.value + " Failed with exit code 0");
  if (!report.rank) return;
  const RankTruth& truth = truth_[last][*report.rank];
  if (truth.alive || !matches(report.cause, truth.ending))
    world_.violate("oracle:blame",
                   fmt::format("{} blames rank {} ({}), which in truth {}", job.id.value,
                               *report.rank, words::text_of(report.why),
                               truth.alive ? std::string("lives")
                                           : "ended by " + std::string(to_string(truth.ending))));
  const bool own_code = report.cause == Cause::exit_code || report.cause == Cause::mpi_abort;
  const bool own_signal = report.cause == Cause::signal || report.cause == Cause::out_of_memory;
  const int expected = own_signal ? 128 + truth.code : truth.code;
  if ((own_code || own_signal) && report.exit_code != expected)
    world_.violate("oracle:exit-code",
                   fmt::format("{} exits with {}, but rank {} ended with {}", job.id.value,
                               report.exit_code, *report.rank, expected));
}

// In a calm world nothing of a gang may outlive its first failure for long.
void Oracle::check_promptness(const AttemptId& attempt) {
  if (!calm_) return;
  for (const auto& [rank, truth] : truth_[attempt])
    if (truth.alive)
      world_.violate("oracle:prompt", fmt::format("rank {} of {} lives long after its gang failed",
                                                  rank, to_string(attempt)));
}

}  // namespace lockstep::sim
