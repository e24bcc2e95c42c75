#include "common/wire/views/metrics_codec.h"

#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/job_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::int64_t kMaxCpuMilli = 1'000'000'000;  // a million cores
constexpr std::size_t kMaxSamples = 10'000;
constexpr std::size_t kMaxListed = 1'000'000;

Status read_cpu(std::int64_t value, const char* field, std::int64_t* out) {
  if (value < 0 || value > kMaxCpuMilli) return bad_field(field, "is not an amount of cpu");
  *out = value;
  return {};
}

}  // namespace

void to_wire(const lockstep::GpuUse& from, GpuUse* to) {
  to->set_index(from.index);
  to->set_busy_percent(from.busy_percent);
  to->set_memory_bytes(from.memory.count);
}
Status from_wire(const GpuUse& from, lockstep::GpuUse* to) {
  TRY(read_number(from.index(), 0, 65'535, "gpu_use.index", &to->index));
  TRY(read_number(from.busy_percent(), 0, 100, "gpu_use.busy_percent", &to->busy_percent));
  to->memory = Bytes{from.memory_bytes()};
  return {};
}

void to_wire(const lockstep::UseSample& from, UseSample* to) {
  to->set_age_ns(from.age.count());
  to->set_cpu_milli(from.cpu_milli);
  to->set_memory_bytes(from.memory.count);
  to->set_received_per_second(from.received_per_second);
  to->set_sent_per_second(from.sent_per_second);
  to->set_gpu_percent(from.gpu_percent);
}
Status from_wire(const UseSample& from, lockstep::UseSample* to) {
  TRY(read_duration(from.age_ns(), "use_sample.age", &to->age));
  TRY(read_cpu(from.cpu_milli(), "use_sample.cpu_milli", &to->cpu_milli));
  to->memory = Bytes{from.memory_bytes()};
  to->received_per_second = from.received_per_second();
  to->sent_per_second = from.sent_per_second();
  return read_number(from.gpu_percent(), -1, 100, "use_sample.gpu_percent", &to->gpu_percent);
}

void to_wire(const lockstep::RankUse& from, RankUse* to) {
  to->set_rank(from.rank);
  to->set_cpu_milli(from.cpu_milli);
  to->set_cpu_time_ns(from.cpu_time.count());
  to->set_memory_bytes(from.memory.count);
  to->set_peak_memory_bytes(from.peak_memory.count);
  to->set_read_bytes(from.read.count);
  to->set_written_bytes(from.written.count);
}
Status from_wire(const RankUse& from, lockstep::RankUse* to) {
  TRY(read_number(from.rank(), -1, kMaxRankNumber, "rank_use.rank", &to->rank));
  TRY(read_cpu(from.cpu_milli(), "rank_use.cpu_milli", &to->cpu_milli));
  TRY(read_duration(from.cpu_time_ns(), "rank_use.cpu_time", &to->cpu_time));
  to->memory = Bytes{from.memory_bytes()};
  to->peak_memory = Bytes{from.peak_memory_bytes()};
  to->read = Bytes{from.read_bytes()};
  to->written = Bytes{from.written_bytes()};
  return {};
}

void to_wire(const lockstep::NodeUse& from, NodeUse* to) {
  to->set_cpu_milli(from.cpu_milli);
  to->set_memory_bytes(from.memory.count);
  to->set_disk_used_bytes(from.disk_used.count);
  to->set_disk_total_bytes(from.disk_total.count);
  to->set_received_per_second(from.received_per_second);
  to->set_sent_per_second(from.sent_per_second);
  write_list(from.gpus, to->mutable_gpus());
}
Status from_wire(const NodeUse& from, lockstep::NodeUse* to) {
  TRY(read_cpu(from.cpu_milli(), "node_use.cpu_milli", &to->cpu_milli));
  to->memory = Bytes{from.memory_bytes()};
  to->disk_used = Bytes{from.disk_used_bytes()};
  to->disk_total = Bytes{from.disk_total_bytes()};
  to->received_per_second = from.received_per_second();
  to->sent_per_second = from.sent_per_second();
  return read_list(from.gpus(), kMaxGpusOfUse, "node_use.gpus", &to->gpus);
}

void to_wire(const lockstep::PartUse& from, PartUse* to) {
  to_wire(from.attempt, to->mutable_attempt());
  write_list(from.ranks, to->mutable_ranks());
  to->set_quiet_ns(from.quiet.count());
}
Status from_wire(const PartUse& from, lockstep::PartUse* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_list(from.ranks(), kMaxRanksOfUse, "part_use.ranks", &to->ranks));
  return read_duration(from.quiet_ns(), "part_use.quiet", &to->quiet);
}

void to_wire(const lockstep::UsageReport& from, UsageReport* to) {
  to->set_node(from.node.value);
  to->set_session(from.session.value);
  to->set_every_ns(from.every.count());
  to_wire(from.use, to->mutable_use());
  write_list(from.parts, to->mutable_parts());
}
Status from_wire(const UsageReport& from, lockstep::UsageReport* to) {
  to->node = NodeId(from.node());
  to->session = SessionId(from.session());
  TRY(read_duration(from.every_ns(), "usage_report.every", &to->every));
  TRY(from_wire(from.use(), &to->use));
  return read_list(from.parts(), kMaxPartsOfUse, "usage_report.parts", &to->parts);
}

void to_wire(const lockstep::MeasuredNode& from, MeasuredNode* to) {
  to_wire(from.use, to->mutable_use());
  to->set_age_ns(from.age.count());
  to->set_stale(from.stale);
  write_list(from.history, to->mutable_history());
}
Status from_wire(const MeasuredNode& from, lockstep::MeasuredNode* to) {
  TRY(from_wire(from.use(), &to->use));
  TRY(read_duration(from.age_ns(), "measured_node.age", &to->age));
  to->stale = from.stale();
  return read_list(from.history(), kMaxSamples, "measured_node.history", &to->history);
}

void to_wire(const lockstep::MeasuredPart& from, MeasuredPart* to) {
  write_list(from.ranks, to->mutable_ranks());
  to->set_quiet_ns(from.quiet.count());
  to->set_age_ns(from.age.count());
  to->set_stale(from.stale);
}
Status from_wire(const MeasuredPart& from, lockstep::MeasuredPart* to) {
  TRY(read_list(from.ranks(), kMaxRanksOfUse, "measured_part.ranks", &to->ranks));
  TRY(read_duration(from.quiet_ns(), "measured_part.quiet", &to->quiet));
  TRY(read_duration(from.age_ns(), "measured_part.age", &to->age));
  to->stale = from.stale();
  return {};
}

// ---- requests and their answers ----------------------------------------------------------------

void to_wire(const lockstep::NodeUsage& from, NodeUsage* to) {
  to->set_id(from.id.value);
  to->set_name(from.name);
  to->set_liveness(wire_enum<Liveness>(from.liveness));
  to->set_draining(from.draining);
  to->set_cpus(from.cpus);
  to->set_memory_bytes(from.memory.count);
  for (const Bytes& memory : from.gpus) to->add_gpu_memory_bytes(memory.count);
  to->set_jobs(from.jobs);
  if (from.use) to_wire(*from.use, to->mutable_use());
}
Status from_wire(const NodeUsage& from, lockstep::NodeUsage* to) {
  to->id = NodeId(from.id());
  TRY(read_text(from.name(), "node_usage.name", &to->name));
  TRY(read_enum(from.liveness(), lockstep::Liveness::lost, "node_usage.liveness", &to->liveness));
  to->draining = from.draining();
  TRY(read_number(from.cpus(), 0, INT32_MAX, "node_usage.cpus", &to->cpus));
  to->memory = Bytes{from.memory_bytes()};
  TRY(check_count(from.gpu_memory_bytes_size(), kMaxListed, "node_usage.gpus"));
  for (const std::uint64_t memory : from.gpu_memory_bytes()) to->gpus.push_back(Bytes{memory});
  TRY(read_number(from.jobs(), 0, INT32_MAX, "node_usage.jobs", &to->jobs));
  return from.has_use() ? from_wire(from.use(), &to->use.emplace()) : Status();
}

namespace {

void write_use(const lockstep::UsageNow& from, PartUsage::Use* to) {
  to_wire(from.sum, to->mutable_sum());
  if (from.gpu_percent) to->set_gpu_percent(*from.gpu_percent);
  to->set_gpu_memory_bytes(from.gpu_memory.count);
  to->set_age_ns(from.age.count());
  to->set_stale(from.stale);
}
Status read_use(const PartUsage::Use& from, lockstep::UsageNow* to) {
  TRY(from_wire(from.sum(), &to->sum));
  if (from.has_gpu_percent())
    TRY(read_number(from.gpu_percent(), 0, 100, "part_usage.gpu_percent",
                    &to->gpu_percent.emplace()));
  to->gpu_memory = Bytes{from.gpu_memory_bytes()};
  TRY(read_duration(from.age_ns(), "part_usage.age", &to->age));
  to->stale = from.stale();
  return {};
}

}  // namespace

void to_wire(const lockstep::PartUsage& from, PartUsage* to) {
  to->set_node_name(from.node_name);
  to->set_node_rank(from.node_rank);
  to->set_ranks(from.ranks);
  to->set_cpus(from.cpus);
  to->set_memory_bytes(from.memory.count);
  to->set_gpus(from.gpus);
  if (from.use) write_use(*from.use, to->mutable_use());
}
Status from_wire(const PartUsage& from, lockstep::PartUsage* to) {
  TRY(read_text(from.node_name(), "part_usage.node_name", &to->node_name));
  TRY(read_rank(from.node_rank(), "part_usage.node_rank", &to->node_rank));
  TRY(read_rank(from.ranks(), "part_usage.ranks", &to->ranks));
  TRY(read_number(from.cpus(), 0, INT32_MAX, "part_usage.cpus", &to->cpus));
  to->memory = Bytes{from.memory_bytes()};
  TRY(read_number(from.gpus(), 0, INT32_MAX, "part_usage.gpus", &to->gpus));
  return from.has_use() ? read_use(from.use(), &to->use.emplace()) : Status();
}

void to_wire(const lockstep::JobUsage& from, JobUsage* to) {
  to->set_job(from.job.value);
  to->set_submitter(from.submitter);
  to->set_status(wire_enum<JobStatus>(from.status));
  to->set_attempt(from.attempt);
  write_list(from.parts, to->mutable_parts());
  to->set_silent_ns(from.silent.count());
}
Status from_wire(const JobUsage& from, lockstep::JobUsage* to) {
  TRY(read_job(from.job(), "job_usage.job", &to->job));
  TRY(read_text(from.submitter(), "job_usage.submitter", &to->submitter));
  TRY(read_word(from.status(), "job_usage.status", &to->status));
  to->attempt = from.attempt();
  TRY(read_list(from.parts(), kMaxListed, "job_usage.parts", &to->parts));
  return read_duration(from.silent_ns(), "job_usage.silent", &to->silent);
}

void to_wire(const lockstep::GetUsage& from, GetUsage* to) {
  to->set_nodes(from.nodes);
  to->set_jobs(from.jobs);
}
Status from_wire(const GetUsage& from, lockstep::GetUsage* to) {
  to->nodes = from.nodes();
  to->jobs = from.jobs();
  return {};
}

void to_wire(const lockstep::UsageReply& from, UsageReply* to) {
  write_list(from.nodes, to->mutable_nodes());
  write_list(from.jobs, to->mutable_jobs());
  to->set_more(from.more);
}
Status from_wire(const UsageReply& from, lockstep::UsageReply* to) {
  TRY(read_list(from.nodes(), kMaxListed, "usage.nodes", &to->nodes));
  TRY(read_list(from.jobs(), kMaxListed, "usage.jobs", &to->jobs));
  to->more = from.more();
  return {};
}

}  // namespace lockstep::pb
