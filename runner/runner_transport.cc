// Jobs that want RDMA: whether this node's ranks can use it, before they start, and whether they
// do, while they run. If RDMA is required, the job ends with the reason; if it is preferred, the
// reason is a note.

#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/rdma.h"
#include "runner/container/infiniband.h"
#include "runner/fabric/rdma_obstacle.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr int kMayRaiseLimits = 24;  // CAP_SYS_RESOURCE of linux/capability.h

bool may_raise_limits() {
  return geteuid() == 0 && prctl(PR_CAPBSET_READ, kMayRaiseLimits, 0, 0, 0) == 1;
}

bool locks_memory_freely() {
  rlimit limit{};
  return getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_max == RLIM_INFINITY ||
         limit.rlim_max >= static_cast<rlim_t>(kLeastLockedMemory);
}

// The first rank's settings: ranks differ in the devices that they use, not in whether they may use
// them.
void add_settings(const NetworkSettings& settings, TransportFacts& facts) {
  for (const NetworkSetting& one : settings) {
    facts.variables.emplace(one.name, one.value);
    if (one.source == SettingSource::user) continue;
    facts.set_by[one.name] = {one.source, one.reason};
  }
}

}  // namespace

// Checks RDMA before the start. Only the engine knows a container's limit; it tells whether there
// is one, and node_setup notes that. Without the node's fabric, the agent is older than this check.
void Runner::check_rdma() {
  const Assignment& assignment = orders_.assignment;
  const Rdma wanted = assignment.spec.resources.rdma;
  if (wanted == Rdma::off || orders_.fabric.interfaces.empty()) return;
  NodeFabric fabric = orders_.fabric;
  refresh_states(read_port_traffic(), fabric);
  fabric.has_infiniband_devices = !infiniband_devices().empty();
  RdmaRequest request;
  request.alone = assignment.nodes() == 1;
  request.may_lock_all =
      orders_.container() != nullptr || setup_.run_as.uid == 0 || may_raise_limits();
  request.variables = assignment.spec.environment_variables;
  const auto obstacle = rdma_obstacle(fabric, request);
  if (!obstacle) return;
  RdmaIsNotUsed why{wanted, *obstacle};
  spdlog::warn("{}", log_text(why));
  if (wanted == Rdma::required)
    return is_of_job(*obstacle) ? feed(SetupFailed{Cause::no_rdma, *obstacle})
                                : feed(SetupFailed{Cause::start_failed, why});
  if (request.alone) return;
  why.uses_tcp = cannot_use_rdma_ = leaves_tcp_alone(*obstacle);
  transport_notes_ = {why};
}

// Ranks on one host need no network. If RDMA cannot be used, that was reported before.
void Runner::watch_transport() {
  const Assignment& assignment = gang_->assignment;
  const bool wants = assignment.spec.resources.rdma != Rdma::off;
  if (!wants || cannot_use_rdma_ || !spans_hosts(gang_->gang())) return;
  const Container* container = orders_.container();
  TransportFacts facts;
  facts.variables = assignment.spec.environment_variables;
  if (!gang_->network.empty()) add_settings(gang_->network.front(), facts);
  facts.has_device_files = !infiniband_devices().empty();
  facts.in_container = container != nullptr;
  facts.memory_is_locked_freely =
      container != nullptr ? container->memlock_is_unlimited
                           : setup_.run_as.uid == 0 || may_raise_limits() || locks_memory_freely();
  transport_.emplace(TransportWatch::Where{directory_.tmp()}, std::move(facts), clock_.now());
}

// Called with each sample of the ranks of this node.
void Runner::note_standings(const RankStandings& standings) {
  standings_ = standings;
  peer_bytes_ = 0;
  all_in_mpi_ = !standings.empty() &&
                orders_.assignment.spec.distribution.kind == Distribution::Kind::mpi &&
                std::all_of(standings.begin(), standings.end(),
                            [](const RankStanding& rank) { return rank.connected; });
  for (const RankStanding& rank : standings) peer_bytes_ += rank.acked + rank.received;
}

// Looks at the transport. A likely finding becomes a note, since a job may use TCP before it begins
// to use RDMA. A later look replaces the note. Ranks that have ended anyway are not ended for it.
void Runner::look_at_transport(bool final) {
  if (!transport_) return;
  const TransportFinding finding =
      transport_->look(clock_.now(), {spawn_pid(), peer_bytes_, all_in_mpi_});
  const Why why = why_no_rdma(finding);
  if (finding.transport == Transport::unknown && !why) return;
  const Rdma wanted = orders_.assignment.spec.resources.rdma;
  const bool is_fallback = finding.transport == Transport::sockets && finding.is_certain;
  if (wanted == Rdma::required && is_fallback && !final) {
    spdlog::error("{}", log_text(why));
    transport_.reset();
    return feed(SetupFailed{Cause::no_rdma, why});
  }
  std::vector<Why> notes;
  if (finding.has_failed)
    notes.push_back(why);
  else if (why)
    notes.emplace_back(RdmaIsNotUsed{wanted, why});
  if (notes == transport_notes_) return;
  transport_notes_ = std::move(notes);
  spdlog::info("{}: {}", to_string(finding.transport), log_text(why));
  if (!final) perform(Report{core_.report()});
}

std::vector<Why> Runner::notes() const {
  std::vector<Why> all = setup_.isolation.for_job;
  for (const Why& note : transport_notes_)
    if (all.size() < kMaxNoteLines) all.push_back(note);
  return all;
}

}  // namespace lockstep::runner
