#include "runner/fabric/probe/gang_probe.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/base/digest.h"
#include "common/io/process.h"
#include "runner/fabric/probe/interfaces.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kMostEarlyOfNode = 2;  // how many messages of a node may come early

std::string fresh_key() {
  std::string key;
  while (key.size() < kProbeKeyBytes) {
    const std::uint64_t word = io::random_u64();
    key.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return key.substr(0, kProbeKeyBytes);
}

// The seed for random pairs, the same on all nodes and different between attempts.
std::uint64_t seed_of(const AttemptId& attempt) {
  const Digest digest = sha256(to_string(attempt));
  std::uint64_t seed = 0;
  for (int i = 0; i < 8; ++i) seed = seed << 8 | digest.bytes[static_cast<std::size_t>(i)];
  return seed;
}

std::vector<ProbedNode> nodes_of(const GangTable& gang) {
  std::vector<ProbedNode> nodes;
  for (const GangMember& member : gang.members)
    nodes.push_back({member.host_id, member.address, std::nullopt, std::nullopt});
  return nodes;
}

}  // namespace

GangProbe::GangProbe(io::EventLoop& loop, io::Clock& clock, GangProbeFacts facts, Events events)
    : loop_(loop),
      clock_(clock),
      facts_(std::move(facts)),
      events_(std::move(events)),
      cache_(facts_.cache_folder) {}

GangProbe::~GangProbe() = default;

void GangProbe::begin() {
  has_begun_ = true;
  begun_ = clock_.now();
  if (is_root() && facts_.is_off) {
    events_.broadcast(ProbeOutcome{});
    return finish({});
  }
  if (is_root())
    coordinator_.emplace(nodes_of(*facts_.gang), seed_of(facts_.attempt), clock_.now());
  offer();
  for (auto& [from, message] : std::exchange(early_, {})) receive(from, std::move(message));
}

// Sends the offer. A node that cannot listen sends one without addresses, and takes no part.
void GangProbe::offer() {
  addresses_ = local_addresses();
  ProbeOffer offer;
  offer.node_rank = facts_.node_rank;
  offer.fingerprint = fingerprint_of(io::current_host_id(), addresses_, routes_text());
  const auto& self = facts_.gang->members[static_cast<std::size_t>(facts_.node_rank)];
  auto answerer = Answerer::open(loop_, facts_.node_rank,
                                 {facts_.leased_ports, facts_.kind == Distribution::Kind::mpi});
  if (answerer) {
    answerer_ = *std::move(answerer);
    candidates_ = candidates_of(addresses_, self.address, facts_.interface);
    offer.candidates = candidates_;
    offer.port = answerer_->port();
    offer.rank_ports = answerer_->rank_ports();
  } else {
    spdlog::warn("this node takes no part in the probe: {}", answerer.error().message);
  }
  events_.send(0, std::move(offer));
}

void GangProbe::receive(int from, GangMessage message) {
  if (is_over_) return;
  if (!has_begun_) {
    if (early_.size() < kMostEarlyOfNode * facts_.gang->members.size())
      early_.emplace_back(from, std::move(message));
    return;
  }
  std::visit([&](const auto& each) { take(from, each); }, message);
}

void GangProbe::take(int from, const ProbeOffer& offer) {
  if (coordinator_ && offer.node_rank == from) perform(coordinator_->take(clock_.now(), offer));
}

void GangProbe::take(int from, const ProbePlan& plan) {
  if (from != 0) return;
  if (key_.empty() && plan.key.size() == kProbeKeyBytes) {
    key_ = plan.key;
    if (answerer_) answerer_->answer_with(key_);
  }
  if (plan.peers.empty() || key_.empty() || prober_) return;
  ProberFacts facts{facts_.node_rank, key_, candidates_, {}};
  for (const LocalAddress& local : addresses_) facts.addresses[local.address] = local.interface;
  prober_ = std::make_unique<Prober>(loop_, clock_, std::move(facts), [this](auto paths) {
    events_.send(0, ProbeFindings{facts_.node_rank, std::move(paths)});
  });
  prober_->begin(plan.peers);
}

void GangProbe::take(int from, const ProbeFindings& findings) {
  if (coordinator_ && findings.node_rank == from)
    perform(coordinator_->take(clock_.now(), findings));
}

void GangProbe::take(int from, const ProbeOutcome& outcome) {
  if (from == 0) finish(outcome);
}

void GangProbe::perform(Coordinator::Step step) {
  if (step.has_offers) return make_plans();
  for (auto& [node, plan] : step.plans) events_.send(node, std::move(plan));
  if (!step.outcome) return;
  const bool is_new = !step.outcome->result.cached;
  if (cache_key_ && is_new && step.outcome->failed_on < 0 && coordinator_->is_complete()) {
    cache_.keep(*cache_key_, *step.outcome);
    cache_entry_ = cache_.path(*cache_key_);
  }
  events_.broadcast(*step.outcome);
  finish(*std::move(step.outcome));
}

// The key is sent before the plans, in a small message of its own: see ProbePlan.
void GangProbe::make_plans() {
  std::optional<ProbeOutcome> known;
  if (coordinator_->is_complete()) {
    cache_key_ = probe_cache_key(to_string(facts_.kind), coordinator_->nodes());
    known = cache_.find(*cache_key_, coordinator_->nodes());
    if (known) cache_entry_ = cache_.path(*cache_key_);
  }
  if (!known) {
    const ProbePlan key{fresh_key(), {}};
    events_.broadcast(key);
    take(0, key);
  }
  perform(coordinator_->begin(clock_.now(), std::move(known)));
}

void GangProbe::finish(ProbeOutcome outcome) {
  if (std::exchange(is_over_, true)) return;
  prober_.reset();
  answerer_.reset();
  for (const PathFailure& failure : outcome.result.failures)
    spdlog::info("node rank {} ({}) did not reach node rank {} ({}) port {}: {}", failure.from,
                 failure.from_address, failure.to, failure.to_address, failure.port,
                 to_string(failure.trouble));
  spdlog::info("the network of the gang is {} after {:.1f} ms",
               outcome.result.cached ? "known" : "probed",
               static_cast<double>((clock_.now() - begun_).count()) / 1e6);
  events_.done(std::move(outcome));
}

Instant GangProbe::next_deadline() const {
  if (is_over_) return Instant::never();
  const Instant of_prober = prober_ ? prober_->next_deadline() : Instant::never();
  return std::min(of_prober, coordinator_ ? coordinator_->next_deadline() : Instant::never());
}

void GangProbe::expire(Instant now) {
  if (is_over_) return;
  if (prober_) prober_->expire(now);
  if (coordinator_ && now >= coordinator_->next_deadline()) perform(coordinator_->expire(now));
}

}  // namespace lockstep::runner
