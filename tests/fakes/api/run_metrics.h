#pragma once
// Jobs that have logged nothing, until they are asked for their latest values.

#include "launcher/api/ports/run_metrics.h"

namespace lockstep::test {

class FakeRunMetrics final : public launcher::RunMetrics {
 public:
  void get(const GetMetrics&, std::function<void(ClientReply)> then) override {
    then(MetricsReply{});
  }
  void latest(const GetLatest& question, std::function<void(ClientReply)> then) override {
    LatestReply reply;
    for (const JobId& job : question.jobs)
      for (const std::string& metric : question.metrics)
        reply.jobs[job].push_back({metric, 1, {}, {}, {}, 0, 0});
    then(std::move(reply));
  }
};

}  // namespace lockstep::test
