#include "common/domain/ranks/exit_report.h"

namespace lockstep {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::completed: return "completed";
    case Cause::exit_code: return "exit_code";
    case Cause::signal: return "signal";
    case Cause::out_of_memory: return "out_of_memory";
    case Cause::mpi_abort: return "mpi_abort";
    case Cause::exit_without_finalize: return "exit_without_finalize";
    case Cause::never_connected: return "never_connected";
    case Cause::command_not_found: return "command_not_found";
    case Cause::command_not_executable: return "command_not_executable";
    case Cause::timeout: return "timeout";
    case Cause::canceled: return "canceled";
    case Cause::workspace_failed: return "workspace_failed";
    case Cause::start_failed: return "start_failed";
    case Cause::port_taken: return "port_taken";
    case Cause::runner_lost: return "runner_lost";
    case Cause::node_lost: return "node_lost";
    case Cause::account_missing: return "account_missing";
    case Cause::environment_failed: return "environment_failed";
    case Cause::disk_limit: return "disk_limit";
    case Cause::preempted: return "preempted";
    case Cause::hang: return "hang";
    case Cause::no_rdma: return "no_rdma";
  }
  return "start_failed";
}

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
