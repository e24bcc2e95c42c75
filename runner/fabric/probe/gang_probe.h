#pragma once
// One node's part in the probe of its gang's network, from the moment when all runners are
// connected until the outcome: it offers its addresses, answers the others and dials them. Node
// rank 0 also moderates, and keeps the result for the next gang of the same nodes. Messages go
// through the gang's tree, which the runner owns.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "runner/fabric/probe/answerer.h"
#include "runner/fabric/probe/candidates.h"
#include "runner/fabric/probe/coordinator.h"
#include "runner/fabric/probe/earlier_probes.h"
#include "runner/fabric/probe/prober.h"

namespace lockstep::runner {

struct GangProbeFacts {
  AttemptId attempt;
  int node_rank = 0;
  SharedGang gang;
  Distribution::Kind kind = Distribution::Kind::none;
  std::vector<std::uint16_t> leased_ports = {};     // the ports of this node's ranks
  std::optional<OperatorInterface> interface = {};  // the operator's choice
  std::string cache_folder = {};                    // the folder of the node's agent; "": none
  bool is_off = false;                              // node rank 0 ends it at once, with no result
};

class GangProbe {
 public:
  struct Events {
    // sends a message, also to ourselves, not within the call
    std::function<void(int node_rank, GangMessage)> send;
    std::function<void(GangMessage)> broadcast;  // sends to all other nodes
    // Called once, when all sockets are closed. It must not destroy the probe.
    std::function<void(ProbeOutcome)> done;
  };

  GangProbe(io::EventLoop& loop, io::Clock& clock, GangProbeFacts facts, Events events);
  ~GangProbe();

  void begin();
  // The four messages of runners/probe_protocol.h; others are ignored. A message of the others may
  // come before begin().
  void receive(int from, GangMessage message);
  Instant next_deadline() const;
  void expire(Instant now);
  // The entry of the cache that the outcome came from or went to; "": none. For forget_probe().
  const std::string& cache_entry() const { return cache_entry_; }

 private:
  void take(int from, const ProbeOffer& offer);
  void take(int from, const ProbePlan& plan);
  void take(int from, const ProbeFindings& findings);
  void take(int from, const ProbeOutcome& outcome);
  template <typename Other>
  void take(int, const Other&) {}
  void offer();
  void perform(Coordinator::Step step);
  void make_plans();
  void finish(ProbeOutcome outcome);
  bool is_root() const { return facts_.node_rank == 0; }

  io::EventLoop& loop_;
  io::Clock& clock_;
  GangProbeFacts facts_;
  Events events_;
  bool has_begun_ = false, is_over_ = false;
  Instant begun_;
  std::vector<std::pair<int, GangMessage>> early_;
  std::vector<LocalAddress> addresses_;
  std::vector<ProbeCandidate> candidates_;
  std::string key_;  // once it is known
  std::unique_ptr<Answerer> answerer_;
  std::unique_ptr<Prober> prober_;
  std::optional<Coordinator> coordinator_;
  ProbeCache cache_;
  std::optional<ProbeCacheKey> cache_key_;
  std::string cache_entry_;
};

}  // namespace lockstep::runner
