#pragma once
// Fake jobs for the log services, each with two nodes of two ranks.

#include <map>

#include "launcher/logs/log_directory.h"

namespace lockstep::test {

class FakeLogDirectory final : public launcher::LogDirectory {
 public:
  std::optional<JobInfo> job(const JobId& job) const override {
    const auto it = jobs.find(job);
    if (it == jobs.end()) return std::nullopt;
    return it->second;
  }
  AttemptId attempt(const JobId& job, std::uint32_t number) const override { return {job, number}; }
  std::optional<Place> place(const LogKey& log) const override {
    const auto it = jobs.find(log.attempt.job);
    if (it == jobs.end() || log.attempt.number > it->second.attempts) return std::nullopt;
    const int node_rank = log.stream == LogStream::environment ? log.rank : log.rank / 2;
    if (node_rank >= 2) return std::nullopt;
    const NodeId node(static_cast<std::uint64_t>(node_rank + 1));
    const auto clock = clock_ahead.find(node);
    return Place{node, node_rank, "n" + std::to_string(node_rank + 1),
                 clock == clock_ahead.end() ? Duration{0} : clock->second};
  }
  std::map<JobId, JobInfo> jobs;
  std::map<NodeId, Duration> clock_ahead;
};

}  // namespace lockstep::test
