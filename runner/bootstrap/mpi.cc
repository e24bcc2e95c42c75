// MPI ranks without mpirun: PMIx for Open MPI, and PMI-1 for the family of MPICH. A rank's library
// uses the one that it supports (docs/decisions/059-pmi1.md). A barrier of PMI-1 is a fence over
// the gang's tree.

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "common/base/digest.h"
#include "common/io/beneath.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/mpi_settings.h"
#include "runner/bootstrap/pmi1_server.h"
#include "runner/bootstrap/rank_variables.h"
#include "runner/bootstrap/refused_calls.h"
#include "runner/gang/collective.h"
#include "runner/gang/gang_tree.h"

namespace lockstep::runner {
namespace {

// The name is the same on all nodes of the gang and differs between attempts. MPICH 5 names its
// shared memory after it, and would use segments of another attempt with that name.
std::string name_of_keys(const GangContext& gang) {
  std::string unique = to_string(gang.assignment.attempt);
  unique += ' ' + gang.gang().members.front().runner_key.value;
  if (gang.assignment.nodes() == 1)  // a gang of one node has no key
    unique += fmt::format(" {} {}", gang.tmp_directory, getpid());
  return "ls-" + sha256(unique).hex().substr(0, 16);
}

Pmi1Protocol::Job pmi1_job(const GangContext& gang) {
  const Assignment& assignment = gang.assignment;
  return {name_of_keys(gang), assignment.nodes(), assignment.ranks_here(), assignment.first_rank()};
}

// Computes FNV-1a, the hash by which MPICH 5 shortens the name.
std::uint32_t world_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// Removes shared memory: killed ranks of MPICH 5 leave these files; earlier versions unlink theirs
// in MPI_Init.
void remove_shared_memory(const GangContext& gang) {
  const auto folder = io::Folder::open("/dev/shm");
  if (!folder) return;
  for (const char* kind : {"shm", "vci"})
    static_cast<void>(folder->remove(fmt::format(
        "mpich_{}_{:x}_{}", kind, world_of(name_of_keys(gang)), gang.assignment.node_rank)));
}

class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(const GangContext& gang, io::EventLoop& loop, std::unique_ptr<pmix::Client> server,
               BootstrapEvents events)
      : gang_(gang),
        events_(events),
        fences_(GangTree(gang.assignment.node_rank, gang.assignment.nodes(), gang.radix),
                gang.assignment.ranks_here()),
        pmi1_(std::make_unique<Pmi1Server>(loop, pmi1_job(gang), pmi1_events())),
        pmix_(make_pmix_bootstrap(gang, std::move(server), std::move(events))) {}

  void begin(Begun begun) override { pmix_->begin(std::move(begun)); }
  void environment(int rank, int local_rank, Prepared prepared) override;
  io::Fd connection(int rank) override { return std::exchange(connections_[rank], io::Fd()); }
  void receive(const GangMessage& message) override;
  void end() override {
    pmi1_.reset();
    connections_.clear();
    if (!gang_.container) remove_shared_memory(gang_);
    pmix_->end();
  }
  Instant next_deadline() const override { return pmix_->next_deadline(); }
  void expire(Instant now) override { pmix_->expire(now); }

 private:
  Pmi1Server::Events pmi1_events();
  void perform(std::vector<FenceTree::Step> steps);
  void perform_step(FenceTree::Climb& step) { events_.send(std::move(step.part)); }
  void perform_step(FenceTree::Descend& step) { events_.send(std::move(step.done)); }
  void perform_step(FenceTree::Complete& step);

  const std::string signature_ = fence_signature("pmi1", {}, true);
  const GangContext& gang_;
  BootstrapEvents events_;
  RefusedCalls refused_;
  FenceTree fences_;  // the barriers of all nodes: each node takes part once in each
  std::map<int, io::Fd> connections_;  // the ends for ranks that are not started yet
  std::unique_ptr<Pmi1Server> pmi1_;
  std::unique_ptr<Bootstrap> pmix_;
};

Pmi1Server::Events MpiBootstrap::pmi1_events() {
  return {
      events_.connected,
      events_.finalized,
      [this](int rank, int code, std::string message) {
        // MPICH sends this text if there is no message.
        const bool is_empty = message.compare("abort") == 0;
        events_.aborted(rank, code, refused_.explain(rank, is_empty ? "" : std::move(message)));
      },
      [this](int rank, std::string what) { refused_.note(rank, std::move(what)); },
      [this](std::string new_keys) {
        std::uint64_t sequence = 0;
        events_.fence(true);
        perform(fences_.contribute(signature_, std::move(new_keys), &sequence));
      },
  };
}

void MpiBootstrap::environment(int rank, int local_rank, Prepared prepared) {
  auto connection = pmi1_->connect(rank);
  if (!connection) return prepared(connection.error());
  connections_[rank] = *std::move(connection);
  pmix_->environment(rank, local_rank,
                     [this, rank, prepared = std::move(prepared)](Result<RankVariables> variables) {
                       if (variables)
                         variables->merge(pmi1_variables(gang_, rank, kRankConnectionFd));
                       prepared(std::move(variables));
                     });
}

void MpiBootstrap::receive(const GangMessage& message) {
  const auto* part = std::get_if<FencePart>(&message);
  const auto* done = std::get_if<FenceDone>(&message);
  if (part != nullptr && part->signature == signature_) return perform(fences_.receive(*part));
  if (done != nullptr && done->signature == signature_) return perform(fences_.receive(*done));
  pmix_->receive(message);
}

void MpiBootstrap::perform(std::vector<FenceTree::Step> steps) {
  for (FenceTree::Step& step : steps) std::visit([this](auto& each) { perform_step(each); }, step);
}

void MpiBootstrap::perform_step(FenceTree::Complete& step) {
  std::string all;
  for (const auto& [node, new_keys] : step.blobs) all += new_keys;
  events_.fence(false);
  if (pmi1_) pmi1_->end_barrier(all);
}

}  // namespace

std::unique_ptr<Bootstrap> make_mpi_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                              std::unique_ptr<pmix::Client> server,
                                              BootstrapEvents events) {
  return std::make_unique<MpiBootstrap>(gang, loop, std::move(server), std::move(events));
}

}  // namespace lockstep::runner
