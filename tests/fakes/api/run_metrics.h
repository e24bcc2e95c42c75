#pragma once
// Jobs that have logged nothing.

#include "launcher/api/ports/run_metrics.h"

namespace lockstep::test {

class FakeRunMetrics final : public launcher::RunMetrics {
 public:
  void get(const GetMetrics&, std::function<void(ClientReply)> then) override {
    then(MetricsReply{});
  }
};

}  // namespace lockstep::test
