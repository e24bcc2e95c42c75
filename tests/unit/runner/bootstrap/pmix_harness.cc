// pmix_harness: runs MPI jobs through the real GangLink and PMIx bootstrap, one process per node,
// without the runner's shell. For tests and for measuring.
//   pmix_harness --nodes 2 --ranks 2 [--jobs 200] [--netns a,b --addresses x,y] [--uid U --gid G]
//                [--kill-rank R] [--name JOB] [--env K=V] [--timeout S] [--timing] -- PROGRAM
//                ARGUMENT…
// Exits with the first failing rank's code (128+signal; 125 for one that never connected or did not
// finalize), 124 on time-out, 126 when files were left behind.

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "common/base/check.h"
#include "tests/unit/runner/bootstrap/harness_node.h"

namespace lockstep::runner::harness {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Process {
  pid_t pid = 0;
  int channel = -1;
  std::string text;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Reads until a blank line ends the text; false at the deadline or when the node is gone.
bool read_text(Process& node, SteadyClock::time_point deadline) {
  node.text.clear();
  while (node.text.size() < 2 || node.text.substr(node.text.size() - 2) != "\n\n") {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    pollfd item{node.channel, POLLIN, 0};
    if (left.count() <= 0 || poll(&item, 1, static_cast<int>(left.count())) <= 0) return false;
    char buffer[4096];
    const ssize_t n = read(node.channel, buffer, sizeof buffer);
    if (n <= 0) return false;
    node.text.append(buffer, static_cast<std::size_t>(n));
  }
  return true;
}

int code_of(const RankResult& r) {
  if (r.aborted) return r.abort_code;
  if (r.signal != 0) return 128 + r.signal;
  if (r.exit_code != 0) return r.exit_code;
  return r.connected && r.finalized ? 0 : 125;
}

int judge(const Process& node) {
  int code = 0;
  std::istringstream lines(node.text);
  for (std::string word; lines >> word;) {
    if (word == "rank") {
      RankResult r;
      lines >> r.rank >> r.exit_code >> r.signal >> r.connected >> r.finalized >> r.terminated >>
          r.aborted >> r.abort_code;
      if (r.terminated && !r.aborted) continue;
      if (code_of(r) != 0) {
        std::cerr << fmt::format(
            "harness: rank {} failed: exit {} signal {} connected {} finalized {}\n", r.rank,
            r.exit_code, r.signal, r.connected, r.finalized);
      }
      if (code == 0) code = code_of(r);
    } else if (word == "left") {
      std::string path;
      std::getline(lines, path);
      std::cerr << "harness: left behind:" << path << "\n";
      if (code == 0) code = 126;
    }
  }
  return code;
}

class Job {
 public:
  explicit Job(Plan plan) : plan_(std::move(plan)) {}
  ~Job() {
    for (Process& node : nodes_) {
      if (node.channel >= 0) close(node.channel);
    }
  }
  int run(std::chrono::seconds timeout) {
    const auto deadline = SteadyClock::now() + timeout;
    for (int i = 0; i < plan_.nodes; ++i) start(i);
    int code = exchange(deadline) ? 0 : 124;
    if (code == 124) std::cerr << "harness: no answer from a node in time, or it died\n";
    for (Process& node : nodes_) {
      int status = 0;
      const bool ended = code == 124 && waitpid(node.pid, &status, WNOHANG) == node.pid;
      if (ended && WIFSIGNALED(status))
        std::cerr << "harness: a node was killed by signal " << WTERMSIG(status) << "\n";
      if (code == 124 && !ended) kill(node.pid, SIGKILL);
      if (!ended) waitpid(node.pid, &status, 0);
      if (code == 0) code = judge(node);
      if (code == 0 && status != 0) code = 125;
    }
    return code;
  }

