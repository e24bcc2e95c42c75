#include "tests/unit/runner/bootstrap/harness_node.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "common/base/check.h"
#include "common/io/clock.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/gang/gang_link.h"

namespace lockstep::runner::harness {
namespace {

std::string read_until_blank_line(int fd) {
  std::string text;
  char c = 0;
  while (read(fd, &c, 1) == 1) {
    text += c;
    if (text.size() >= 2 && text.substr(text.size() - 2) == "\n\n") break;
  }
  return text;
}

void write_text(int fd, const std::string& text) {
  CHECK(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
        "harness channel");
}

class Node {
 public:
  Node(const Plan& plan, int node_rank, int channel)
      : plan_(plan), node_rank_(node_rank), channel_(channel) {}
  int run();

 private:
  bool make_gang(const std::string& table);
  void start_ranks();
  void prepare_ranks();
  void start_rank(int local_rank, const Bootstrap::RankVariables& own);
  void route(GangMessage message);
  void on_message(int from, GangMessage message);
  void reap();
  void on_exit(int rank, int status);
  void fail();
  void kill_ranks();
  void on_connected(int rank);
  void drained_below();
  void leave_if_drained();
  void report();
  void stage(const char* name);

  const Plan& plan_;
  int node_rank_;
  int channel_;
  io::SystemClock clock_;
  const Instant begin_ = clock_.now();
  std::string stages_;
  io::EventLoop loop_;
  GangContext gang_;
  std::unique_ptr<GangLink> link_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::map<int, int> rank_of_pid_;
  std::map<int, RankResult> results_;
  int children_drained_ = 0;
  int prepared_ = 0;      // ranks
  int ends_in_line_ = 0;  // of ranks that are reaped
  bool failed_ = false, told_up_ = false, leave_ = false, started_ = false;
};

bool Node::make_gang(const std::string& table) {
  Assignment& assignment = gang_.assignment;
  assignment.attempt = {JobId(plan_.job_name), 1};
  assignment.experiment = "Default";
  assignment.node_rank = node_rank_;
  assignment.spec.resources.instance_count = plan_.nodes;
  assignment.spec.distribution = {Distribution::Kind::mpi, plan_.ranks_per_node};
  assignment.spec.environment_variables = plan_.environment;
  GangTable members;
  std::istringstream lines(table);
  GangMember member;
  while (lines >> member.hostname >> member.address >> member.host_id >> member.runner_port >>
         member.runner_key.value) {
    members.members.push_back(member);
  }
  assignment.gang = std::move(members);
  gang_.oversubscribed = true;
  gang_.run_as.name = std::to_string(plan_.uid);
  gang_.run_as.uid = plan_.uid;
  gang_.run_as.gid = plan_.gid;
  gang_.tmp_directory = fmt::format("{}/{}.{}", plan_.tmp, plan_.job_name, node_rank_);
  std::filesystem::create_directories(gang_.tmp_directory);
  if (geteuid() == 0) CHECK(chown(gang_.tmp_directory.c_str(), plan_.uid, plan_.gid) == 0, "chown");
  return static_cast<int>(assignment.gang->members.size()) == plan_.nodes;
}

int Node::run() {
  if (!plan_.netns.empty()) {
    const std::string path = "/run/netns/" + plan_.netns[static_cast<std::size_t>(node_rank_)];
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && setns(fd, CLONE_NEWNET) == 0, "cannot enter the network namespace");
    close(fd);
  }
  CHECK(loop_.watch_signals({SIGCHLD}, [this](int) { loop_.post([this] { reap(); }); }), "signals");
  GangLink::Events events;
  events.connected = [this] { start_ranks(); };
  events.received = [this](int from, GangMessage m) { on_message(from, std::move(m)); };
  events.neighbour_lost = [this](int node) {
    std::cerr << "harness: node " << node_rank_ << " lost its neighbour " << node << "\n";
    fail();
    leave_ = true;
  };
  auto link = GangLink::create(loop_, std::move(events));
  CHECK(link, "gang link");
  link_ = std::move(*link);
  write_text(channel_, fmt::format("{} {}\n\n", link_->port(), link_->public_key().value));
  CHECK(make_gang(read_until_blank_line(channel_)), "the harness went away");
  link_->connect(gang_.assignment.attempt, node_rank_, gang_.assignment.gang, {});
  while (!leave_) loop_.turn(Duration::max());
  kill_ranks();
  stage("drained");
  if (bootstrap_) bootstrap_->end();
  stage("ended");
  if (plan_.timing && node_rank_ == 0) std::cerr << "harness: ms:" << stages_ << "\n";
  report();
  return 0;
}

// Each name once: its first time counts.
void Node::stage(const char* name) {
  if (!plan_.timing || stages_.find(name) != std::string::npos) return;
  stages_ +=
      fmt::format(" {} {:.0f}", name, static_cast<double>((clock_.now() - begin_).count()) / 1e6);
}

void Node::start_ranks() {
  stage("linked");
  BootstrapEvents events;
  events.connected = [this](int rank) { on_connected(rank); };
  events.finalized = [this](int rank) {
    results_[rank].finalized = true;
    stage("finalized");
  };
  events.aborted = [this](int rank, int code, std::string message) {
    results_[rank].aborted = true;
    results_[rank].abort_code = code;
    std::cerr << "harness: rank " << rank << " aborted with " << code << ": " << message << "\n";
    for (const auto& [pid, each] : rank_of_pid_)  // MPICH waits for it
      if (each == rank) kill(pid, SIGKILL);
  };
  events.send = [this](GangMessage message) { route(std::move(message)); };
  events.lost = [this](const std::string& why) {
    std::cerr << "harness: " << why << "\n";
    fail();
  };
  auto server =
      pmix::Client::launch(loop_, io::program_directory() + "/lockstep-pmix", plan_.uid, plan_.gid);
  CHECK(server, "lockstep-pmix");
  bootstrap_ = make_bootstrap(gang_, loop_, *std::move(server), std::move(events));
  bootstrap_->begin([this](Status begun) {
    if (!begun) {
      std::cerr << "harness: " << begun.error().message << "\n";
      _exit(125);
    }
    stage("begun");
    prepare_ranks();
  });
}

void Node::prepare_ranks() {
  for (int i = 0; i < plan_.ranks_per_node; ++i) {
    bootstrap_->environment(gang_.assignment.first_rank() + i, i,
                            [this, i](Result<Bootstrap::RankVariables> own) {
                              CHECK(own, "the bootstrap's environment");
                              if (!failed_ && !leave_) start_rank(i, *own);
                              if (++prepared_ < plan_.ranks_per_node) return;
                              stage("started");
                              started_ = true;
                              leave_if_drained();
                            });
  }
}

void Node::start_rank(int local_rank, const Bootstrap::RankVariables& own) {
  const int rank = gang_.assignment.first_rank() + local_rank;
  auto variables = common_environment(gang_, rank, local_rank);
  variables.insert(own.begin(), own.end());
  for (const auto& [name, value] : plan_.environment) variables.insert({name, value});
  variables["PATH"] = "/usr/bin:/bin";
  variables["HOME"] = "/tmp";
  std::vector<std::string> words = {"setpriv", "--pdeathsig", "KILL"};
  if (geteuid() == 0 && plan_.uid != 0) {
    for (const std::string& word :
         {std::string("--reuid"), std::to_string(plan_.uid), std::string("--regid"),
          std::to_string(plan_.gid), std::string("--clear-groups")}) {
      words.push_back(word);
    }
  }
  words.push_back("--");
  words.insert(words.end(), plan_.command.begin(), plan_.command.end());
  std::vector<std::string> settings;
  for (const auto& [name, value] : variables) settings.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (auto& word : words) argv.push_back(word.data());
  for (auto& setting : settings) envp.push_back(setting.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const io::Fd connection = bootstrap_->connection(rank);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, connection.get(), kRankConnectionFd);
  pid_t pid = 0;
  CHECK(posix_spawn(&pid, "/usr/bin/setpriv", &files, &attributes, argv.data(), envp.data()) == 0,
        "posix_spawn");
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  rank_of_pid_[pid] = rank;
  results_[rank].rank = rank;
}

void Node::route(GangMessage message) {
  if (const auto* request = std::get_if<ModexRequest>(&message)) {
    link_->send_to(request->to_node, message);
  } else if (const auto* reply = std::get_if<ModexReply>(&message)) {
    link_->send_to(reply->to_node, message);
  } else if (std::holds_alternative<FencePart>(message)) {
    link_->send_up(message);
  } else {
    link_->send_down(message);
  }
}

void Node::on_message(int from, GangMessage message) {
  if (std::holds_alternative<GangAbort>(message)) {
    failed_ = true;
    kill_ranks();
  } else if (std::holds_alternative<GangNodeDone>(message)) {
    if (from == link_->parent()) {
      link_->send_down(message);
      leave_ = true;
    } else {
      ++children_drained_;
      leave_if_drained();
    }
  } else if (bootstrap_) {
    stage("fence");
    bootstrap_->receive(message);
  }
}

void Node::on_connected(int rank) {
  results_[rank].connected = true;
  stage("connected");
  for (const auto& [each, result] : results_) {
    if (!result.connected) return;
  }
  for (const auto& [pid, each] : rank_of_pid_) {
    if (each == plan_.kill_rank) kill(pid, SIGKILL);
  }
}

// What a rank told its server before it ended has been posted before; so its end waits in line.
void Node::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = rank_of_pid_.find(pid);
    if (found == rank_of_pid_.end()) continue;
    const int rank = found->second;
    rank_of_pid_.erase(found);
    ++ends_in_line_;
    loop_.post([this, rank, status] {
      --ends_in_line_;
      on_exit(rank, status);
    });
  }
}

