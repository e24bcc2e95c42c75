#include "agent/supervise/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "agent/supervise/quarantine.h"
#include "agent/supervise/recovery.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() : home_(dir_.path()) {
    EXPECT_TRUE(io::make_directories(home_.attempts()));
    restart();
  }
  ~SupervisorTest() override {
    supervisor_.reset();
    for (const auto& part : find_parts(home_, true)) {
      if (part.runner) (void)io::signal_process(*part.runner, SIGKILL);
    }
  }
  void restart() {
    supervisor_.reset();
    inputs_.clear();
    supervisor_ = std::make_unique<Supervisor>(loop_, workers_, home_,
                                               Supervisor::RunnerProgram{FAKE_RUNNER, gibibytes(1)},
                                               [this](Input input) { inputs_.push_back(input); });
  }
  void turn() {
    loop_.turn(milliseconds(2));
    supervisor_->tick(clock_.now());
  }
  template <typename T>
  const T* last() const {
    for (auto input = inputs_.rbegin(); input != inputs_.rend(); ++input) {
      if (const auto* found = std::get_if<T>(&*input)) return found;
    }
    return nullptr;
  }
  template <typename T>
  bool await() {
    return turn_until([&] { turn(); }, [&] { return last<T>() != nullptr; });
  }
  bool await_state(PartState state) {
    return turn_until([&] { turn(); },
                      [&] {
                        const auto* report = last<RunnerReported>();
                        return report && report->report.state == state;
                      });
  }
  Assignment start(const std::string& behaviour) {
    const Assignment assignment = make_assignment("job", behaviour);
    EXPECT_TRUE(io::make_directories(home_.attempt(assignment.attempt).logs()));
    supervisor_->start(assignment);
    return assignment;
  }
  // One that waits; nullopt: it does not come to run.
  std::optional<io::ProcessIdentity> start_and_find(const std::string& job) {
    const Assignment assignment = make_assignment(job, "wait");
    supervisor_->start(assignment);
    inputs_.clear();
    if (!await_state(PartState::running)) return std::nullopt;
    return find_runner(home_.attempt(assignment.attempt));
  }
  static int parent_of(int pid) {
    const std::string stat = io::read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
    return std::stoi(stat.substr(stat.rfind(')') + 4));
  }
  static bool is_template(int pid) {
    const auto line = io::read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
    return line.starts_with("lockstep-template");
  }

  TempDir dir_;
  AgentHome home_;
  io::SystemClock clock_;
  io::EventLoop loop_;
  Workers workers_{2};
  std::vector<Input> inputs_;
  std::unique_ptr<Supervisor> supervisor_;
};

TEST_F(SupervisorTest, StartsARunnerAndHearsItToTheEnd) {
  const Assignment assignment = start("wait");
  ASSERT_TRUE(await_state(PartState::running));
  ASSERT_NE(last<RunnerStarted>(), nullptr);
  EXPECT_TRUE(last<RunnerStarted>()->result);
  Assignment stop = assignment;
  stop.phase = WantedPhase::stop;
  supervisor_->update(stop);
  ASSERT_TRUE(await_state(PartState::finished));
  EXPECT_TRUE(last<RunnerReported>()->report.exit.has_value());
  EXPECT_EQ(last<RunnerGone>(), nullptr);
  supervisor_->remove(assignment.attempt);
  ASSERT_TRUE(await<PartRemoved>());
  EXPECT_FALSE(io::exists(home_.attempt(assignment.attempt).path()));
}

TEST_F(SupervisorTest, ARunnerIsToldOfTheFabricOfItsStart) {
  NodeFabric fabric;
  fabric.ucx = "1.13.1";
  supervisor_->use_fabric(fabric);
  const Assignment assignment = start("wait");
  ASSERT_TRUE(await_state(PartState::running));
  const auto bytes = io::read_file(home_.attempt(assignment.attempt).fabric());
  ASSERT_TRUE(bytes) << bytes.error().message;
  const auto told = wire::decode_node_fabric(*bytes);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(*told, fabric);
}

