#include "tests/bench/fleet/null_node.h"

#include <fmt/format.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/io/process.h"
#include "common/wire/messages/control.h"

namespace lockstep::fleet {

namespace {

constexpr std::uint16_t kPort = 20'000;  // of runners that nobody dials

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

agent::Config config_of(NodeId node, SessionId session) {
  agent::Config config;
  config.node = node;
  config.boot = io::current_boot();
  config.session = session;
  return config;
}

SessionId new_session() {
  const auto up = std::chrono::duration_cast<milliseconds>(io::since_boot());
  return session_id(static_cast<std::uint64_t>(up.count()), io::random_u64());
}

NodeExitReport exit_of(const Assignment& assignment, bool stopped, Instant now) {
  NodeExitReport exit;
  exit.cause = stopped ? Cause::canceled : Cause::completed;
  exit.started = exit.ended = now;
  for (int i = 0; i < assignment.ranks_here(); ++i) {
    RankExit rank;
    rank.rank = assignment.first_rank() + i;
    rank.local_rank = i;
    rank.time = now;
    exit.ranks.push_back(rank);
    exit.logs.push_back({rank.rank, 0, 0});
  }
  return exit;
}

}  // namespace

// ---- what the script reads ----------------------------------------------------------------------

void Witness::line(const char* what, NodeId node, const std::string& more) {
  lines_ += fmt::format("{} {} {} {}\n", what, node.value, monotonic_ns(), more);
}

void Witness::accepted(NodeId node) { line("accepted", node, ""); }

void Witness::assigned(NodeId node, const AttemptId& attempt) {
  line("assigned", node, to_string(attempt));
}

void Witness::told_to_run(NodeId node, const AttemptId& attempt, std::size_t bytes) {
  line("run", node, fmt::format("{} {}", to_string(attempt), bytes));
}

void Witness::flush() {
  if (lines_.empty()) return;
  std::fputs(lines_.c_str(), stdout);
  std::fflush(stdout);
  lines_.clear();
}

// ---- the node -----------------------------------------------------------------------------------

NullNode::NullNode(io::EventLoop& loop, io::Transport& transport, io::Clock& clock,
                   Witness& witness, agent::Identity identity, io::KeyPair keys,
                   Inventory inventory, std::uint32_t gang_rows)
    : clock_(clock),
      witness_(witness),
      identity_(std::move(identity)),
      keys_(std::move(keys)),
      inventory_(std::move(inventory)),
      gang_rows_(gang_rows),
      session_(new_session()),
      core_(config_of(identity_.node, session_)),
      control_(loop, transport, clock, {identity_.control_endpoint, identity_.launcher_key, keys_},
               {[this](io::ClientSocket::Link link) {
                  if (link == io::ClientSocket::Link::up) feed(agent::Connected{});
                },
                [this](const std::string& bytes) { receive(bytes); }}) {
  feed(agent::Recovered{});
}

void NullNode::receive(const std::string& bytes) {
  auto envelope = wire::decode_envelope<AgentReply>(bytes);
  if (!envelope) {
    std::fprintf(stderr, "fleet: %s\n", envelope.error().message.c_str());
    return;
  }
  received_ = bytes.size();
  observe(envelope->body);
  feed(agent::FromLauncher{std::move(envelope->body)});
}

void NullNode::observe(const AgentReply& message) {
  const auto* accepted = std::get_if<SessionAccepted>(&message);
  if (accepted == nullptr) return;
  control_.reconnect_within(accepted->reconnect_within);
  witness_.accepted(identity_.node);
  if (report_usage_at_ == Instant::never()) report_usage_at_ = clock_.now() + kSampleEvery;
}

void NullNode::tick() {
  const Instant now = clock_.now();
  if (core_.next_deadline() <= now) feed(agent::Tick{});
  if (report_usage_at_ <= now) report_usage();
  die_if_failed(control_.tick(now));
}

void NullNode::report_usage() {
  report_usage_at_ = clock_.now() + kSampleEvery;
  UsageReport report;
  report.node = identity_.node;
  report.session = session_;
  report.use.cpu_milli = static_cast<std::int64_t>(sequence_ % 1'000);
  report.use.memory = gibibytes(1);
  report.use.disk_used = gibibytes(10);
  report.use.disk_total = gibibytes(100);
  send(std::move(report));
}

void NullNode::feed(agent::Input input) {
  inputs_.push_back(std::move(input));
  if (handling_) return;
  handling_ = true;
  while (!inputs_.empty()) {
    const agent::Input next = std::move(inputs_.front());
    inputs_.pop_front();
    for (agent::Action& action : core_.handle(clock_.now(), next))
      std::visit([this](auto& one) { perform(one); }, action);
  }
  handling_ = false;
  if (observed_) send(*std::exchange(observed_, {}));
}

void NullNode::send(AgentMessage body) {
  Envelope<AgentMessage> envelope;
  envelope.sequence = ++sequence_;
  envelope.body = std::move(body);
  (void)control_.send(wire::encode(envelope));  // the core says it again
}

void NullNode::perform(agent::SendSession& action) {
  action.open.version = LOCKSTEP_VERSION;
  action.open.inventory = inventory_;
  send(std::move(action.open));
}

void NullNode::perform(agent::StageWorkspace& action) {
  if (!action.assignment.solo) witness_.assigned(identity_.node, action.assignment.attempt);
  feed(agent::WorkspaceStaged{action.assignment.attempt, {}});
}

void NullNode::perform(agent::StartRunner& action) {
  const Assignment& assignment = action.assignment;
  feed(agent::RunnerStarted{assignment.attempt, {}});
  if (assignment.phase == WantedPhase::prepare)
    feed(agent::RunnerReported{assignment.attempt, report_of(assignment, PartState::prepared)});
  else
    run(assignment);
}

void NullNode::perform(agent::UpdateRunner& action) {
  if (action.assignment.phase != WantedPhase::prepare) run(action.assignment);
}

PartReport NullNode::report_of(const Assignment& assignment, PartState state) const {
  PartReport report;
  report.attempt = assignment.attempt;
  report.state = state;
  if (assignment.solo) return report;
  report.runner_port = kPort;
  report.runner_key = keys_.public_key;
  report.gang_rows = gang_rows_;
  if (assignment.node_rank == 0) report.master_port = kPort + 1;
  return report;
}

void NullNode::run(const Assignment& assignment) {
  const bool stopped = assignment.phase == WantedPhase::stop;
  if (!assignment.solo && !stopped)
    witness_.told_to_run(identity_.node, assignment.attempt, received_);
  PartReport report = report_of(assignment, PartState::running);
  report.started = clock_.now();
  if (!stopped) feed(agent::RunnerReported{assignment.attempt, report});
  report.state = PartState::finished;
  report.exit = exit_of(assignment, stopped, clock_.now());
  feed(agent::RunnerReported{assignment.attempt, std::move(report)});
}

void NullNode::perform(agent::CollectOutputs& action) {
  feed(agent::OutputsCollected{action.assignment.attempt});
}

void NullNode::perform(agent::RemovePart& action) { feed(agent::PartRemoved{action.attempt}); }

void NullNode::perform(agent::Reconnect&) { die_if_failed(control_.redial()); }

void NullNode::die_if_failed(const Status& dialled) const {
  if (!dialled) die(dialled.error().message);
}

void NullNode::perform(agent::ExitAgent& action) { die(action.reason); }

void NullNode::die(const std::string& why) const {
  std::fprintf(stderr, "fleet: node %s: %s\n", identity_.name.c_str(), why.c_str());
  std::exit(1);
}

}  // namespace lockstep::fleet
