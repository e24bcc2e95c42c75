#pragma once
// Sizes of machines, as Azure names them: the resources of a node of a target with this size. The
// launcher has a catalogue from its build (launcher/files/targets/sizes.yml); operators add sizes
// of their own and say how many machines of a size the targets may have together. A name is
// compared without case, as Azure compares it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/targets/compute.h"

namespace lockstep {

// The range of a number of a size. The launcher refuses too large numbers, as it refuses unknown
// names of sizes.
inline constexpr Rule kSizeNumber{.low = 0, .high = 1 << 30};

// A row of Azure's table "Supported VM series and sizes".
struct SizeSeries {
  std::string name;      // "NCsv3"
  std::string category;  // "GPU"
  bool needs_approval = false;
  bool for_clusters = true;   // may be used for type amlcompute
  bool for_instances = true;  // may be used for type computeinstance
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "category", s.category, kNameRule);
    see(field<3>, "needs_approval", s.needs_approval);
    see(field<4>, "for_clusters", s.for_clusters);
    see(field<5>, "for_instances", s.for_instances);
  }
  friend bool operator==(const SizeSeries&, const SizeSeries&) = default;
};

struct Size {
  std::string name;      // "Standard_NC24rs_v3"
  std::string series;    // "NCsv3"; "": none
  std::string category;  // "GPU"; "": none is given
  int vcpus = 1;
  Bytes memory;
  int gpus = 0;
  std::string gpu_name;  // "V100"
  Bytes gpu_memory;      // the memory of each GPU
  int ib_gbps = 0;       // InfiniBand rate of each port; 0: no InfiniBand
  bool rdma = false;
  bool isolated = false;        // nobody else is on the same server
  bool needs_approval = false;  // targets may have this size only after it is granted
  bool for_clusters = true;     // may be used for type amlcompute
  bool for_instances = true;    // may be used for type computeinstance
  std::optional<double> price_per_hour;
  int max_mpi_nodes = 0;  // the most nodes of one MPI job; 0: no limit
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "series", s.series, kNameRule);
    see(field<3>, "category", s.category, kNameRule);
    see(field<4>, "vcpus", s.vcpus, kSizeNumber);
    see(field<5>, "memory", s.memory);
    see(field<6>, "gpus", s.gpus, kSizeNumber);
    see(field<7>, "gpu_name", s.gpu_name, kNameRule);
    see(field<8>, "gpu_memory", s.gpu_memory);
    see(field<9>, "ib_gbps", s.ib_gbps, kSizeNumber);
    see(field<10>, "rdma", s.rdma);
    see(field<11>, "isolated", s.isolated);
    see(field<12>, "needs_approval", s.needs_approval);
    see(field<13>, "for_clusters", s.for_clusters);
    see(field<14>, "for_instances", s.for_instances);
    see(field<15>, "price_per_hour", s.price_per_hour);
    see(field<16>, "max_mpi_nodes", s.max_mpi_nodes, kSizeNumber);
  }
  friend bool operator==(const Size&, const Size&) = default;
};

inline constexpr std::size_t kMaxSizes = 2'000;  // the most sizes that operators define
inline constexpr std::size_t kMaxSizesAtOnce = 500;
inline constexpr std::size_t kMaxSizeNameLength = 64;
inline constexpr std::size_t kMaxSizeTextBytes = 128;
inline constexpr int kMaxSizeVcpus = 65'536;
inline constexpr int kMaxSizeGpus = 1'024;
inline constexpr int kMaxIbGbps = 100'000;
inline constexpr double kMaxPrice = 1e6;
inline constexpr int kMaxGrantedMachines = 1'000'000;

// Checks a size's name: 1 to 64 letters, digits, '_', '-' and '.', beginning with a letter.
Status check_size_name(std::string_view name);
// Checks the name, all limits, and that the fields agree. The message begins with the field's name.
Status check(const Size& size);
// The form in which names are compared.
std::string size_key(std::string_view name);

// The sizes, by size_key().
using Sizes = std::map<std::string, Size>;
struct SizeCatalogue {
  std::vector<SizeSeries> series;
  Sizes sizes;
  friend bool operator==(const SizeCatalogue&, const SizeCatalogue&) = default;
};

// ---- requests ----------------------------------------------------------------------------------

// Adds sizes, or replaces those with the same names, also the catalogue's. Answered by SizesReply
// with them.
struct DefineSizes {
  static constexpr int kBody = 300;
  std::vector<Size> sizes;
  static void table(auto& s, auto&& see) {
    see(field<1>, "sizes", s.sizes, {.count = kMaxSizesAtOnce});
  }
  friend bool operator==(const DefineSizes&, const DefineSizes&) = default;
};
// Removes a size that an operator defined; a size of the catalogue that it replaced is back.
// Answered by Done.
struct RemoveSize {
  static constexpr int kBody = 301;
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kNameRule); }
  friend bool operator==(const RemoveSize&, const RemoveSize&) = default;
};
// How many machines of this size the targets may have together. Answered by SizesReply.
struct GrantSize {
  static constexpr int kBody = 302;
  std::string name;
  int machines = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name, kNameRule);
    see(field<2>, "machines", s.machines, {.low = 0, .high = kMaxGrantedMachines});
  }
  friend bool operator==(const GrantSize&, const GrantSize&) = default;
};
struct ListSizes {
  static constexpr int kBody = 303;
  std::string name;  // only this size; "": all
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kNameRule); }
  friend bool operator==(const ListSizes&, const ListSizes&) = default;
};

// ---- views -------------------------------------------------------------------------------------

struct SizeView {
  Size size;
  bool is_own = false;       // whether an operator defined it
  std::optional<int> quota;  // the machines that all targets together may have; absent: no limit
  int used = 0;              // machines that the targets of this size may grow to
  std::vector<std::string> targets;  // the targets of this size, by name
  static void table(auto& s, auto&& see) {
    see(field<1>, "size", s.size);
    see(field<2>, "is_own", s.is_own);
    see(field<3>, "quota", s.quota, kSizeNumber);
    see(field<4>, "used", s.used, kSizeNumber);
    see(field<5>, "targets", s.targets, {.count = kMaxComputes});
  }
  friend bool operator==(const SizeView&, const SizeView&) = default;
};
struct SizesReply {  // The sizes, by name.
  static constexpr int kBody = 304;
  std::vector<SizeView> sizes;
  std::vector<SizeSeries> series;  // the series of the catalogue, if all sizes were asked for
  static void table(auto& s, auto&& see) {
    see(field<1>, "sizes", s.sizes, {.count = 2 * kMaxSizes});
    see(field<2>, "series", s.series, {.count = kMaxSizes});
  }
  friend bool operator==(const SizesReply&, const SizesReply&) = default;
};

}  // namespace lockstep
