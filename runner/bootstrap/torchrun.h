#pragma once
// The variables of torch.distributed's env:// rendezvous, named as torchrun names them
// (pytorch.org/docs, "torchrun: environment variables"). DeepSpeed, Accelerate and Lightning read
// them too, whatever started the ranks.

namespace lockstep::runner {

struct GangContext;
class Variables;

void set_torchrun(const GangContext& gang, int rank, int local_rank, Variables* out);

}  // namespace lockstep::runner
