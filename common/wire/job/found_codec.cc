#include "common/wire/job/found_codec.h"

#include <algorithm>

#include "common/base/utf8.h"
#include "common/domain/job/spec.h"

namespace lockstep::pb {

namespace {

constexpr std::int64_t kMostOfRank = std::int64_t{1} << 53;  // of each number about a rank

// A text from a rank is cut, so that it never makes a message unreadable.
std::string found_text(const std::string& text) {
  return std::string(head(text, lockstep::kMaxFoundTextBytes));
}

std::string standing_text(const std::string& text) {
  return std::string(head(text, lockstep::kMaxStandingTextBytes));
}

Status read_found_text(const std::string& value, const char* field, std::string* out) {
  return read_text(value, field, out, lockstep::kMaxFoundTextBytes);
}

Status read_standing_text(const std::string& value, const char* field, std::string* out) {
  return read_text(value, field, out, lockstep::kMaxStandingTextBytes);
}

Status read_measure(std::int64_t value, const char* field, std::int64_t* out) {
  if (value < -kMostOfRank || value > kMostOfRank) return bad_field(field, "is out of range");
  *out = value;
  return {};
}

Status read_node_rank(std::int64_t value, const char* field, int* out) {
  return read_number(value, 0, lockstep::kMaxNodesPerJob - 1, field, out);
}

void to_wire(const lockstep::Hindrances& from, Hindrances* to) {
  to->set_throttled_milli(from.throttled_milli);
  to->set_queued_milli(from.queued_milli);
  to->set_disk_wait_milli(from.disk_wait_milli);
  to->set_major_faults(from.major_faults);
  to->set_cpu_mhz(from.cpu_mhz);
  to->set_cpu_mhz_at_most(from.cpu_mhz_at_most);
  to->set_gpu_held(standing_text(from.gpu_held));
}

Status from_wire(const Hindrances& from, lockstep::Hindrances* to) {
  TRY(read_measure(from.throttled_milli(), "hindrances.throttled", &to->throttled_milli));
  TRY(read_measure(from.queued_milli(), "hindrances.queued", &to->queued_milli));
  TRY(read_measure(from.disk_wait_milli(), "hindrances.disk_wait", &to->disk_wait_milli));
  TRY(read_measure(from.major_faults(), "hindrances.major_faults", &to->major_faults));
  TRY(read_measure(from.cpu_mhz(), "hindrances.cpu_mhz", &to->cpu_mhz));
  TRY(read_measure(from.cpu_mhz_at_most(), "hindrances.cpu_mhz_at_most", &to->cpu_mhz_at_most));
  return read_standing_text(from.gpu_held(), "hindrances.gpu_held", &to->gpu_held);
}

}  // namespace

void to_wire(const lockstep::CollectiveCount& from, CollectiveCount* to) {
  to->set_communicator(standing_text(from.communicator));
  to->set_name(standing_text(from.name));
  to->set_count(std::clamp(from.count, -kMostOfRank, kMostOfRank));
}

Status from_wire(const CollectiveCount& from, lockstep::CollectiveCount* to) {
  TRY(read_standing_text(from.communicator(), "collective.communicator", &to->communicator));
  TRY(read_standing_text(from.name(), "collective.name", &to->name));
  return read_measure(from.count(), "collective.count", &to->count);
}

namespace {

void write_times(const lockstep::RankStanding& from, RankStanding* to) {
  to->set_stack_at_ns(from.stack_at.ns);
  to->set_taken_ns(from.taken.ns);
  to->set_since_ns(from.since.ns);
  to->set_doing_since_ns(from.doing_since.ns);
  to->set_window_ns(from.window.count());
  if (from.last_received) to->set_last_received_ns(from.last_received->count());
  to->set_counted_ns(from.counted.ns);
  to->set_counts_since_ns(from.counts_since.ns);
}

Status read_times(const RankStanding& from, lockstep::RankStanding* to) {
  TRY(read_instant(from.stack_at_ns(), "standing.stack_at", &to->stack_at));
  TRY(read_instant(from.taken_ns(), "standing.taken", &to->taken));
  TRY(read_instant(from.since_ns(), "standing.since", &to->since));
  TRY(read_instant(from.doing_since_ns(), "standing.doing_since", &to->doing_since));
  TRY(read_duration(from.window_ns(), "standing.window", &to->window));
  if (from.has_last_received_ns())
    TRY(read_duration(from.last_received_ns(), "standing.last_received",
                      &to->last_received.emplace()));
  TRY(read_instant(from.counted_ns(), "standing.counted", &to->counted));
  return read_instant(from.counts_since_ns(), "standing.counts_since", &to->counts_since);
}

void write_measures(const lockstep::RankStanding& from, RankStanding* to) {
  to->set_cpu_milli(from.cpu_milli);
  to->set_threads(from.threads);
  to->set_threads_running(from.threads_running);
  to->set_threads_in_device(from.threads_in_device);
  to->set_processes(from.processes);
  to->set_shells(from.shells);
  to->set_pauses(from.pauses);
  to->set_peer_sockets(from.peer_sockets);
  to->set_acked(from.acked);
  to->set_received(from.received);
  to->set_unread(from.unread);
  to->set_unacked(from.unacked);
  to->set_unacked_by(standing_text(from.unacked_by));
  to->set_retransmits(from.retransmits);
  to->set_log_bytes(from.log_bytes);
  to->set_log_lines(from.log_lines);
  to_wire(from.hindrances, to->mutable_hindrances());
  const std::size_t counts = std::min(from.collectives.size(), lockstep::kMaxCollectiveCounts);
  for (std::size_t i = 0; i < counts; ++i) to_wire(from.collectives[i], to->add_collectives());
}

Status read_measures(const RankStanding& from, lockstep::RankStanding* to) {
  constexpr int kMany = 1 << 30;
  TRY(read_measure(from.cpu_milli(), "standing.cpu_milli", &to->cpu_milli));
  TRY(read_number(from.threads(), 0, kMany, "standing.threads", &to->threads));
  TRY(read_number(from.threads_running(), 0, kMany, "standing.threads_running",
                  &to->threads_running));
  TRY(read_number(from.threads_in_device(), 0, kMany, "standing.threads_in_device",
                  &to->threads_in_device));
  TRY(read_number(from.processes(), 0, kMany, "standing.processes", &to->processes));
  TRY(read_number(from.shells(), 0, kMany, "standing.shells", &to->shells));
  to->pauses = from.pauses();
  TRY(read_measure(from.peer_sockets(), "standing.peer_sockets", &to->peer_sockets));
  to->acked = from.acked();
  to->received = from.received();
  to->unread = from.unread();
  to->unacked = from.unacked();
  TRY(read_standing_text(from.unacked_by(), "standing.unacked_by", &to->unacked_by));
  to->retransmits = from.retransmits();
  to->log_bytes = from.log_bytes();
  to->log_lines = from.log_lines();
  TRY(from_wire(from.hindrances(), &to->hindrances));
  return read_list(from.collectives(), lockstep::kMaxCollectiveCounts, "standing.collectives",
                   &to->collectives);
}

}  // namespace

void to_wire(const lockstep::FoundRank& from, FoundRank* to) {
  to->set_rank(from.rank);
  to->set_node_rank(from.node_rank);
  to->set_doing(found_text(from.doing));
  to->set_call(found_text(from.call));
  to->set_on(found_text(from.on));
  to->set_at(found_text(from.at));
  to->set_cpu_milli(from.cpu_milli);
}

Status from_wire(const FoundRank& from, lockstep::FoundRank* to) {
  TRY(read_rank(from.rank(), "found.rank", &to->rank));
  TRY(read_node_rank(from.node_rank(), "found.node_rank", &to->node_rank));
  TRY(read_found_text(from.doing(), "found.doing", &to->doing));
  TRY(read_found_text(from.call(), "found.call", &to->call));
  TRY(read_found_text(from.on(), "found.on", &to->on));
  TRY(read_found_text(from.at(), "found.at", &to->at));
  return read_measure(from.cpu_milli(), "found.cpu_milli", &to->cpu_milli);
}

void to_wire(const lockstep::Found& from, Found* to) {
  to->set_kind(static_cast<int>(from.kind) + 1);
  to->set_verdict(static_cast<int>(from.verdict) + 1);
  const std::size_t ranks = std::min(from.ranks.size(), kMaxFoundRanks);
  for (std::size_t i = 0; i < ranks; ++i) to_wire(from.ranks[i], to->add_ranks());
  const std::size_t waiting = std::min(from.waiting.size(), kMaxFoundWaiting);
  for (std::size_t i = 0; i < waiting; ++i) to->add_waiting(from.waiting[i]);
  to->set_lasting_ns(from.lasting.count());
  to->set_since_ns(from.since.ns);
  to->set_fact(found_text(from.fact));
  to->set_here(from.here);
  to->set_elsewhere(from.elsewhere);
  to->set_about(static_cast<int>(from.about) + 1);
}

namespace {

// Earlier runners say it with the text of `fact`. A newer one may know what we do not.
FoundAbout about_of(const Found& from, FoundKind kind) {
  if (from.about() == 0 && kind == FoundKind::not_started && from.fact() == "the rendezvous")
    return FoundAbout::rendezvous;
  if (from.about() == 0 && kind == FoundKind::cycle && from.fact() == "lock")
    return FoundAbout::lock;
  const bool is_known =
      from.about() > 0 && from.about() <= static_cast<int>(last_enumerator(FoundAbout{})) + 1;
  return is_known ? static_cast<FoundAbout>(from.about() - 1) : FoundAbout::named;
}

}  // namespace

Status from_wire(const Found& from, lockstep::Found* to) {
  TRY(read_enum(from.kind(), FoundKind::different_versions, "found.kind", &to->kind));
  TRY(read_enum(from.verdict(), FoundVerdict::hangs, "found.verdict", &to->verdict));
  TRY(read_list(from.ranks(), kMaxFoundRanks, "found.ranks", &to->ranks));
  TRY(check_count(from.waiting_size(), kMaxFoundWaiting, "found.waiting"));
  for (const int rank : from.waiting())
    TRY(read_rank(rank, "found.waiting", &to->waiting.emplace_back()));
  TRY(read_duration(from.lasting_ns(), "found.lasting", &to->lasting));
  TRY(read_instant(from.since_ns(), "found.since", &to->since));
  TRY(read_found_text(from.fact(), "found.fact", &to->fact));
  to->here = from.here();
  to->elsewhere = from.elsewhere();
  to->about = about_of(from, to->kind);
  return {};
}

void write_found(const FoundList& from, FoundsOnWire* to) {
  const std::size_t count = std::min(from.size(), kMaxFound);
  for (std::size_t i = 0; i < count; ++i) to_wire(from[i], to->Add());
}

// A newer runner may know kinds and verdicts that we do not.
Status read_found(const FoundsOnWire& from, FoundList* to) {
  TRY(check_count(from.size(), kMaxFound, "found"));
  for (const Found& one : from) {
    const bool is_newer = one.kind() > static_cast<int>(FoundKind::different_versions) + 1 ||
                          one.verdict() > static_cast<int>(FoundVerdict::hangs) + 1;
    if (!is_newer) TRY(from_wire(one, &to->emplace_back()));
  }
  return {};
}

void to_wire(const lockstep::RankStanding& from, RankStanding* to) {
  to->set_rank(from.rank);
  to->set_node_rank(from.node_rank);
  to->set_pid(from.pid);
  to->set_doing(static_cast<int>(from.doing) + 1);
  to->set_call(standing_text(from.call));
  to->set_on(standing_text(from.on));
  to->set_own_end(standing_text(from.own_end));
  to->set_at(standing_text(from.at));
  to->set_within(standing_text(from.within));
  to->set_by_stack(from.by_stack);
  to->set_has_timeout(from.has_timeout);
  to->set_traced(from.traced);
  write_times(from, to);
  if (from.has_met) to->set_has_met(*from.has_met);
  to->set_connected(from.connected);
  to->set_finalized(from.finalized);
  to->set_fences(from.fences);
  to->set_in_fence(from.in_fence);
  to->set_exit_code(from.exit_code);
  to->set_claims(from.claims);
  write_measures(from, to);
  to->set_mpi(standing_text(from.versions.mpi));
  to->set_nccl(standing_text(from.versions.nccl));
  to->set_torch(standing_text(from.versions.torch));
}

Status from_wire(const RankStanding& from, lockstep::RankStanding* to) {
  TRY(read_rank(from.rank(), "standing.rank", &to->rank));
  TRY(read_node_rank(from.node_rank(), "standing.node_rank", &to->node_rank));
  to->pid = from.pid();
  TRY(read_enum(from.doing(), Doing::exited, "standing.doing", &to->doing));
  TRY(read_standing_text(from.call(), "standing.call", &to->call));
  TRY(read_standing_text(from.on(), "standing.on", &to->on));
  TRY(read_standing_text(from.own_end(), "standing.own_end", &to->own_end));
  TRY(read_standing_text(from.at(), "standing.at", &to->at));
  TRY(read_standing_text(from.within(), "standing.within", &to->within));
  to->by_stack = from.by_stack();
  to->has_timeout = from.has_timeout();
  to->traced = from.traced();
  TRY(read_times(from, to));
  if (from.has_has_met()) to->has_met = from.has_met();
  to->connected = from.connected();
  to->finalized = from.finalized();
  TRY(read_measure(from.fences(), "standing.fences", &to->fences));
  to->in_fence = from.in_fence();
  to->exit_code = from.exit_code();
  TRY(read_number(from.claims(), 0, 1 << 20, "standing.claims", &to->claims));
  TRY(read_measures(from, to));
  TRY(read_standing_text(from.mpi(), "standing.mpi", &to->versions.mpi));
  TRY(read_standing_text(from.nccl(), "standing.nccl", &to->versions.nccl));
  return read_standing_text(from.torch(), "standing.torch", &to->versions.torch);
}

void to_wire(const lockstep::RankPace& from, RankPace* to) {
  to->set_rank(from.rank);
  to->set_node_rank(from.node_rank);
  to->set_over_ns(from.over.count());
  to->set_samples(from.samples);
  to->set_waiting(from.waiting);
  to->set_moving(from.moving);
  to->set_cpu_milli(from.cpu_milli);
  to->set_log_lines(from.log_lines);
  to->set_retransmits(from.retransmits);
  to_wire(from.hindrances, to->mutable_hindrances());
}

Status from_wire(const RankPace& from, lockstep::RankPace* to) {
  constexpr int kMostSamples = 1'000'000;
  TRY(read_rank(from.rank(), "pace.rank", &to->rank));
  TRY(read_node_rank(from.node_rank(), "pace.node_rank", &to->node_rank));
  TRY(read_duration(from.over_ns(), "pace.over", &to->over));
  TRY(read_number(from.samples(), 0, kMostSamples, "pace.samples", &to->samples));
  TRY(read_number(from.waiting(), 0, kMostSamples, "pace.waiting", &to->waiting));
  TRY(read_number(from.moving(), 0, kMostSamples, "pace.moving", &to->moving));
  TRY(read_measure(from.cpu_milli(), "pace.cpu_milli", &to->cpu_milli));
  TRY(read_measure(from.log_lines(), "pace.log_lines", &to->log_lines));
  TRY(read_measure(from.retransmits(), "pace.retransmits", &to->retransmits));
  return from_wire(from.hindrances(), &to->hindrances);
}

void write_hang(const lockstep::HangPolicy& from, JobSpec* to) {
  to->set_hang_after_ns(from.after.count());
  to->set_on_hang(static_cast<int>(from.on));
}

// Absent in jobs from before there was such a policy.
Status read_hang(const JobSpec& from, lockstep::HangPolicy* to) {
  if (from.has_hang_after_ns()) TRY(read_duration(from.hang_after_ns(), "hang_after", &to->after));
  int on = 0;
  TRY(read_number(from.on_hang(), 0, static_cast<int>(OnHang::retry), "on_hang", &on));
  to->on = static_cast<OnHang>(on);
  return {};
}

}  // namespace lockstep::pb
