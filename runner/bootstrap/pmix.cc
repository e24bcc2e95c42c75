// The PMIx part of MPI ranks without mpirun: lockstep-pmix is their server, and this class is its
// host (DESIGN §6). Fences use the gang's tree. A rank's data is requested from the runner of that
// rank.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/io/beneath.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/mpi_settings.h"
#include "runner/bootstrap/network.h"
#include "runner/bootstrap/rank_variables.h"
#include "runner/bootstrap/refused_calls.h"
#include "runner/bootstrap/torchrun.h"
#include "runner/gang/collective.h"
#include "runner/gang/gang_tree.h"
#include "runner/pmix/client.h"
#include "runner/pmix/directories.h"

namespace lockstep::runner {
namespace {

constexpr int kAzureMasterPort = 6105;  // used when no port was leased: MPI does not use the port

class PmixBootstrap final : public Bootstrap {
 public:
  PmixBootstrap(const GangContext& gang, std::unique_ptr<pmix::Client> server,
                BootstrapEvents events)
      : gang_(gang),
        events_(std::move(events)),
        directories_(pmix::Directories::below(gang.tmp_directory)),
        fences_(GangTree(gang.assignment.node_rank, gang.assignment.nodes(), gang.radix),
                gang.assignment.ranks_here()),
        server_(std::move(server)) {
    CHECK(server_, "an MPI gang has a PMIx server");
  }
  ~PmixBootstrap() override { end(); }

  void begin(Begun begun) override;
  void environment(int rank, int local_rank, Prepared prepared) override;
  void receive(const GangMessage& message) override;
  void end() override;
  Instant next_deadline() const override;
  void expire(Instant now) override;

 private:
  Status prepare_folders();
  RankVariables complete(const RankVariables& connection, int rank, int local_rank) const;
  pmix::Client::Events server_events();
  pmix::Job job() const;
  Status make_directory(const std::string& path);
  void on_fence(const std::set<int>& ranks, bool whole_job, std::string data,
                pmix::Client::Reply reply);
  void on_modex(int rank, pmix::Client::Reply reply);
  void on_aborted(int rank, int code, std::string message);
  void perform(std::vector<FenceTree::Step> steps);
  void perform_step(FenceTree::Climb& step) { events_.send(std::move(step.part)); }
  void perform_step(FenceTree::Descend& step) { events_.send(std::move(step.done)); }
  void perform_step(FenceTree::Complete& step);
  void serve(const ModexRequest& request);
  void settle(const ModexReply& reply);

