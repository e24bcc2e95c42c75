#include "agent/daemon/agent.h"
#include "agent/daemon/links/moved_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "agent/supervise/recovery.h"
#include "common/domain/why/ranks/parts.h"
#include "common/wire/messages/bulk.h"
#include "common/wire/messages/control.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

// A launcher of one node: real sockets on the agent's loop, answers as the protocol says.
class FakeLauncher {
 public:
  FakeLauncher(io::EventLoop& loop, io::Transport& transport) : loop_(loop), transport_(transport) {
    open("tcp://127.0.0.1:*", "tcp://127.0.0.1:*");
  }
  ~FakeLauncher() { close(); }
  void open(const std::string& control, const std::string& bulk) {
    control_.emplace(bind(control));
    bulk_.emplace(bind(bulk));
    loop_.watch_socket(control_->handle(), [this] { receive_control(); });
    loop_.watch_socket(bulk_->handle(), [this] { receive_bulk(); });
  }
  void close() {
    if (!control_) return;
    loop_.unwatch_socket(control_->handle());
    loop_.unwatch_socket(bulk_->handle());
    control_.reset();
    bulk_.reset();
    session = {};
  }
  void restart() {
    const std::string control = control_->endpoint(), bulk = bulk_->endpoint();
    close();
    open(control, bulk);
  }
  void want(std::vector<Assignment> assignments) {
    desired.revision++;
    desired.assignments = std::move(assignments);
    if (session.value != 0) say(Desired{session, desired});
  }
  void say(AgentReply body) {
    Envelope<AgentReply> envelope;
    envelope.sequence = ++sequence;
    envelope.body = std::move(body);
    (void)control_->send(peer, wire::encode(envelope));
  }
  // Over the connection that the agent made for logs.
  void tell(const AttachFrame& frame) {
    BulkEnvelope envelope;
    envelope.body = frame;
    (void)bulk_->send(bulk_peer, wire::encode(envelope));
  }
  // The newest frame of this kind; nullptr: none.
  template <typename Body>
  const Body* attached() const {
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      if (const auto* body = std::get_if<Body>(&frame->body)) return body;
    return nullptr;
  }
  std::string control() const { return control_->endpoint(); }
  std::string bulk() const { return bulk_->endpoint(); }

  const io::KeyPair keys = io::generate_key_pair();
  std::string refuse;  // the reason to refuse sessions
  DesiredState desired;
  SessionId session;
  std::vector<SessionOpen> sessions;
  int heartbeats = 0;
  std::map<AttemptId, PartReport> parts;
  std::set<AttemptId> removed;
  std::map<LogKey, std::string> logs;
  std::optional<UsageReport> usage;  // the newest
  std::vector<AttachFrame> frames;   // of attachments

