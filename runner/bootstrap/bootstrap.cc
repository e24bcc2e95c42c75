#include "runner/bootstrap/bootstrap.h"

#include <utility>

#include "common/base/check.h"

namespace lockstep::runner {

std::unique_ptr<Bootstrap> make_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                          BootstrapEvents events) {
  switch (gang.assignment.spec.distribution.kind) {
    case Distribution::Kind::none: return make_none_bootstrap(gang);
    case Distribution::Kind::pytorch: return make_torch_bootstrap(gang);
    case Distribution::Kind::mpi: return make_pmix_bootstrap(gang, loop, std::move(events));
  }
  CHECK(false, "a distribution kind outside its enumeration");
}

}  // namespace lockstep::runner
