#include "common/domain/ranks/exit_report.h"

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
  return {};
}
std::string_view to_string(Cause cause) { return describe(cause).word; }

bool is_infrastructure(Cause cause) {
  switch (cause) {
    case Cause::workspace_failed:
    case Cause::start_failed:
    case Cause::port_taken:
    case Cause::runner_lost:
    case Cause::node_lost:
    case Cause::preempted:
    case Cause::account_missing: return true;
    case Cause::completed:
    case Cause::exit_code:
    case Cause::signal:
    case Cause::out_of_memory:
    case Cause::mpi_abort:
    case Cause::exit_without_finalize:
    case Cause::never_connected:
    case Cause::command_not_found:
    case Cause::command_not_executable:
    case Cause::timeout:
    case Cause::canceled:
    case Cause::environment_failed:
    case Cause::disk_limit:
    case Cause::hang:
    case Cause::no_rdma: return false;
  }
  return false;
}

RankEnd end_of(const RankExit& exit) {
  RankEnd end;
  end.rank = exit.rank;
  end.exit_code = exit.signal != 0 ? 128 + exit.signal : exit.exit_code;
  end.signal = exit.signal;
  end.started = exit.started;
  end.terminated_by_us = exit.terminated_by_us;
  end.failed = exit.cause != Cause::completed;
  end.time = exit.time;
  return end;
}

int exit_code_of(const RankExit& exit) {
  switch (exit.cause) {
    case Cause::completed: return 0;
    case Cause::timeout:
    case Cause::hang: return 124;
    case Cause::command_not_executable: return 126;
    case Cause::command_not_found: return 127;
    case Cause::canceled: return 130;
    case Cause::workspace_failed:
    case Cause::start_failed:
    case Cause::port_taken:
    case Cause::runner_lost:
    case Cause::node_lost:
    case Cause::account_missing:
    case Cause::environment_failed:
    case Cause::disk_limit:
    case Cause::preempted:
    case Cause::no_rdma: return 125;
    case Cause::exit_code:
    case Cause::signal:
    case Cause::out_of_memory:
    case Cause::mpi_abort: break;
    case Cause::exit_without_finalize:
    case Cause::never_connected: return 1;
  }
  if (exit.signal != 0) return 128 + exit.signal;
  return exit.exit_code;
}

}  // namespace lockstep