 private:
  // A port that was just closed is free a moment later.
  io::ServerSocket bind(const std::string& endpoint) {
    std::optional<io::ServerSocket> socket;
    EXPECT_TRUE(turn_until([] { std::this_thread::yield(); },
                           [&] {
                             auto bound = io::ServerSocket::bind(transport_, endpoint, "any", keys);
                             if (bound) socket.emplace(*std::move(bound));
                             return socket.has_value();
                           }));
    return std::move(socket).value();
  }
  void receive_control() {
    while (auto got = control_->receive()) {
      peer = got->peer;
      const auto envelope = wire::decode_envelope<AgentMessage>(got->bytes);
      ASSERT_TRUE(envelope) << envelope.error().message;
      std::visit([this](const auto& body) { hear(body); }, envelope->body);
    }
  }
  void hear(const SessionOpen& open) {
    sessions.push_back(open);
    for (const auto& part : open.parts) parts[part.attempt] = part;
    if (!refuse.empty()) return say(SessionRefused{open.session, refuse});
    session = open.session;
    say(SessionAccepted{session, milliseconds(50), desired});
  }
  void hear(const Heartbeat& beat) {
    ++heartbeats;
    if (beat.session != session) return say(SessionLost{beat.session});
    say(HeartbeatAck{session});
  }
  void hear(const Observed& observed) {
    for (const auto& part : observed.parts) parts[part.attempt] = part;
    for (const auto& attempt : observed.removed) {
      removed.insert(attempt);
      parts.erase(attempt);
    }
    say(ObservedAck{session, observed.sequence});
  }
  void hear(const UsageReport& report) { usage = report; }
  template <typename T>
  void hear(const T&) {
    ADD_FAILURE() << "no message for a launcher's node side";
  }
  void receive_bulk() {
    while (auto got = bulk_->receive()) {
      const auto envelope = wire::decode_bulk(got->bytes);
      ASSERT_TRUE(envelope) << envelope.error().message;
      bulk_peer = got->peer;
      if (const auto* frame = std::get_if<AttachFrame>(&envelope->body)) frames.push_back(*frame);
      if (const auto* append = std::get_if<LogAppend>(&envelope->body)) {
        std::string& log = logs[append->key];
        if (append->offset == log.size()) log += append->data;
        ack(got->peer, append->key);
      }
      if (const auto* resume = std::get_if<LogResume>(&envelope->body)) {
        for (const LogKey& key : resume->keys) ack(got->peer, key);
      }
    }
  }
  void ack(const std::string& to, const LogKey& key) {
    BulkEnvelope envelope;
    envelope.body = LogAck{key, logs[key].size()};
    (void)bulk_->send(to, wire::encode(envelope));
  }

  io::EventLoop& loop_;
  io::Transport& transport_;
  std::optional<io::ServerSocket> control_, bulk_;
  std::string peer, bulk_peer;
  std::uint64_t sequence = 0;
};

class AgentLoopTest : public testing::Test {
 protected:
  AgentLoopTest() : home_(dir_.path()), launcher_(loop_, transport_) {
    EXPECT_TRUE(io::make_directories(home_.attempts()));
    start_agent();
  }
  ~AgentLoopTest() override {
    agent_.reset();
    for (const auto& part : find_parts(home_, true)) {
      if (part.runner) (void)io::signal_process(*part.runner, SIGKILL);
    }
  }
  void start_agent() {
    start_agent(
        {NodeId(7), "n1", launcher_.keys.public_key, launcher_.control(), launcher_.bulk()});
  }
  void start_agent(const Identity& identity) {
    agent_.reset();
    AgentConfig config;
    config.home = home_;
    config.identity = identity;
    config.keys = keys_;
    config.inventory.hostname = "n1";
    config.runner_program = FAKE_RUNNER;
    config.environments.program = LOCKSTEP_ENV;
    config.stage = [](const Assignment& assignment, const io::AttemptDir& directory,
                      const auto& progress) -> Result<WorkspacePlan> {
      progress("halfway");
      if (assignment.spec.environment_variables.at("BEHAVIOUR") == "unstageable") {
        return make_error(ErrorCode::not_found, "the snapshot is gone");
      }
      TRY(io::make_directories(directory.code()));
      TRY(io::make_directories(directory.logs()));
      return WorkspacePlan{};
    };
    config.session = SessionId(io::random_u64());
    config.boot = BootId("boot");
    config.try_address_for = milliseconds(100);
    agent_ = std::make_unique<Agent>(loop_, transport_, clock_, std::move(config));
  }
  bool until(const std::function<bool()>& condition) {
    return turn_until([&] { agent_->turn(milliseconds(5)); }, condition);
  }
  bool until_finished(const AttemptId& attempt) {
    return until([&] {
      return launcher_.parts.count(attempt) && launcher_.parts[attempt].exit.has_value();
    });
  }

  TempDir dir_;
  AgentHome home_;
  io::SystemClock clock_;
  io::EventLoop loop_;
  io::Transport transport_{loop_, [](const auto&, const auto&) { return true; }};
  io::KeyPair keys_ = io::generate_key_pair();
  FakeLauncher launcher_;
  std::unique_ptr<Agent> agent_;
};

