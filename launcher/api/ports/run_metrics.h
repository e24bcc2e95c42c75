#pragma once
// What jobs have logged: metrics, params and tags. Who may ask is decided before it is asked.

#include <functional>

#include "common/domain/messages/client_protocol.h"

namespace lockstep::launcher {

class RunMetrics {
 public:
  virtual ~RunMetrics() = default;
  // Answered later, on the loop: by MetricsReply, or Refused. What was logged before the call, and
  // acknowledged, counts.
  virtual void get(const GetMetrics& question, std::function<void(ClientReply)> then) = 0;
  // The same, by LatestReply; the asker may read all of these jobs.
  virtual void latest(const GetLatest& question, std::function<void(ClientReply)> then) = 0;
};

}  // namespace lockstep::launcher
