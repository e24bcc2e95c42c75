#include "runner/bootstrap/bootstrap.h"

#include <utility>

#include "common/base/check.h"

namespace lockstep::runner {

std::unique_ptr<Bootstrap> make_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                          std::unique_ptr<pmix::Client> server,
                                          BootstrapEvents events) {
  switch (gang.assignment.spec.distribution.kind) {
    case Distribution::Kind::none: return make_none_bootstrap(gang);
    case Distribution::Kind::pytorch: return make_torch_bootstrap(gang);
    case Distribution::Kind::tensorflow: return make_tensorflow_bootstrap(gang, std::move(events));
    case Distribution::Kind::ray: return make_ray_bootstrap(gang, std::move(events));
    case Distribution::Kind::mpi:
      return make_mpi_bootstrap(gang, loop, std::move(server), std::move(events));
  }
  CHECK(false, "a distribution kind outside its enumeration");
}

}  // namespace lockstep::runner