TEST_F(AgentLoopTest, OpensASessionWithItsInventoryAndBeats) {
  ASSERT_TRUE(until([&] { return launcher_.heartbeats >= 3; }));
  ASSERT_EQ(launcher_.sessions.size(), 1u);
  EXPECT_EQ(launcher_.sessions[0].node, NodeId(7));
  EXPECT_EQ(launcher_.sessions[0].inventory.hostname, "n1");
  EXPECT_GT(launcher_.sessions[0].inventory.disk_free.count, 0u);
  EXPECT_EQ(launcher_.sessions[0].version, LOCKSTEP_VERSION);
}

// Where nobody listens.
LauncherAddress free_address(io::Transport& transport) {
  const auto endpoint = [&] {
    return io::ServerSocket::bind(transport, "tcp://127.0.0.1:*", "any", io::generate_key_pair())
        ->endpoint();
  };
  return {endpoint(), endpoint()};
}

TEST_F(AgentLoopTest, FollowsItsLauncherWhereThatSaidItWouldBe) {
  ASSERT_TRUE(until([&] { return launcher_.heartbeats >= 1; }));
  const LauncherAddress old{launcher_.control(), launcher_.bulk()};
  const LauncherAddress next = free_address(transport_);
  launcher_.say(LauncherAddresses{{old, next}});
  ASSERT_TRUE(until([&] {
    const auto kept = load_identity(home_.identity());
    return kept && *kept && (*kept)->others == std::vector{next};
  }));
  launcher_.close();
  launcher_.open(next.control, next.bulk);
  ASSERT_TRUE(until([&] { return launcher_.sessions.size() >= 2; }));
  ASSERT_TRUE(until([&] {
    const auto kept = load_identity(home_.identity());
    return kept && *kept && (*kept)->control_endpoint == next.control;
  }));
  const auto kept = load_identity(home_.identity());
  EXPECT_EQ((*kept)->bulk_endpoint, next.bulk);
  EXPECT_EQ((*kept)->others, std::vector{old});
  // Logs go there too.
  const Assignment assignment = make_assignment("job", "finish");
  launcher_.want({assignment});
  const LogKey key{assignment.attempt, 0, LogStream::out};
  EXPECT_TRUE(until([&] { return launcher_.logs[key] == "hello from the rank\nlast line"; }));
}

TEST_F(AgentLoopTest, GoesWhereAMessageInItsHomeSaysAndReturnsIfNobodyIsThere) {
  ASSERT_TRUE(until([&] { return launcher_.heartbeats >= 1; }));
  const LauncherAddress nobody = free_address(transport_);
  put(home_.moved(), wire::encode(token_for(launcher_.keys.public_key, nobody)));
  start_agent();
  ASSERT_TRUE(until([&] { return launcher_.sessions.size() >= 2; }));
  EXPECT_FALSE(io::exists(home_.moved()));
  ASSERT_TRUE(until([&] { return io::exists(home_.link()); }));
  EXPECT_EQ(*io::read_file(home_.link()),
            std::to_string(::getpid()) + " " + launcher_.control() + "\n");
  const auto kept = load_identity(home_.identity());
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ((*kept)->control_endpoint, launcher_.control());
  launcher_.close();
  EXPECT_TRUE(until([&] { return !io::exists(home_.link()); }));
}

// Earlier versions saved what a person wrote; a launcher of one tells what its operator wrote.
TEST_F(AgentLoopTest, AnAddressThatCannotBeDialledIsPassedOver) {
  ASSERT_TRUE(until([&] { return launcher_.heartbeats >= 1; }));
  const LauncherAddress here{launcher_.control(), launcher_.bulk()};
  const LauncherAddress bad{"tcp://me@head:7070", "tcp://me@head:7071"};
  put(home_.moved(), wire::encode(token_for(launcher_.keys.public_key, bad)));
  start_agent();
  ASSERT_TRUE(until([&] { return launcher_.sessions.size() >= 2; }));
  EXPECT_FALSE(io::exists(home_.moved()));
  Identity saved{NodeId(7), "n1", launcher_.keys.public_key, bad.control, bad.bulk};
  saved.others = {here};
  start_agent(saved);
  ASSERT_TRUE(until([&] { return launcher_.sessions.size() >= 3; }));
}

