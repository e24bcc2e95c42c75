// Ranks that need not find each other: they get only what every job's ranks get.

#include "runner/bootstrap/bootstrap.h"

namespace lockstep::runner {
namespace {

class NoneBootstrap final : public Bootstrap {
 public:
  void begin(Begun begun) override { begun({}); }
  void environment(int, int, Prepared prepared) override { prepared(RankVariables{}); }
  void receive(const GangMessage&) override {}
  void end() override {}
};

}  // namespace

std::unique_ptr<Bootstrap> make_none_bootstrap(const GangContext&) {
  return std::make_unique<NoneBootstrap>();
}

}  // namespace lockstep::runner
