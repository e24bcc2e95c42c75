#include "launcher/api/json/size.h"

namespace lockstep::api {
namespace {

constexpr std::string_view kClusters = "amlcompute", kInstances = "computeinstance";
constexpr std::string_view kTypes[] = {kClusters, kInstances};

template <typename Of>
std::vector<std::string_view> types_of(const Of& of) {
  std::vector<std::string_view> types;
  if (of.for_clusters) types.push_back(kClusters);
  if (of.for_instances) types.push_back(kInstances);
  return types;
}

}  // namespace

void keys(const SizeView& view, See& see) {
  const Size& size = view.size;
  see.page("size", "Size",
           "A size that the machines of targets can have, as `lockstep size show` prints it.");
  see("name", size.name, "Its name; names are compared without case.");
  see("family", size.series, "Azure's series; empty: none.");
  see("category", size.category, "Such as GPU; empty: none is said.");
  see("vcpus", size.vcpus, "Logical cpus.");
  see("memory", size.memory, "Bytes of memory.");
  see("gpus", size.gpus, "GPUs.");
  see("gpu_name", size.gpu_name, "The model of its GPUs; empty: not said.");
  see("gpu_memory", size.gpu_memory, "Bytes of memory of each GPU.");
  see("ib_gbps", size.ib_gbps, "Gigabits a second of each InfiniBand port; 0: none.");
  see("rdma", size.rdma, "Its machines reach each other by RDMA.");
  see("isolated", size.isolated, "Nobody else is on the same server.");
  see("needs_approval", size.needs_approval, "Its quota is 0 before it is granted.");
  see("supported_compute_types", types_of(size), "Azure's types of targets that can have it.",
      {.words = kTypes});
  see("price_per_hour", size.price_per_hour, "Of one machine; null: none is known.");
  see("max_mpi_nodes", unless_zero(size.max_mpi_nodes), "Nodes of one MPI job; null: no limit.",
      kFromOne);
  see("own", view.is_own, "An operator of this launcher defined it.");
  see("quota", view.quota, "Machines that all targets may have together; null: no limit.");
  see("used", view.used, "Machines that its targets may grow to.");
  see("targets", view.targets, "The targets of this size.");
}

void keys(const SizeSeries& series, See& see) {
  see("name", series.name, "Its name.");
  see("category", series.category, "Such as GPU.");
  see("needs_approval", series.needs_approval, "Azure requires approval.");
  see("supported_compute_types", types_of(series), "Azure's types of targets that can have it.",
      {.words = kTypes});
}

}  // namespace lockstep::api