  const GangContext& gang_;
  BootstrapEvents events_;
  const pmix::Directories directories_;
  FenceTree fences_;
  std::map<std::pair<std::string, std::uint64_t>, pmix::Client::Reply> fence_calls_;
  std::map<std::uint64_t, pmix::Client::Reply> modex_calls_;
  std::uint64_t last_modex_ = 0;
  RefusedCalls refused_;
  std::unique_ptr<pmix::Client> server_;  // the last member, so that it is destroyed first
};

// The directory is below the ranks' TMPDIR. It is theirs, so they may rename files in it at any
// time.
Status PmixBootstrap::make_directory(const std::string& path) {
  const std::string below = path.substr(gang_.tmp_directory.size() + 1);
  const auto slash = below.rfind('/');
  TRY_ASSIGN(const io::Folder tmp, io::Folder::open(gang_.tmp_directory));
  TRY_ASSIGN(const io::Folder in, tmp.enter(slash == below.npos ? "." : below.substr(0, slash)));
  const bool is_theirs = geteuid() == 0;
  TRY(in.make_for(
      below.substr(slash + 1),
      {is_theirs ? gang_.run_as.uid : geteuid(), is_theirs ? gang_.run_as.gid : getegid()}, 0700));
  return {};
}

Status PmixBootstrap::prepare_folders() {
  if (!loopback_is_up()) {
    return make_error(
        ErrorCode::unavailable,
        "the loopback interface is down in this network namespace, but MPI ranks reach "
        "their runner over it: ip link set lo up");
  }
  TRY(make_directory(directories_.server));
  TRY(make_directory(directories_.job()));
  TRY(make_directory(directories_.shared_memory()));
  const Assignment& assignment = gang_.assignment;
  for (int i = 0; i < assignment.ranks_here(); ++i) {
    TRY(make_directory(directories_.rank(assignment.first_rank() + i)));
  }
  return {};
}

void PmixBootstrap::begin(Begun begun) {
  if (Status made = prepare_folders(); !made) return begun(std::move(made));
  server_->start(job(), directories_.server, server_events(), std::move(begun));
}

pmix::Job PmixBootstrap::job() const {
  const Assignment& assignment = gang_.assignment;
  return {to_string(assignment.attempt), pmix_node_names(gang_.gang()), assignment.node_rank,
          assignment.ranks_here()};
}

Instant PmixBootstrap::next_deadline() const {
  return server_ ? server_->next_deadline() : Instant::never();
}

void PmixBootstrap::expire(Instant now) {
  if (server_) server_->expire(now);
}

pmix::Client::Events PmixBootstrap::server_events() {
  return {
      events_.connected,
      events_.finalized,
      [this](int rank, int code, std::string message) {
        on_aborted(rank, code, std::move(message));
      },
      [this](const std::set<int>& ranks, bool whole_job, std::string data,
             pmix::Client::Reply reply) {
        on_fence(ranks, whole_job, std::move(data), std::move(reply));
      },
      [this](int rank, pmix::Client::Reply reply) { on_modex(rank, std::move(reply)); },
      [this](int rank, std::string what) { refused_.note(rank, std::move(what)); },
      events_.lost,
  };
}

void PmixBootstrap::environment(int rank, int local_rank, Prepared prepared) {
  server_->register_rank(
      rank, gang_.rank_user().uid, gang_.rank_user().gid,
      [this, rank, local_rank, prepared = std::move(prepared)](Result<RankVariables> connection) {
        prepared(connection ? complete(*connection, rank, local_rank) : std::move(connection));
      });
}

PmixBootstrap::RankVariables PmixBootstrap::complete(const RankVariables& connection, int rank,
                                                     int local_rank) const {
  Variables out(gang_);
  for (const auto& [name, value] : connection) out.force(name, value);
  out.force("PMIX_MCA_gds", "hash");  // the same module as the server's
  set_open_mpi(gang_, directories_, rank, local_rank, &out);
  set_torchrun(gang_, rank, local_rank, &out);
  const std::string& master = gang_.gang().members.front().address;
  const int port = gang_.gang().master_port ? gang_.gang().master_port : kAzureMasterPort;
  out.set("AZ_BATCH_MASTER_NODE", fmt::format("{}:{}", master, port));
  out.set("AZ_BATCHAI_MPI_MASTER_NODE", master);
  return out.take();
}

void PmixBootstrap::receive(const GangMessage& message) {
  if (const auto* part = std::get_if<FencePart>(&message)) {
    perform(fences_.receive(*part));
  } else if (const auto* done = std::get_if<FenceDone>(&message)) {
    perform(fences_.receive(*done));
  } else if (const auto* request = std::get_if<ModexRequest>(&message)) {
    serve(*request);
  } else if (const auto* reply = std::get_if<ModexReply>(&message)) {
    settle(*reply);
  }
}

void PmixBootstrap::on_fence(const std::set<int>& ranks, bool whole_job, std::string data,
                             pmix::Client::Reply reply) {
  const std::string signature = fence_signature("fence", ranks, whole_job);
  std::uint64_t sequence = 0;
  auto steps = fences_.contribute(signature, std::move(data), &sequence);
  fence_calls_[{signature, sequence}] = std::move(reply);
  events_.fence(true);
  perform(std::move(steps));
}

void PmixBootstrap::perform(std::vector<FenceTree::Step> steps) {
  for (FenceTree::Step& step : steps) {
    std::visit([this](auto& each) { perform_step(each); }, step);
  }
}

void PmixBootstrap::perform_step(FenceTree::Complete& step) {
  const auto call = fence_calls_.find({step.signature, step.sequence});
  if (call == fence_calls_.end()) return;
  std::string all;
  for (const auto& [node, blob] : step.blobs) all += blob;
  call->second(true, all);
  fence_calls_.erase(call);
  events_.fence(false);
}

void PmixBootstrap::on_modex(int rank, pmix::Client::Reply reply) {
  const std::uint64_t id = ++last_modex_;
  modex_calls_[id] = std::move(reply);
  const Assignment& assignment = gang_.assignment;
  events_.send(ModexRequest{id, assignment.node_rank, rank / assignment.ranks_here(), rank});
}

void PmixBootstrap::serve(const ModexRequest& request) {
  if (!server_) return;
  server_->fetch(request.rank, [this, request](bool ok, const std::string& data) {
    events_.send(ModexReply{request.id, request.from_node, ok, data});
  });
}

void PmixBootstrap::settle(const ModexReply& reply) {
  const auto call = modex_calls_.find(reply.id);
  if (call == modex_calls_.end()) return;
  call->second(reply.found, reply.data);
  modex_calls_.erase(call);
}

void PmixBootstrap::on_aborted(int rank, int code, std::string message) {
  if (message == "N/A") message.clear();  // the library writes this if there is no message
  events_.aborted(rank, code, refused_.explain(rank, std::move(message)));
}

// The ranks have ended, so calls that are still open are answered with an error.
void PmixBootstrap::end() {
  if (!server_) return;
  server_.reset();
  fence_calls_.clear();
  modex_calls_.clear();
  // Files that cannot be removed go with the attempt's directory; nothing depends on them.
  const auto tmp = io::Folder::open(gang_.tmp_directory);
  if (tmp) static_cast<void>(tmp->remove(directories_.server.substr(tmp->shown().size() + 1)));
}

}  // namespace

std::unique_ptr<Bootstrap> make_pmix_bootstrap(const GangContext& gang,
                                               std::unique_ptr<pmix::Client> server,
                                               BootstrapEvents events) {
  return std::make_unique<PmixBootstrap>(gang, std::move(server), std::move(events));
}

}  // namespace lockstep::runner
