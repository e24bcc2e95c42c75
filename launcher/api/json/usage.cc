#include "launcher/api/json/usage.h"

namespace lockstep::api {
namespace {

double cores_of(std::int64_t milli) { return static_cast<double>(milli) / 1000; }

double rounded_seconds(Duration duration) {
  return static_cast<double>(std::chrono::duration_cast<milliseconds>(duration).count()) / 1000;
}

constexpr const char* kAge = "Since the launcher got this from the node, in seconds.";
constexpr const char* kStale = "The node should have sent a newer one long ago.";

}  // namespace

void keys(const GpuUse& gpu, See& see) {
  see("index", gpu.index, "As in the node's inventory.");
  see("busy_percent", gpu.busy_percent, "Share of the time in which it did something.", kPercent);
  see("memory", gpu.memory, "Used memory of the GPU, in bytes.");
}

void keys(const UseSample& sample, See& see) {
  see("age_seconds", rounded_seconds(sample.age), "How long ago it was, in seconds.");
  see("cpu", cores_of(sample.cpu_milli), "Busy cores.");
  see("memory", sample.memory, "Used memory, in bytes; a multiple of 1 MiB.");
  see("received_per_second", sample.received_per_second, "Bytes a second.");
  see("sent_per_second", sample.sent_per_second, "Bytes a second.");
  see("gpu_percent", unless_negative(sample.gpu_percent), "Mean of its GPUs; null: it has none.",
      kPercent);
}

void keys(const RankUse& rank, See& see) {
  see("rank", rank.rank, "Its number in the whole job.");
  see("cpu", cores_of(rank.cpu_milli), "Cores that it uses, with the processes that it started.");
  see("cpu_seconds", rounded_seconds(rank.cpu_time), "Cpu time since its start, in seconds.");
  see("memory", rank.memory, "Resident memory, in bytes.");
  see("peak_memory", rank.peak_memory, "The most of it in any sample so far, in bytes.");
  see("read", rank.read, "Bytes from storage since its start.");
  see("written", rank.written, "Bytes to storage since its start.");
}

void keys(const RankTotals& totals, See& see) {
  const RankUse& rank = totals.use;
  see("rank", rank.rank, "Its number in the whole job.");
  see("cpu_seconds", rounded_seconds(rank.cpu_time),
      "Cpu time, with the processes that it started, in seconds.");
  see("peak_memory", rank.peak_memory,
      "The most resident memory: of all its processes in any sample, or of one of them at any "
      "time, in bytes.");
  see("read", rank.read, "Bytes from storage.");
  see("written", rank.written, "Bytes to storage.");
}

void keys(const UsageNow& use, See& see) {
  const auto gpu_memory = use.gpu_percent ? std::optional(use.gpu_memory) : std::nullopt;
  see("cpu", cores_of(use.sum.cpu_milli), "Cores that its ranks use.");
  see("cpu_seconds", rounded_seconds(use.sum.cpu_time),
      "Cpu time of its ranks since their start, in seconds.");
  see("memory", use.sum.memory, "Resident memory of its ranks, in bytes.");
  see("peak_memory", use.sum.peak_memory, "Sum of its ranks' peaks, in bytes.");
  see("read", use.sum.read, "Bytes from storage since its start.");
  see("written", use.sum.written, "Bytes to storage since its start.");
  see("gpu_percent", use.gpu_percent,
      "Mean of the GPUs that it holds there; null: it holds none, or that is unknown.", kPercent);
  see("gpu_memory", gpu_memory, "Used memory of these GPUs, in bytes.");
  see("age_seconds", rounded_seconds(use.age), kAge);
  see("stale", use.stale, kStale);
}

void keys(const MeasuredNode& node, See& see) {
  const NodeUse& use = node.use;
  see.page("node-use", "Use of a node", "What a node uses, as its agent sampled it last.");
  see("cpu", cores_of(use.cpu_milli),
      "Cores that are busy, of the cpus that the node offers, by whatever process.");
  see("memory", use.memory,
      "Used memory of the machine, or of the agent's cgroup if that has a limit, in bytes.");
  see("disk_used", use.disk_used, "Of the file system that holds the attempts, in bytes.");
  see("disk_total", use.disk_total, "Size of that file system, in bytes.");
  see("received_per_second", use.received_per_second,
      "Bytes a second that all its network interfaces receive, without loopback.");
  see("sent_per_second", use.sent_per_second, "Bytes a second that they send.");
  see("gpus", use.gpus,
      "The GPUs that the node offers; empty: it has none, or they do not say what they do.");
  see("age_seconds", rounded_seconds(node.age), kAge);
  see("stale", node.stale, kStale);
  see("history", node.history,
      "Samples of the last ten minutes, the oldest first; only in `node show`.");
}

void keys(const MeasuredPart& part, See& see) {
  see.page("part-use", "Use of a part",
           "What the ranks of a job on one node use, as they were sampled last.");
  see("ranks", part.ranks, "Those that run.");
  see("quiet_seconds", rounded_seconds(part.quiet),
      "For so long they have written nothing and used no cpu.");
  see("age_seconds", rounded_seconds(part.age), kAge);
  see("stale", part.stale, kStale);
}

void keys(const NodeUsage& node, See& see) {
  see("name", node.name, "Its name.");
  see("node_id", node.id, "Its number.");
  see("liveness", node.liveness, "ALIVE: heard of lately; LOST: given up.");
  see("draining", node.draining, "Nothing new is placed on it.");
  see("cpus", node.cpus, "How many it offers.");
  see("memory", node.memory, "What it offers, in bytes.");
  see("gpus", node.gpus.size(), "How many it offers.");
  see("jobs", node.jobs, "How many attempts it holds.");
  see("use", node.use, "null: it reports none.");
}

void keys(const PartUsage& part, See& see) {
  see("node_name", part.node_name, "Its node.");
  see("node_rank", part.node_rank, "Its place among the job's nodes.");
  see("ranks", part.ranks, "How many ranks run there.");
  see("cpus", part.cpus, "How many cpus the job holds there.");
  see("memory", part.memory, "Memory that it holds there, in bytes.");
  see("gpus", part.gpus, "How many GPUs it holds there.");
  see("use", part.use, "null: unknown, or you may not read the job.");
}

void keys(const JobUsage& job, See& see) {
  const auto silent =
      job.silent == Duration::zero() ? std::nullopt : std::optional(rounded_seconds(job.silent));
  see("name", job.job, "Its name.");
  see("created_by", job.submitter, "Who submitted it.");
  see("status", job.status, "Azure ML's word for its state.");
  see("attempt", job.attempt, "The number of the attempt that runs.");
  see("silent_seconds", silent,
      "It has been silent for so long; null: it has not, or that is unknown.");
  see("parts", job.parts, "One for each node, by node rank.");
}

void keys(const UsageReply& usage, See& see) {
  see.page("usage", "Use", "What nodes and jobs use now, as `lockstep top` prints it.");
  see("nodes", usage.nodes, "All nodes; empty with --jobs.");
  see("jobs", usage.jobs,
      "The jobs that hold nodes, as far as you may see them; empty with --nodes.");
  see("more_jobs", usage.more, "So many more jobs are left out, because there are very many.");
}

}  // namespace lockstep::api