TEST_F(SupervisorTest, ARunnerThatEndsBeforeItIsDialledIsStillHeard) {
  start("finish");
  ASSERT_TRUE(await_state(PartState::finished));
  EXPECT_EQ(last<RunnerGone>(), nullptr);
}

TEST_F(SupervisorTest, ARunnerThatDiesWithoutAReportIsGone) {
  start("crash");
  ASSERT_TRUE(await<RunnerGone>());
  EXPECT_EQ(last<RunnerReported>(), nullptr);
  EXPECT_TRUE(last<RunnerGone>()->logs.empty());
  EXPECT_EQ(last<RunnerGone>()->last_words, "first | second | no more memory");
}

TEST_F(SupervisorTest, AKilledRunnerIsGone) {
  const Assignment assignment = start("wait");
  ASSERT_TRUE(await_state(PartState::running));
  const io::AttemptDir directory = home_.attempt(assignment.attempt);
  put(directory.log(11, LogStream::out), "eleven");
  put(directory.log(11, LogStream::err), "and an error");
  put(directory.log(1, LogStream::environment), "of a node, not of a rank");
  put(directory.logs() + "/no log of a rank", "x");
  supervisor_->kill(assignment.attempt);
  ASSERT_TRUE(await<RunnerGone>());
  const std::vector<LogSize> sizes = {{0, 20, 0}, {11, 6, 12}};
  EXPECT_EQ(last<RunnerGone>()->logs, sizes);
  EXPECT_EQ(last<RunnerGone>()->last_words, "");
}

TEST_F(SupervisorTest, AProgramThatIsNotThereIsToldAsAFailedStart) {
  supervisor_ = std::make_unique<Supervisor>(
      loop_, workers_, home_,
      Supervisor::RunnerProgram{"/nonexistent/lockstep-runner", gibibytes(1)},
      [this](Input input) { inputs_.push_back(input); });
  start("finish");
  ASSERT_TRUE(await<RunnerStarted>());
  ASSERT_FALSE(last<RunnerStarted>()->result);
  EXPECT_NE(last<RunnerStarted>()->result.error().message.find("/nonexistent/lockstep-runner"),
            std::string::npos);
}

TEST_F(SupervisorTest, RunnersAreForkedFromTheTemplate) {
  const auto first = start_and_find("a"), second = start_and_find("b");
  ASSERT_TRUE(first && second);
  const int parent = parent_of(first->pid);
  EXPECT_TRUE(is_template(parent));
  EXPECT_EQ(parent_of(second->pid), parent);
}

TEST_F(SupervisorTest, WithoutTheTemplateRunnersStartAllTheSameAndItIsStartedAgain) {
  const auto first = start_and_find("a");
  ASSERT_TRUE(first);
  const auto old = io::identify(parent_of(first->pid));
  ASSERT_TRUE(old && is_template(old->pid));
  ASSERT_TRUE(io::signal_process(*old, SIGKILL));
  ASSERT_TRUE(turn_until([&] { turn(); }, [&] { return !io::is_alive(*old); }));
  const auto second = start_and_find("b");
  ASSERT_TRUE(second);
  EXPECT_FALSE(is_template(parent_of(second->pid)));
  const auto third = start_and_find("c");
  ASSERT_TRUE(third);
  EXPECT_TRUE(is_template(parent_of(third->pid)));
  EXPECT_TRUE(io::is_alive(*first)) << "it outlives its template";
}

TEST_F(SupervisorTest, TheTemplateEndsWithTheAgentAndRunnersDoNot) {
  const auto runner = start_and_find("a");
  ASSERT_TRUE(runner);
  const auto parent = io::identify(parent_of(runner->pid));
  ASSERT_TRUE(parent && is_template(parent->pid));
  supervisor_.reset();
  EXPECT_TRUE(
      turn_until([&] { loop_.turn(milliseconds(2)); }, [&] { return !io::is_alive(*parent); }));
  EXPECT_TRUE(io::is_alive(*runner));
  restart();
  EXPECT_EQ(supervisor_->recover(true).parts.at(0).runner, FoundPart::Runner::alive);
}

