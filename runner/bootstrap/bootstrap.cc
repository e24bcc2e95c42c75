#include "runner/bootstrap/bootstrap.h"

#include <future>
#include <thread>

#include <utility>

#include "common/base/check.h"

namespace lockstep::runner {

std::unique_ptr<Bootstrap> make_bootstrap(const GangContext& gang, io::EventLoop& loop,
                                          BootstrapEvents events) {
  switch (gang.assignment.spec.distribution.kind) {
    case Distribution::Kind::none: return make_none_bootstrap(gang);
    case Distribution::Kind::pytorch: return make_torch_bootstrap(gang);
    case Distribution::Kind::tensorflow: return make_tensorflow_bootstrap(gang, std::move(events));
    case Distribution::Kind::ray: return make_ray_bootstrap(gang, std::move(events));
    case Distribution::Kind::mpi: return make_mpi_bootstrap(gang, loop, std::move(events));
  }
  CHECK(false, "a distribution kind outside its enumeration");
}

bool end_within(std::unique_ptr<Bootstrap> bootstrap, Duration timeout) {
  const auto ended = std::make_shared<std::promise<void>>();
  Bootstrap* const kept = bootstrap.release();
  std::thread([kept, ended] {
    kept->end();
    ended->set_value();
  }).detach();
  if (ended->get_future().wait_for(timeout) != std::future_status::ready) return false;
  delete kept;
  return true;
}

}  // namespace lockstep::runner