// The lines that daemons log while it lives.
class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  int count(const std::string& words) const {
    const std::string text = text_.str();
    int found = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++found;
    return found;
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

TEST_F(AgentLoopTest, SaysAtOnceThatItsLauncherCannotBeReachedAndNotWithEveryTry) {
  ASSERT_TRUE(until([&] { return launcher_.heartbeats >= 1; }));
  LogLines lines;
  const LauncherAddress nobody = free_address(transport_), nor_there = free_address(transport_);
  Identity lost{NodeId(7), "n1", launcher_.keys.public_key, nobody.control, nobody.bulk};
  lost.others = {nor_there};
  start_agent(lost);
  const Instant begun = clock_.now();
  EXPECT_TRUE(until([&] { return lines.count("no connection to " + nobody.control) == 1; }));
  EXPECT_LT(clock_.now() - begun, seconds(5));
  // It tries each of the two some dozen times meanwhile.
  EXPECT_TRUE(until([&] { return clock_.now() - begun > seconds(4); }));
  EXPECT_EQ(lines.count("no connection to "), 1);
  EXPECT_EQ(lines.count("where the launcher may be too"), 1);
}

TEST_F(AgentLoopTest, ReportsWhatItsNodeUses) {
  ASSERT_TRUE(until([&] { return launcher_.usage.has_value(); }));
  EXPECT_EQ(launcher_.usage->node, NodeId(7));
  EXPECT_EQ(launcher_.usage->session, launcher_.session);
  EXPECT_GT(launcher_.usage->use.memory.count, 0u);
  EXPECT_GT(launcher_.usage->use.disk_total.count, 0u);
  EXPECT_TRUE(launcher_.usage->parts.empty());
}

TEST_F(AgentLoopTest, CarriesFramesOfAttachmentsAndGoesOnAfterRestartsOfBothSides) {
  const Assignment assignment = make_assignment("job", "wait");
  launcher_.want({assignment});
  ASSERT_TRUE(until([&] {
    const auto part = launcher_.parts.find(assignment.attempt);
    return part != launcher_.parts.end() && part->second.state == PartState::running;
  }));
  AttachOpen open;
  open.job = assignment.attempt.job;
  open.attempt = assignment.attempt;
  open.order = AttachProgram{};
  const AttachFrame opening{AttachId(std::string(kAttachIdBytes, 'a')), open};
  const auto ask = [&] {
    launcher_.frames.clear();
    launcher_.say(AttachWanted{opening});
  };
  const auto is_opened = [&] {
    ask();
    return until([&] {
      if (launcher_.attached<AttachRefused>() != nullptr) ask();  // it looks for its runner yet
      return launcher_.attached<AttachOpened>() != nullptr;
    });
  };
  ASSERT_TRUE(is_opened());
  EXPECT_EQ(launcher_.attached<AttachOpened>()->attempt, assignment.attempt);
  const AttachData data{AttachStream::input, 0, "typed", false};
  launcher_.tell({opening.attachment, data});
  ASSERT_TRUE(until([&] { return launcher_.attached<AttachData>() != nullptr; }));
  EXPECT_EQ(launcher_.attached<AttachData>()->bytes, "typed");

  launcher_.frames.clear();
  std::size_t sessions = launcher_.sessions.size();
  launcher_.restart();
  ASSERT_TRUE(until([&] {
    return launcher_.attached<AttachAlive>() != nullptr && launcher_.sessions.size() > sessions;
  })) << "the new launcher must learn where the attachment is";

  sessions = launcher_.sessions.size();
  start_agent();
  ASSERT_TRUE(until([&] { return launcher_.sessions.size() > sessions; }));
  ASSERT_TRUE(is_opened()) << "the new agent learns of it by the opening";

  AttachFrame other = opening;
  std::get<AttachOpen>(other.body).attempt.number = 9;
  launcher_.tell(other);
  ASSERT_TRUE(until([&] { return launcher_.attached<AttachRefused>() != nullptr; }));
  EXPECT_FALSE(launcher_.attached<AttachRefused>()->for_now);
}

TEST_F(AgentLoopTest, RunsAnAssignmentShipsItsLogsAndRemovesIt) {
  const Assignment assignment = make_assignment("job", "finish");
  launcher_.want({assignment});
  ASSERT_TRUE(until_finished(assignment.attempt));
  EXPECT_EQ(launcher_.parts[assignment.attempt].exit->cause, Cause::completed);
  const LogKey key{assignment.attempt, 0, LogStream::out};
  EXPECT_TRUE(until([&] { return launcher_.logs[key] == "hello from the rank\nlast line"; }));
  launcher_.want({});
  EXPECT_TRUE(until([&] { return launcher_.removed.count(assignment.attempt) > 0; }));
  EXPECT_FALSE(io::exists(home_.attempt(assignment.attempt).path()));
}

TEST_F(AgentLoopTest, AWorkspaceThatCannotBeHadIsTheReason) {
  const Assignment assignment = make_assignment("job", "unstageable");
  launcher_.want({assignment});
  ASSERT_TRUE(until_finished(assignment.attempt));
  EXPECT_EQ(launcher_.parts[assignment.attempt].exit->cause, Cause::workspace_failed);
  EXPECT_EQ(launcher_.parts[assignment.attempt].exit->why, told("the snapshot is gone"));
}

TEST_F(AgentLoopTest, AnEnvironmentIsReadyBeforeTheRunnerStarts) {
  Assignment assignment = make_assignment("job", "wait");
  assignment.spec.environment = EnvironmentSpec{"", "", HostEnvironment{"/usr/bin/python3"}};
  launcher_.want({assignment});
  ASSERT_TRUE(until([&] {
    return launcher_.parts.count(assignment.attempt) &&
           launcher_.parts[assignment.attempt].state == PartState::running;
  }));
  const auto report = launcher_.parts[assignment.attempt].environment;
  ASSERT_TRUE(report);
  EXPECT_EQ(report->step, EnvironmentReport::Step::ready);
  const io::AttemptDir directory = home_.attempt(assignment.attempt);
  const auto plan = wire::decode_workspace_plan(*io::read_file(directory.workspace()));
  ASSERT_TRUE(plan && plan->activation);
  EXPECT_EQ(plan->activation->interpreter, "/usr/bin/python3");
  // The next agent knows how long its log is.
  const auto log = io::read_file(directory.log(0, LogStream::environment));
  ASSERT_TRUE(log);
  EXPECT_EQ(find_parts(home_, true).at(0).found.environment_log_bytes, log->size());
}

TEST_F(AgentLoopTest, AnEnvironmentThatCannotBeHadIsTheReason) {
  Assignment assignment = make_assignment("job", "finish");
  assignment.spec.environment = EnvironmentSpec{"", "", HostEnvironment{"/nope/python"}};
  launcher_.want({assignment});
  ASSERT_TRUE(until_finished(assignment.attempt));
  const NodeExitReport exit = *launcher_.parts[assignment.attempt].exit;
  EXPECT_EQ(exit.cause, Cause::environment_failed);
  ASSERT_TRUE(exit.why.is<Told>());
  const std::string& text = exit.why.as<Told>()->text;
  EXPECT_NE(text.find("'/nope/python' does not exist"), std::string::npos) << text;
}

TEST_F(AgentLoopTest, ARunnerThatCrashesIsLost) {
  const Assignment assignment = make_assignment("job", "crash");
  launcher_.want({assignment});
  ASSERT_TRUE(until_finished(assignment.attempt));
  EXPECT_EQ(launcher_.parts[assignment.attempt].exit->cause, Cause::runner_lost);
  EXPECT_EQ(launcher_.parts[assignment.attempt].exit->why,
            Why(RunnerDied{false, "", "first | second | no more memory"}));
}

// So that the launcher collects them before it lets the part go.
TEST_F(AgentLoopTest, AKilledRunnersReportNamesTheSizesOfItsLogs) {
  const Assignment assignment = make_assignment("job", "wait");
  launcher_.want({assignment});
  ASSERT_TRUE(until([&] {
    return launcher_.parts.count(assignment.attempt) &&
           launcher_.parts[assignment.attempt].state == PartState::running;
  }));
  const auto runner = find_runner(home_.attempt(assignment.attempt));
  ASSERT_TRUE(runner.has_value());
  ASSERT_TRUE(io::signal_process(*runner, SIGKILL));
  ASSERT_TRUE(until_finished(assignment.attempt));
  const NodeExitReport exit = *launcher_.parts[assignment.attempt].exit;
  EXPECT_EQ(exit.cause, Cause::runner_lost);
  EXPECT_EQ(exit.logs, (std::vector<LogSize>{{0, 20, 0}}));
  const LogKey key{assignment.attempt, 0, LogStream::out};
  EXPECT_TRUE(until([&] { return launcher_.logs[key] == "hello from the rank\n"; }));
}

TEST_F(AgentLoopTest, AKilledRunnersLogSizesAreToldByTheNextAgentToo) {
  const Assignment assignment = make_assignment("job", "wait");
  launcher_.want({assignment});
  ASSERT_TRUE(until([&] {
    return launcher_.parts.count(assignment.attempt) &&
           launcher_.parts[assignment.attempt].state == PartState::running;
  }));
  const auto runner = find_runner(home_.attempt(assignment.attempt));
  ASSERT_TRUE(runner.has_value());
  agent_.reset();
  ASSERT_TRUE(io::signal_process(*runner, SIGKILL));
  ASSERT_TRUE(turn_until([] {}, [&] { return !io::is_alive(*runner); }));
  start_agent();
  ASSERT_TRUE(until_finished(assignment.attempt));
  EXPECT_EQ(launcher_.parts[assignment.attempt].exit->logs, (std::vector<LogSize>{{0, 20, 0}}));
}

TEST_F(AgentLoopTest, ARestartedAgentKeepsItsRunnerAndItsLogs) {
  const Assignment assignment = make_assignment("job", "wait");
  const LogKey key{assignment.attempt, 0, LogStream::out};
  launcher_.want({assignment});
  ASSERT_TRUE(until([&] { return launcher_.logs[key] == "hello from the rank\n"; }));
  start_agent();
  ASSERT_TRUE(until([&] { return launcher_.sessions.size() == 2; }));
  EXPECT_NE(launcher_.sessions[1].session, launcher_.sessions[0].session);
  ASSERT_TRUE(
      until([&] { return launcher_.parts[assignment.attempt].state == PartState::running; }));
  Assignment stop = assignment;
  stop.phase = WantedPhase::stop;
  launcher_.want({stop});
  ASSERT_TRUE(until_finished(assignment.attempt));
  EXPECT_TRUE(until([&] { return launcher_.logs[key] == "hello from the rank\nlast line"; }));
}

TEST_F(AgentLoopTest, ARestartedLauncherFindsTheJobRunning) {
  const Assignment assignment = make_assignment("job", "wait");
  launcher_.want({assignment});
  ASSERT_TRUE(until([&] {
    return launcher_.parts.count(assignment.attempt) &&
           launcher_.parts[assignment.attempt].state == PartState::running;
  }));
  launcher_.parts.clear();
  launcher_.restart();
  ASSERT_TRUE(until([&] { return launcher_.parts.count(assignment.attempt) > 0; }));
  EXPECT_EQ(launcher_.parts[assignment.attempt].state, PartState::running);
  Assignment stop = assignment;
  stop.phase = WantedPhase::stop;
  launcher_.want({stop});
  EXPECT_TRUE(until_finished(assignment.attempt));
}

TEST_F(AgentLoopTest, ARefusedAgentLeavesWithTheReason) {
  launcher_.refuse = "two agents call themselves node 7";
  // run() would block this thread, which also serves the launcher, so it is turned until it leaves.
  ASSERT_TRUE(until([&] { return !launcher_.sessions.empty(); }));
  for (int i = 0; i < 50; ++i) agent_->turn(milliseconds(2));
  const Status status = agent_->run();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, launcher_.refuse);
}

}  // namespace
}  // namespace lockstep::agent
