#include "common/domain/job/spec.h"

#include <algorithm>

namespace lockstep {

std::size_t annotation_bytes(const JobSpec& spec) {
  std::size_t bytes =
      spec.display_name.size() + spec.description.size() + spec.experiment_name.size();
  for (const auto& [key, value] : spec.tags) bytes += key.size() + value.size();
  return bytes;
}

Status JobSpec::check(const JobSpec& spec) {
  TRY(validate(spec.outputs));
  TRY(validate_keep(spec.keep));
  return validate(spec.data);
}

Word describe(RetryOn on) {
  switch (on) {
    case RetryOn::infrastructure: return {1, "infrastructure"};
    case RetryOn::node_lost: return {2, "node_lost"};
    case RetryOn::runner_lost: return {3, "runner_lost"};
    case RetryOn::out_of_memory: return {4, "out_of_memory"};
    case RetryOn::signal: return {5, "signal"};
    case RetryOn::timeout: return {6, "timeout"};
    case RetryOn::exit_code: return {7, "exit_code"};
  }
  return {};
}
std::string_view to_string(RetryOn on) { return describe(on).word; }

std::optional<RetryOn> retry_on_from(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(RetryOn::exit_code); ++i) {
    const auto on = static_cast<RetryOn>(i);
    if (to_string(on) == word) return on;
  }
  return std::nullopt;
}

Word describe(Rdma rdma) {
  switch (rdma) {
    case Rdma::off: return {0, "off"};
    case Rdma::preferred: return {1, "preferred"};
    case Rdma::required: return {2, "required"};
  }
  return {};
}
std::string_view to_string(Rdma rdma) { return describe(rdma).word; }

std::optional<Rdma> rdma_from(std::string_view word) {
  for (const Rdma rdma : {Rdma::off, Rdma::preferred, Rdma::required})
    if (to_string(rdma) == word) return rdma;
  return std::nullopt;
}

Word describe(TerminalKind terminal) {
  switch (terminal) {
    case TerminalKind::none: return {0, "none"};
    case TerminalKind::pty: return {1, "pty"};
    case TerminalKind::input: return {2, "stdin"};
  }
  return {};
}
std::string_view to_string(TerminalKind terminal) { return describe(terminal).word; }

Word describe(CoreFile core) {
  switch (core) {
    case CoreFile::off: return {0, "off"};
    case CoreFile::backtrace: return {1, "backtrace"};
    case CoreFile::keep: return {2, "keep"};
  }
  return {};
}
std::string_view to_string(CoreFile core) { return describe(core).word; }

std::optional<CoreFile> core_file_from(std::string_view word) {
  for (const CoreFile core : {CoreFile::off, CoreFile::backtrace, CoreFile::keep})
    if (to_string(core) == word) return core;
  return std::nullopt;
}

Word describe(OnLost on_lost) {
  switch (on_lost) {
    case OnLost::immediately: return {1, "immediately"};
    case OnLost::after_fence: return {2, "after_fence"};
  }
  return {};
}
std::string_view to_string(OnLost on_lost) { return describe(on_lost).word; }

namespace {

// Each node has `each` ranks, and the first `longer` nodes have one more.
struct Spread {
  int each = 1, longer = 0;
};

Spread spread_of(const JobSpec& spec) {
  const Distribution& distribution = spec.distribution;
  const int nodes = spec.resources.instance_count;
  if (distribution.kind != Distribution::Kind::tensorflow || nodes < 1)
    return {distribution.processes_per_node, 0};
  const int all = distribution.workers + distribution.parameter_servers;
  return {all / nodes, all % nodes};
}

}  // namespace

int JobSpec::first_rank_on(int node_rank) const {
  const Spread spread = spread_of(*this);
  return node_rank * spread.each + std::min(node_rank, spread.longer);
}

int JobSpec::node_of_rank(int rank) const {
  const auto [each, longer] = spread_of(*this);
  const int on_longer = longer * (each + 1);
  if (rank < on_longer) return rank / (each + 1);
  return longer + (rank - on_longer) / std::max(each, 1);
}

}  // namespace lockstep
