#include "launcher/api/json/size.h"

#include "launcher/api/json/value.h"

namespace lockstep::api {
namespace {

template <typename Of>
Json types_of(const Of& of) {
  Json types = Json::array();
  if (of.for_clusters) types.push_back("amlcompute");
  if (of.for_instances) types.push_back("computeinstance");
  return types;
}

Json series_json(const SizeSeries& series) {
  Json json;
  json["name"] = series.name;
  json["category"] = series.category;
  json["needs_approval"] = series.needs_approval;
  json["supported_compute_types"] = types_of(series);
  return json;
}

}  // namespace

Json to_json(const SizeView& view) {
  const Size& size = view.size;
  Json json;
  json["name"] = size.name;
  json["family"] = size.series;
  json["category"] = size.category;
  json["vcpus"] = size.vcpus;
  json["memory"] = size.memory.count;
  json["gpus"] = size.gpus;
  json["gpu_name"] = size.gpu_name;
  json["gpu_memory"] = size.gpu_memory.count;
  json["ib_gbps"] = size.ib_gbps;
  json["rdma"] = size.rdma;
  json["isolated"] = size.isolated;
  json["needs_approval"] = size.needs_approval;
  json["supported_compute_types"] = types_of(size);
  json["price_per_hour"] = size.price_per_hour ? Json(*size.price_per_hour) : Json(nullptr);
  json["max_mpi_nodes"] = size.max_mpi_nodes == 0 ? Json(nullptr) : Json(size.max_mpi_nodes);
  json["own"] = view.is_own;
  json["quota"] = view.quota ? Json(*view.quota) : Json(nullptr);
  json["used"] = view.used;
  json["targets"] = view.targets;
  return json;
}

Json to_json(const std::vector<SizeView>& sizes) { return list_of<SizeView>(sizes, to_json); }
Json to_json(const std::vector<SizeSeries>& series) {
  return list_of<SizeSeries>(series, series_json);
}

}  // namespace lockstep::api
