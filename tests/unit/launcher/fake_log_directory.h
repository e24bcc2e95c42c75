#pragma once
// Jobs for the log services: one node holds two ranks.

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
  std::optional<RankPlace> place(const AttemptId& attempt, int rank) const override {
    const auto it = jobs.find(attempt.job);
    if (it == jobs.end() || attempt.number > it->second.attempts || rank >= 4) return std::nullopt;
    const int node_rank = rank / 2;
    return RankPlace{NodeId(static_cast<std::uint64_t>(node_rank + 1)), node_rank,
                     "n" + std::to_string(node_rank + 1)};
  }
  std::map<JobId, JobInfo> jobs;
};

}  // namespace lockstep::test