TEST_F(SupervisorTest, ARestartedAgentAttachesToALiveRunner) {
  const Assignment assignment = start("wait");
  ASSERT_TRUE(await_state(PartState::running));
  restart();
  const Recovered recovered = supervisor_->recover(true);
  ASSERT_EQ(recovered.parts.size(), 1u);
  EXPECT_EQ(recovered.parts[0].runner, FoundPart::Runner::alive);
  EXPECT_EQ(recovered.parts[0].assignment, assignment);
  ASSERT_TRUE(await_state(PartState::running)) << "the new connection gets the whole status";
  Assignment stop = assignment;
  stop.phase = WantedPhase::stop;
  supervisor_->update(stop);
  EXPECT_TRUE(await_state(PartState::finished));
}

TEST_F(SupervisorTest, FindsARunnerThatHasNotWrittenItsPidYet) {
  const Assignment assignment = start("secret");
  ASSERT_TRUE(await_state(PartState::running));
  restart();
  EXPECT_EQ(supervisor_->recover(true).parts.at(0).runner, FoundPart::Runner::alive);
  supervisor_->kill(assignment.attempt);
  EXPECT_TRUE(await<RunnerGone>());
}

TEST_F(SupervisorTest, TellsWhatEndedWhileNoAgentWatched) {
  const Assignment finished = start("finish");
  ASSERT_TRUE(await_state(PartState::finished));
  restart();
  const Recovered once = supervisor_->recover(true);
  ASSERT_EQ(once.parts.size(), 1u);
  EXPECT_EQ(once.parts[0].runner, FoundPart::Runner::finished);
  EXPECT_TRUE(once.parts[0].exit.has_value());

  const io::AttemptDir crashed = home_.attempt({JobId("crashed"), 1});
  put(crashed.assignment(), wire::encode(make_assignment("crashed", "crash")));
  put(crashed.runner_log(), "its last word\n");
  put(crashed.log(2, LogStream::err), "oh no\n");
  put(crashed.log(2, LogStream::err) + ".times", std::string(32, 't'));
  put(crashed.runner_pid(), "1 1\n");
  const io::AttemptDir fresh = home_.attempt({JobId("fresh"), 1});
  put(fresh.assignment(), wire::encode(make_assignment("fresh", "finish")));
  put(home_.attempts() + "/rubbish.1/file", "x");
  put(home_.attempts() + "/not an attempt/file", "x");
  restart();
  const Recovered all = supervisor_->recover(true);
  ASSERT_EQ(all.parts.size(), 3u);
  EXPECT_EQ(all.parts[0].runner, FoundPart::Runner::gone);
  EXPECT_EQ(all.parts[0].logs, (std::vector<LogSize>{{2, 0, 6}}));
  EXPECT_EQ(all.parts[0].log_times, Bytes{32});
  EXPECT_EQ(all.parts[0].last_words, "its last word");
  EXPECT_EQ(all.parts[1].runner, FoundPart::Runner::never_started);
  EXPECT_EQ(all.parts[2].runner, FoundPart::Runner::finished);
  EXPECT_FALSE(io::exists(home_.attempts() + "/rubbish.1"));
  EXPECT_FALSE(io::exists(home_.attempts() + "/not an attempt"));
}

TEST_F(SupervisorTest, AfterARebootNoRunnerLives) {
  start("wait");
  ASSERT_TRUE(await_state(PartState::running));
  EXPECT_EQ(find_parts(home_, false).at(0).found.runner, FoundPart::Runner::gone);
}

