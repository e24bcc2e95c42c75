#include "launcher/api/json/usage.h"

namespace lockstep::api {

namespace {

double cores_of(std::int64_t milli) { return static_cast<double>(milli) / 1000; }

double rounded_seconds(Duration duration) {
  return static_cast<double>(std::chrono::duration_cast<milliseconds>(duration).count()) / 1000;
}

Json gpu_json(const GpuUse& gpu) {
  return {{"index", gpu.index}, {"busy_percent", gpu.busy_percent}, {"memory", gpu.memory.count}};
}

Json sample_json(const UseSample& sample) {
  Json json;
  json["age_seconds"] = rounded_seconds(sample.age);
  json["cpu"] = cores_of(sample.cpu_milli);
  json["memory"] = sample.memory.count;
  json["received_per_second"] = sample.received_per_second;
  json["sent_per_second"] = sample.sent_per_second;
  json["gpu_percent"] = sample.gpu_percent < 0 ? Json(nullptr) : Json(sample.gpu_percent);
  return json;
}

Json rank_json(const RankUse& rank) {
  Json json;
  json["rank"] = rank.rank;
  json["cpu"] = cores_of(rank.cpu_milli);
  json["cpu_seconds"] = rounded_seconds(rank.cpu_time);
  json["memory"] = rank.memory.count;
  json["peak_memory"] = rank.peak_memory.count;
  json["read"] = rank.read.count;
  json["written"] = rank.written.count;
  return json;
}

Json totals_json(const RankUse& rank) {
  Json json;
  json["rank"] = rank.rank;
  json["cpu_seconds"] = rounded_seconds(rank.cpu_time);
  json["peak_memory"] = rank.peak_memory.count;
  json["read"] = rank.read.count;
  json["written"] = rank.written.count;
  return json;
}

Json now_json(const UsageNow& use) {
  Json json;
  json["cpu"] = cores_of(use.sum.cpu_milli);
  json["cpu_seconds"] = rounded_seconds(use.sum.cpu_time);
  json["memory"] = use.sum.memory.count;
  json["peak_memory"] = use.sum.peak_memory.count;
  json["read"] = use.sum.read.count;
  json["written"] = use.sum.written.count;
  json["gpu_percent"] = use.gpu_percent ? Json(*use.gpu_percent) : Json(nullptr);
  json["gpu_memory"] = use.gpu_percent ? Json(use.gpu_memory.count) : Json(nullptr);
  json["age_seconds"] = rounded_seconds(use.age);
  json["stale"] = use.stale;
  return json;
}

Json node_json(const NodeUsage& node) {
  Json json;
  json["name"] = node.name;
  json["node_id"] = node.id.value;
  json["liveness"] = std::string(to_string(node.liveness));
  json["draining"] = node.draining;
  json["cpus"] = node.cpus;
  json["memory"] = node.memory.count;
  json["gpus"] = node.gpus.size();
  json["jobs"] = node.jobs;
  json["use"] = node.use ? to_json(*node.use) : Json(nullptr);
  return json;
}

Json part_json(const PartUsage& part) {
  Json json;
  json["node_name"] = part.node_name;
  json["node_rank"] = part.node_rank;
  json["ranks"] = part.ranks;
  json["cpus"] = part.cpus;
  json["memory"] = part.memory.count;
  json["gpus"] = part.gpus;
  json["use"] = part.use ? now_json(*part.use) : Json(nullptr);
  return json;
}

Json job_json(const JobUsage& job) {
  Json json;
  json["name"] = job.job.value;
  json["created_by"] = job.submitter;
  json["status"] = std::string(to_string(job.status));
  json["attempt"] = job.attempt;
  json["silent_seconds"] =
      job.silent == Duration::zero() ? Json(nullptr) : Json(rounded_seconds(job.silent));
  json["parts"] = list_of<PartUsage>(job.parts, part_json);
  return json;
}

}  // namespace

Json to_json(const MeasuredNode& node) {
  const NodeUse& use = node.use;
  Json json;
  json["cpu"] = cores_of(use.cpu_milli);
  json["memory"] = use.memory.count;
  json["disk_used"] = use.disk_used.count;
  json["disk_total"] = use.disk_total.count;
  json["received_per_second"] = use.received_per_second;
  json["sent_per_second"] = use.sent_per_second;
  json["gpus"] = list_of<GpuUse>(use.gpus, gpu_json);
  json["age_seconds"] = rounded_seconds(node.age);
  json["stale"] = node.stale;
  json["history"] = list_of<UseSample>(node.history, sample_json);
  return json;
}

Json to_json(const MeasuredPart& part) {
  Json json;
  json["ranks"] = list_of<RankUse>(part.ranks, rank_json);
  json["quiet_seconds"] = rounded_seconds(part.quiet);
  json["age_seconds"] = rounded_seconds(part.age);
  json["stale"] = part.stale;
  return json;
}

Json totals_of(const std::vector<RankUse>& ranks) { return list_of<RankUse>(ranks, totals_json); }

Json to_json(const UsageReply& usage) {
  Json json;
  json["nodes"] = list_of<NodeUsage>(usage.nodes, node_json);
  json["jobs"] = list_of<JobUsage>(usage.jobs, job_json);
  json["more_jobs"] = usage.more;
  return json;
}

}  // namespace lockstep::api