void Node::on_exit(int rank, int status) {
  RankResult& result = results_[rank];
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.terminated = failed_;
  const bool clean = status == 0 && result.connected && result.finalized;
  if (!clean && !failed_) {
    fail();
    RankExit exit;
    exit.rank = rank;
    link_->broadcast(GangAbort{node_rank_, exit, told("a rank failed")});
  }
  leave_if_drained();
}

void Node::fail() {
  failed_ = true;
  kill_ranks();
}

void Node::kill_ranks() {
  for (const auto& [pid, rank] : rank_of_pid_) kill(pid, SIGKILL);
}

void Node::leave_if_drained() {
  const bool all = started_ && rank_of_pid_.empty() && ends_in_line_ == 0 &&
                   children_drained_ == static_cast<int>(link_->children().size());
  if (!all || told_up_) return;
  told_up_ = true;
  if (link_->parent() >= 0) {
    link_->send_up(GangNodeDone{node_rank_});
  } else {
    link_->send_down(GangNodeDone{node_rank_});
    leave_ = true;
  }
}

void Node::report() {
  namespace fs = std::filesystem;
  std::string text;
  for (const auto& [rank, r] : results_) {
    text += fmt::format("rank {} {} {} {:d} {:d} {:d} {:d} {}\n", rank, r.exit_code, r.signal,
                        r.connected, r.finalized, r.terminated, r.aborted, r.abort_code);
  }
  for (const auto& entry : fs::recursive_directory_iterator(gang_.tmp_directory))
    text += "left " + entry.path().string() + "\n";
  fs::remove_all(gang_.tmp_directory);
  write_text(channel_, text + "end\n\n");
}

}  // namespace

int run_node(const Plan& plan, int node_rank, int channel) {
  return Node(plan, node_rank, channel).run();
}

}  // namespace lockstep::runner::harness