TEST_F(SupervisorTest, RemovingARunnerThatDoesNotLeaveKillsItTheSecondTime) {
  const Assignment assignment = start("wait");
  ASSERT_TRUE(await_state(PartState::running));
  supervisor_->remove(assignment.attempt);
  for (int i = 0; i < 5; ++i) turn();
  EXPECT_EQ(last<PartRemoved>(), nullptr);
  supervisor_->remove(assignment.attempt);
  ASSERT_TRUE(await<PartRemoved>());
  EXPECT_FALSE(io::exists(home_.attempt(assignment.attempt).path()));
}

TEST_F(SupervisorTest, ARunnerWhoseDirectoryWasRemovedIsEndedByTheNextAgent) {
  const auto known = start_and_find("known"), unknown = start_and_find("unknown");
  ASSERT_TRUE(known && unknown);
  ASSERT_TRUE(io::remove_tree(home_.attempt({JobId("unknown"), 1}).path()));
  restart();
  const Recovered recovered = supervisor_->recover(true);
  ASSERT_EQ(recovered.parts.size(), 1u);
  EXPECT_EQ(recovered.parts[0].runner, FoundPart::Runner::alive);
  // Ending it may take seconds: nobody waits for that, but what is started now.
  const Assignment next = make_assignment("next", "wait");
  supervisor_->start(next);
  ASSERT_TRUE(turn_until([&] { turn(); },
                         [&] { return find_runner(home_.attempt(next.attempt)).has_value(); }));
  EXPECT_FALSE(io::is_alive(*unknown));
  EXPECT_TRUE(io::is_alive(*known));
}

TEST_F(SupervisorTest, ARunnerThatDiesWithoutItsDirectoryIsToldAsSuch) {
  const auto runner = start_and_find("removed");
  ASSERT_TRUE(runner);
  const std::string path = home_.attempt({JobId("removed"), 1}).path();
  ASSERT_TRUE(io::remove_tree(path));
  ASSERT_TRUE(io::signal_process(*runner, SIGKILL));
  ASSERT_TRUE(await<RunnerGone>());
  EXPECT_EQ(last<RunnerGone>()->last_words, "");
  EXPECT_EQ(last<RunnerGone>()->removed_directory, path);
}

TEST_F(SupervisorTest, WhatWasSetAsideIsTriedAgainAtTheStartAndEachHour) {
  const std::string aside = home_.quarantine() + "/job.1.1";
  const auto is_gone = [&] { return !io::exists(aside); };
  for (const Duration later : {Duration::zero(), Duration(minutes(61))}) {
    put(aside + "/file", "x");
    supervisor_->tick(clock_.now() + later);
    EXPECT_TRUE(turn_until([&] { loop_.turn(milliseconds(2)); }, is_gone));
  }
  put(aside + "/file", "x");
  EXPECT_GT(supervisor_->next_deadline(), clock_.now() + minutes(100)) << "and not before";
}

TEST_F(SupervisorTest, AnAttemptThatCannotBeRemovedHoldsUpNoOther) {
  put(home_.attempt({JobId("stuck"), 1}).code() + "/file", "x");
  put(home_.attempt({JobId("other"), 1}).code() + "/file", "x");
  {
    // The first removal is that of the mount point, which is not there.
    test::DiskFaults faults({"broken", EIO, true, false, {io::disk::Call::remove}}, 2);
    const io::disk::InFront front(faults);
    supervisor_->remove({JobId("stuck"), 1});
    ASSERT_TRUE(await<PartRemoved>());
  }
  inputs_.clear();
  supervisor_->remove({JobId("other"), 1});
  ASSERT_TRUE(await<PartRemoved>());
  EXPECT_FALSE(io::exists(home_.attempt({JobId("other"), 1}).path()));
  EXPECT_TRUE(io::list_directory(home_.attempts())->empty());
}

TEST_F(SupervisorTest, RemovingWhatNeverWasIsDone) {
  supervisor_->remove({JobId("unknown"), 3});
  EXPECT_TRUE(await<PartRemoved>());
}

}  // namespace
}  // namespace lockstep::agent
