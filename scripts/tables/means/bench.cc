#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <algorithm>
#include "common/base/digest.h"
#include "means/codec.h"
#include "proto/compute.pb.h"
#include "proto/journal.pb.h"
using namespace lockstep;
namespace {
std::string text(int n, int size) { return "text_" + std::to_string(n) + std::string(size, 'x'); }
RankExit rank_exit(int n) {
  RankExit e; e.rank = n; e.local_rank = n % 8; e.exit_code = 1; e.signal = n % 3; e.cause = Cause::exit_code;
  e.time = {1'700'000'000'000'000'000 + n}; e.stderr_tail = text(n, 800); e.detail = text(n, 20); e.cpu_time = seconds(n);
  e.peak_memory = mebibytes(300); e.read = mebibytes(3); e.written = mebibytes(4);
  LostPeer p; p.address = "10.0.0.4"; p.node_rank = 3; RankEnd end; end.rank = 4; end.exit_code = 2; end.failed = true; end.time = e.time; p.end = end; e.lost_peer = p;
  e.backtrace = text(n, 200); return e;
}
ExitReport exit_report() {
  ExitReport r; r.cause = Cause::signal; r.exit_code = 137; r.rank = 3; r.node = NodeId(7); r.node_name = "node-7"; r.time = {1'700'000'000'000'000'000};
  r.message = text(1, 60); r.stderr_tail = text(2, 1000); for (int i = 0; i < 64; ++i) r.terminated_ranks.push_back(i);
  for (int i = 0; i < 3; ++i) { PossibleFirst p; p.cause = Cause::exit_code; p.rank = i; p.node = NodeId(i); p.node_name = text(i, 4); p.time = r.time; p.message = text(i, 40); r.also.push_back(p); }
  for (int i = 0; i < 4; ++i) { NodeClock c; c.node_name = text(i, 3); c.offset = {-milliseconds(200 + i), milliseconds(3)}; r.clocks.push_back(c); }
  r.lifetime = seconds(3); r.lost_peer = rank_exit(1).lost_peer; r.backtrace = text(1, 300); return r;
}
ComputeSpec compute() {
  ComputeSpec c; c.name = "gpu-cluster"; c.type = ComputeType::amlcompute; c.description = text(1, 50); c.location = "here"; c.tags = {{"a", "b"}, {"team", "vision"}};
  c.source = NodeSource::ssh; for (int i = 0; i < 8; ++i) { SshHost h; h.name = text(i, 3); h.address = "10.0.0." + std::to_string(i); h.user = "ann"; h.port = 22; h.key = "/home/ann/.ssh/id"; h.directory = "/opt/l"; c.hosts.push_back(h); }
  c.tunnel = "auto"; c.size = "large"; c.scale.max_instances = 10; c.settings = {{"image", {"a", "b"}}, {"args", {"x", "y", "z"}}}; c.instance.idle_time = seconds(60); c.labels = {{"rack", "7"}}; return c;
}
Inventory inventory() {
  Inventory v; v.hostname = "node-7"; v.os = "Debian GNU/Linux 12 (bookworm)"; v.kernel = "6.1.0-18-amd64"; v.architecture = "x86_64"; v.glibc = "2.36"; v.cuda = "12.4";
  for (int i = 0; i < 128; ++i) v.cpus.push_back(i);
  v.sockets = 2; v.numa_nodes = 4; v.memory = gibibytes(512); v.disk_free = gibibytes(900);
  for (int i = 0; i < 8; ++i) { GpuDevice g; g.index = i; g.uuid = text(i, 36); g.name = "NVIDIA H200"; g.pci_bus_id = "00000000:01:00.0"; g.memory = gibibytes(139); g.numa_node = i / 2; v.gpus.push_back(g); }
  for (int i = 0; i < 6; ++i) { NetworkInterface n; n.name = "eth" + std::to_string(i); n.addresses = {"10.0.0.7", "fe80::1234:5678"}; n.speed_mbps = 100'000; n.up = true; v.interfaces.push_back(n); }
  for (int i = 0; i < 8; ++i) { RdmaPort p; p.device = "mlx5_" + std::to_string(i); p.state = "ACTIVE"; p.rate_gbps = 400; p.link_layer = "InfiniBand"; p.subnet_prefix = "fe80:0000:0000:0000"; p.pkeys = {0xffff, 0x8001}; v.rdma_ports.push_back(p); }
  v.address = "10.0.0.7"; v.host_id = text(1, 20); v.network = "local"; v.user = "root"; v.isolation = "cgroup-v2"; v.workdir_mode = "overlay"; v.limitations = {text(1, 80)};
  v.caps.pids = 1000; v.unenforced.emplace()["memory"] = "no cgroup"; v.container_engine = "docker"; return v;
}
ResourceRequest resources() {
  ResourceRequest r; r.instance_count = 4; r.cpus = 8; r.memory = gibibytes(16); r.gpus = 2; r.shm_size = gibibytes(1); r.docker_args = {"--cap-add", "X"}; r.instance_type = "large"; r.rdma = Rdma::preferred; r.labels = {{"rack", "7"}, {"zone", "a"}}; r.nodes = {"n1", "n2"}; return r;
}
launcher::PartGone gone() {
  launcher::PartGone f; f.attempt.job = JobId("gray_pig_knyllgjbkl"); f.attempt.number = 1; f.node = NodeId(9); f.why = text(1, 50); f.fenced_until = {1'700'000'000'000'000'000}; return f;
}
launcher::TokenCreated token() {
  launcher::TokenCreated f; f.secret_hash = sha256("x"); f.expires = {1'700'000'000'000'000'000}; f.uses = 3; f.approval = Approval::waived; f.pool = "local"; f.by = "ann"; return f;
}
double ns_of(auto&& what) {  // the least of several rounds
  double best = 1e18;
  for (int round = 0; round < 9; ++round) {
    int n = 0; const auto start = std::chrono::steady_clock::now(); double took = 0;
    do { for (int i = 0; i < 200; ++i) what(); n += 200; took = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count(); } while (took < 8e6);
    best = std::min(best, took / n);
  }
  return best;
}
template <class Wire, class T>
void measure(const char* name, const T& value) {
  std::string bytes; { Wire w; means::write(value, &w); w.SerializeToString(&bytes); }
  { Wire w; w.ParseFromString(bytes); T back; const Status s = means::read(w, &back); if (!s || !(back == value)) { std::printf("%s: not the same: %s\n", name, s ? "" : s.error().message.c_str()); } }
  const double put = ns_of([&] { Wire w; means::write(value, &w); asm volatile("" ::"r"(&w) : "memory"); });
  const double encode = ns_of([&] { Wire w; means::write(value, &w); std::string b; w.SerializeToString(&b); asm volatile("" ::"r"(&b) : "memory"); });
  Wire parsed; parsed.ParseFromString(bytes);
  const double get = ns_of([&] { T back; (void)means::read(parsed, &back).has_value(); asm volatile("" ::"r"(&back) : "memory"); });
  const double decode = ns_of([&] { Wire w; w.ParseFromString(bytes); T back; (void)means::read(w, &back).has_value(); asm volatile("" ::"r"(&back) : "memory"); });
  std::printf("%-16s %5zu B sha %s  put %6.0f encode %6.0f  get %6.0f decode %6.0f\n", name, bytes.size(), sha256(bytes).hex().substr(0, 8).c_str(), put, encode, get, decode);
}
}
int main() {
  measure<pb::ExitReport>("ExitReport", exit_report());
  measure<pb::RankExit>("RankExit", rank_exit(3));
  measure<pb::ComputeSpec>("ComputeSpec", compute());
  measure<pb::Inventory>("Inventory", inventory());
  measure<pb::ResourceRequest>("ResourceRequest", resources());
  measure<pb::PartGone>("PartGone", gone());
  measure<pb::TokenCreated>("TokenCreated", token());
}
