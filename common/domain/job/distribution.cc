#include "common/domain/job/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lockstep {

namespace {

using Kind = Distribution::Kind;

constexpr int kMaxPort = 65'535;

Error invalid_key(std::string_view key, std::string_view why) {
  return make_error(ErrorCode::invalid_argument, fmt::format("distribution.{}: {}", key, why));
}

Status validate_tensorflow(const Distribution& distribution, int nodes) {
  const int most = kMaxRanksPerNode * nodes;
  if (distribution.workers < 1 || distribution.workers > most)
    return invalid_key("worker_count",
                       fmt::format("is {}; must be 1 to {}", distribution.workers, most));
  if (distribution.parameter_servers < 0 || distribution.parameter_servers > most)
    return invalid_key("parameter_server_count",
                       fmt::format("is {}; must be 0 to {}", distribution.parameter_servers, most));
  const int all = distribution.workers + distribution.parameter_servers;
  if (all < nodes)
    return invalid_key(
        "worker_count",
        fmt::format("{} worker{} and {} parameter server{} leave some of the job's {} nodes "
                    "without a process; ask for fewer nodes (resources.instance_count) or more "
                    "workers",
                    distribution.workers, distribution.workers == 1 ? "" : "s",
                    distribution.parameter_servers, distribution.parameter_servers == 1 ? "" : "s",
                    nodes));
  const Distribution wanted =
      tensorflow_on(nodes, distribution.workers, distribution.parameter_servers);
  if (distribution.processes_per_node != wanted.processes_per_node)
    return invalid_key("worker_count", "does not match the ranks of each node");
  return {};
}

Status validate_port(std::string_view key, const std::optional<int>& port) {
  if (!port || (*port >= 1 && *port <= kMaxPort)) return {};
  return invalid_key(key, fmt::format("is {}; must be 1 to {}", *port, kMaxPort));
}

Status validate_words(std::string_view key, const std::vector<std::string>& words) {
  if (words.size() > kMaxRayArguments)
    return invalid_key(
        key, fmt::format("has {} words; at most {} are possible", words.size(), kMaxRayArguments));
  std::size_t bytes = 0;
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) return invalid_key(key, "holds a NUL byte");
    bytes += word.size() + 1;
  }
  if (bytes > kMaxRayArgumentsBytes)
    return invalid_key(
        key, fmt::format("has {} bytes; at most {} are possible", bytes, kMaxRayArgumentsBytes));
  return {};
}

Status validate_ray(const Distribution& distribution) {
  const RaySettings& ray = distribution.ray;
  if (distribution.processes_per_node != 1)
    return invalid_key("process_count_per_instance",
                       fmt::format("is {}, but Ray has one rank on each node, which starts its "
                                   "own processes; leave it out",
                                   distribution.processes_per_node));
  bool good = ray.address.size() <= kMaxRayAddressBytes;
  for (const char c : ray.address)
    good = good && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
                    c == ':' || c == '_');
  if (!good || ray.address.starts_with('-'))
    return invalid_key("address",
                       fmt::format("must be at most {} letters, digits and . : - _, not beginning "
                                   "with '-'; leave it out to take the first node's address",
                                   kMaxRayAddressBytes));
  TRY(validate_port("port", ray.port));
  TRY(validate_port("dashboard_port", ray.dashboard_port));
  if (ray.dashboard_port && !ray.include_dashboard)
    return invalid_key("dashboard_port", "has no meaning without 'include_dashboard: true'");
  TRY(validate_words("head_node_additional_args", ray.head_arguments));
  return validate_words("worker_node_additional_args", ray.worker_arguments);
}

}  // namespace

Distribution tensorflow_on(int nodes, int workers, int parameter_servers) {
  Distribution distribution;
  distribution.kind = Kind::tensorflow;
  distribution.workers = workers;
  distribution.parameter_servers = parameter_servers;
  const long long all = static_cast<long long>(workers) + parameter_servers;
  distribution.processes_per_node =
      static_cast<int>(std::min<long long>((all + nodes - 1) / nodes, kMaxRanksPerNode + 1));
  return distribution;
}

Status validate(const Distribution& distribution, int nodes) {
  const int ranks = distribution.processes_per_node;
  if (ranks < 1 || ranks > kMaxRanksPerNode)
    return invalid_key(
        distribution.kind == Kind::tensorflow ? "worker_count" : "process_count_per_instance",
        fmt::format("is {}; must be 1 to {}", ranks, kMaxRanksPerNode));
  if (distribution.kind == Kind::tensorflow) return validate_tensorflow(distribution, nodes);
  if (distribution.workers != 0 || distribution.parameter_servers != 0)
    return invalid_key("worker_count", "belongs to the type tensorflow");
  if (distribution.kind == Kind::ray) return validate_ray(distribution);
  if (distribution.ray != RaySettings()) return invalid_key("port", "belongs to the type ray");
  return {};
}

Word describe(Kind kind) {
  switch (kind) {
    case Kind::none: return {1, "none"};
    case Kind::mpi: return {2, "mpi"};
    case Kind::pytorch: return {3, "pytorch"};
    case Kind::tensorflow: return {4, "tensorflow"};
    case Kind::ray: return {5, "ray"};
  }
  return {};
}
std::string_view to_string(Kind kind) { return describe(kind).word; }

bool has_master_port(Kind kind) {
  switch (kind) {
    case Kind::mpi:
    case Kind::pytorch:
    case Kind::ray: return true;
    case Kind::none:
    case Kind::tensorflow: return false;
  }
  return false;
}

std::optional<Kind> distribution_kind_from(std::string_view word) {
  for (const Kind kind : {Kind::none, Kind::mpi, Kind::pytorch, Kind::tensorflow, Kind::ray})
    if (to_string(kind) == word) return kind;
  return std::nullopt;
}

Word describe(Binding binding) {
  switch (binding) {
    case Binding::automatic: return {0, "auto"};
    case Binding::none: return {1, "none"};
    case Binding::numa: return {2, "numa"};
    case Binding::core: return {3, "core"};
  }
  return {};
}
std::string_view to_string(Binding binding) { return describe(binding).word; }

std::optional<Binding> binding_from(std::string_view word) {
  for (const Binding binding : {Binding::automatic, Binding::none, Binding::numa, Binding::core})
    if (to_string(binding) == word) return binding;
  return std::nullopt;
}

}  // namespace lockstep
