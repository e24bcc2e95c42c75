#pragma once
// How many ranks a job starts on its nodes, how they find each other, and which cpus each may use.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

inline constexpr std::size_t kMaxRayArguments = 100;
inline constexpr std::size_t kMaxRayArgumentsBytes = 1 << 14;
inline constexpr std::size_t kMaxRayAddressBytes = 253;  // the longest address of a host

// The cluster that `type: ray` makes for one job.
struct RaySettings {
  std::string address;      // the address of the head, for its workers; "": the address of its node
  std::optional<int> port;  // the port of the head; absent: a leased one
  bool include_dashboard = false;
  std::optional<int> dashboard_port;          // absent: Ray's own choice
  std::vector<std::string> head_arguments;    // further words for `ray start --head`
  std::vector<std::string> worker_arguments;  // further words for `ray start --address`
  static void table(auto& s, auto&& see) {
    see(field<1>, "address", s.address, {.bytes = kMaxRayAddressBytes});
    see(field<2>, "port", s.port, {.low = 1, .high = 65'535});
    see(field<3>, "include_dashboard", s.include_dashboard);
    see(field<4>, "dashboard_port", s.dashboard_port, {.low = 1, .high = 65'535});
    see(field<5>, "head_arguments", s.head_arguments, {.count = kMaxRayArguments});
    see(field<6>, "worker_arguments", s.worker_arguments, {.count = kMaxRayArguments});
  }
  friend bool operator==(const RaySettings&, const RaySettings&) = default;
};

struct Distribution {
  enum class Kind { none, mpi, pytorch, tensorflow, ray };
  Kind kind = Kind::none;
  int processes_per_node = 1;  // ranks on each node, >= 1; of tensorflow: on the first node
  int workers = 0;            // the number of tensorflow's workers; 0: another kind of distribution
  int parameter_servers = 0;  // the number of tensorflow's parameter servers
  RaySettings ray = {};       // the settings of type ray
  // The other members have fields of JobSpec.
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "processes_per_node", s.processes_per_node, {.low = 1, .high = kMaxRanksPerNode});
  }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

Word describe(Distribution::Kind kind);
std::string_view to_string(Distribution::Kind kind);
// Whether its ranks get a MASTER_PORT; another kind takes none from its node.
bool has_master_port(Distribution::Kind kind);
std::optional<Distribution::Kind> distribution_kind_from(std::string_view word);

// A distribution of `workers` and `parameter_servers` on this many nodes.
Distribution tensorflow_on(int nodes, int workers, int parameter_servers);

// The cpus that each rank may use, out of the cpus that its job holds on the node.
enum class Binding {
  automatic,  // a contiguous share for each; all, if there are more ranks than cpus
  none,       // all
  numa,       // the cpus of one NUMA node
  core,       // the cpus of one core; as `automatic` if there are more ranks than cores
};
Word describe(Binding binding);
std::string_view to_string(Binding binding);
constexpr Binding last_enumerator(Binding) { return Binding::core; }
std::optional<Binding> binding_from(std::string_view word);

// Whether it fits this many nodes. Errors name the key of a job file.
Status validate(const Distribution& distribution, int nodes);

}  // namespace lockstep
