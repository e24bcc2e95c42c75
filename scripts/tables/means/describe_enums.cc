#include "common/domain/compute.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_spec.h"
#include "launcher/facts.h"
namespace lockstep {
Word describe(Cause cause) {
  switch (cause) {
    case Cause::completed: return {1, "completed"};
    case Cause::exit_code: return {2, "exit_code"};
    case Cause::signal: return {3, "signal"};
    case Cause::out_of_memory: return {4, "out_of_memory"};
    case Cause::mpi_abort: return {5, "mpi_abort"};
    case Cause::exit_without_finalize: return {6, "exit_without_finalize"};
    case Cause::never_connected: return {7, "never_connected"};
    case Cause::command_not_found: return {8, "command_not_found"};
    case Cause::command_not_executable: return {9, "command_not_executable"};
    case Cause::timeout: return {10, "timeout"};
    case Cause::canceled: return {11, "canceled"};
    case Cause::workspace_failed: return {12, "workspace_failed"};
    case Cause::start_failed: return {13, "start_failed"};
    case Cause::port_taken: return {14, "port_taken"};
    case Cause::runner_lost: return {15, "runner_lost"};
    case Cause::node_lost: return {16, "node_lost"};
    case Cause::account_missing: return {17, "account_missing"};
    case Cause::environment_failed: return {18, "environment_failed"};
    case Cause::disk_limit: return {19, "disk_limit"};
    case Cause::preempted: return {20, "preempted"};
    case Cause::hang: return {21, "hang"};
    case Cause::no_rdma: return {22, "no_rdma"};
  }
  return {-1, nullptr};
}
Word describe(ComputeType type) {
  switch (type) {
    case ComputeType::local: return {1, "local"};
    case ComputeType::virtualmachine: return {2, "virtualmachine"};
    case ComputeType::amlcompute: return {3, "amlcompute"};
    case ComputeType::kubernetes: return {5, "kubernetes"};
    case ComputeType::computeinstance: return {7, "computeinstance"};
  }
  return {-1, nullptr};
}
Word describe(NodeSource source) {
  switch (source) {
    case NodeSource::none: return {0, ""};
    case NodeSource::join: return {1, "join"};
    case NodeSource::ssh: return {2, "ssh"};
    case NodeSource::docker: return {3, "docker"};
    case NodeSource::slurm: return {4, "slurm"};
    case NodeSource::command: return {5, "command"};
    case NodeSource::kubernetes: return {6, "kubernetes"};
  }
  return {-1, nullptr};
}
Word describe(Tier tier) {
  switch (tier) {
    case Tier::dedicated: return {0, "dedicated"};
    case Tier::low_priority: return {1, "low_priority"};
  }
  return {-1, nullptr};
}
Word describe(Rdma rdma) {
  switch (rdma) {
    case Rdma::off: return {0, "off"};
    case Rdma::preferred: return {1, "preferred"};
    case Rdma::required: return {2, "required"};
  }
  return {-1, nullptr};
}
Word describe(Approval approval) {
  switch (approval) {
    case Approval::as_configured: return {0, "as_configured"};
    case Approval::required: return {1, "required"};
    case Approval::waived: return {2, "waived"};
  }
  return {-1, nullptr};
}
}  // namespace lockstep