 private:
  void start(int node) {
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
    const pid_t pid = fork();
    CHECK(pid >= 0, "fork");
    if (pid == 0) {
      for (Process& other : nodes_) close(other.channel);
      close(pair[0]);
      _exit(run_node(plan_, node, pair[1]));
    }
    close(pair[1]);
    nodes_.push_back({pid, pair[0], {}});
  }
  bool exchange(SteadyClock::time_point deadline) {
    std::string table;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!read_text(nodes_[i], deadline)) return false;
      const std::string address = plan_.addresses.empty() ? "127.0.0.1" : plan_.addresses[i];
      const std::string host = plan_.netns.empty() ? "host" : plan_.netns[i];
      table += fmt::format("{} {} {} {}", host, address, host,
                           nodes_[i].text.substr(0, nodes_[i].text.size() - 1));
    }
    table += "\n";
    for (Process& node : nodes_) {
      if (write(node.channel, table.data(), table.size()) < 0) return false;
    }
    for (Process& node : nodes_) {
      if (!read_text(node, deadline)) return false;
    }
    return true;
  }

  Plan plan_;
  std::vector<Process> nodes_;
};

struct Options {
  Plan plan;
  int jobs = 1, timeout_s = 60;
  bool timing = false;
  std::string name = "job";  // of the first job; the others' names end with a number
};

Options parse(int argc, char** argv) {
  Options options;
  options.plan.uid = geteuid();
  options.plan.gid = getegid();
  int i = 1;
  const auto value = [&]() -> std::string {
    CHECK(i + 1 < argc, "an option lacks its value");
    return argv[++i];
  };
  for (; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string name = argv[i];
    if (name == "--nodes")
      options.plan.nodes = std::stoi(value());
    else if (name == "--ranks")
      options.plan.ranks_per_node = std::stoi(value());
    else if (name == "--jobs")
      options.jobs = std::stoi(value());
    else if (name == "--netns")
      options.plan.netns = split(value());
    else if (name == "--addresses")
      options.plan.addresses = split(value());
    else if (name == "--uid")
      options.plan.uid = static_cast<unsigned>(std::stoul(value()));
    else if (name == "--gid")
      options.plan.gid = static_cast<unsigned>(std::stoul(value()));
    else if (name == "--kill-rank")
      options.plan.kill_rank = std::stoi(value());
    else if (name == "--name")
      options.name = value();
    else if (name == "--timeout")
      options.timeout_s = std::stoi(value());
    else if (name == "--timing")
      options.timing = options.plan.timing = true;
    else if (name == "--env") {
      const std::string setting = value();
      const std::size_t equals = setting.find('=');
      options.plan.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
    } else {
      CHECK(false, "unknown option");
    }
  }
  for (++i; i < argc; ++i) options.plan.command.emplace_back(argv[i]);
  CHECK(!options.plan.command.empty(), "usage: pmix_harness [OPTIONS] -- PROGRAM ARGUMENT...");
  return options;
}

int run_jobs(Options options) {
  char tmp[] = "/tmp/pmix-harness-XXXXXX";
  CHECK(mkdtemp(tmp) != nullptr, "mkdtemp");
  std::filesystem::permissions(tmp, std::filesystem::perms(0755));
  options.plan.tmp = tmp;
  int code = 0;
  for (int job = 0; job < options.jobs && code == 0; ++job) {
    options.plan.job_name = options.name + (job > 0 ? std::to_string(job) : "");
    const auto begin = SteadyClock::now();
    code = Job(options.plan).run(std::chrono::seconds(options.timeout_s));
    if (code != 0 && options.jobs > 1) std::cerr << "harness: job " << job << " failed\n";
    if (options.timing) {
      std::cerr << fmt::format("harness: {:.3f} s\n",
                               std::chrono::duration<double>(SteadyClock::now() - begin).count());
    }
  }
  std::filesystem::remove_all(tmp);
  return code;
}

}  // namespace
}  // namespace lockstep::runner::harness

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // as the runner: PMIx writes to clients that are no more
  return lockstep::runner::harness::run_jobs(lockstep::runner::harness::parse(argc, argv));
}
