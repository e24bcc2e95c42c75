// torch.distributed's env:// rendezvous: variables only, named as torchrun names them
// (pytorch.org/docs, "torchrun: environment variables") and as Azure ML's pytorch distribution
// does.

#include <algorithm>

#include "common/base/check.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/variables.h"

namespace lockstep::runner {
namespace {

class TorchBootstrap final : public Bootstrap {
 public:
  explicit TorchBootstrap(const GangContext& gang) : gang_(gang) {}

  void begin(Begun begun) override {
    CHECK(gang_.gang().master_port != 0, "a torch gang has a leased master port");
    begun({});
  }

  void environment(int rank, int local_rank, Prepared prepared) override {
    const Assignment& assignment = gang_.assignment;
    Variables out(gang_);
    out.set("MASTER_ADDR", gang_.gang().members.front().address);
    out.set("MASTER_PORT", gang_.gang().master_port);
    out.set("WORLD_SIZE", gang_.world_size());
    out.set("RANK", rank);
    out.set("LOCAL_RANK", local_rank);
    out.set("LOCAL_WORLD_SIZE", assignment.ranks_here());
    out.set("NODE_RANK", assignment.node_rank);
    out.set("GROUP_RANK", assignment.node_rank);
    out.set("GROUP_WORLD_SIZE", assignment.nodes());
    out.set("ROLE_RANK", rank);
    out.set("ROLE_WORLD_SIZE", gang_.world_size());
    // As torchrun does, so that ranks of one node do not fight for its cores; but by our share.
    const int cpus = static_cast<int>(assignment.allotment.cpus.size());
    if (assignment.ranks_here() > 1) {
      out.set("OMP_NUM_THREADS", std::max(1, cpus / assignment.ranks_here()));
    }
    prepared(out.take());
  }

  void receive(const GangMessage&) override {}
  void end() override {}

 private:
  const GangContext& gang_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_torch_bootstrap(const GangContext& gang) {
  return std::make_unique<TorchBootstrap>(gang);
}

}  // namespace lockstep::runner
