#pragma once
// Runs lockstep-env as a process: sends it an order and reads its output to the end.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/base/check.h"
#include "common/io/programs/run_program.h"
#include "envs/order.h"

namespace lockstep::envs {

struct Told {
  std::vector<Event> events;
  std::string log;
  int exit_code = -1;
  const Event& last() const { return events.back(); }
  // For a test that expected no failure.
  std::string all() const {
    return log + (last().failed ? "it failed: " + last().failed->message : "");
  }
};

// One running lockstep-env, whose only variables are PATH, HOME and `more`.
class Program {
 public:
  explicit Program(const Order& order, const std::map<std::string, std::string>& more = {}) {
    int in[2], out[2], events[2];
    CHECK(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0 &&
              ::pipe2(events, O_CLOEXEC) == 0,
          "pipes");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(out[1], 2);
      ::dup2(events[1], kEventsFd);
      ::clearenv();
      ::setenv("PATH", "/usr/bin:/bin", 1);
      ::setenv("HOME", order.site.cache.c_str(), 1);
      for (const auto& [name, value] : more) ::setenv(name.c_str(), value.c_str(), 1);
      ::execl(LOCKSTEP_ENV, "lockstep-env", nullptr);
      ::_exit(127);
    }
    for (int fd : {in[0], out[1], events[1]}) ::close(fd);
    const std::string line = to_json(order);
    CHECK(::write(in[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()),
          "the order");
    ::close(in[1]);
    log_reader_ = std::thread([this, fd = out[0]] { read(fd, told_.log); });
    events_reader_ = std::thread([this, fd = events[0]] { read(fd, events_); });
  }
  int pid() const { return pid_; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return told_.log;
  }
  Told wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    log_reader_.join();
    events_reader_.join();
    told_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::istringstream lines(events_);
    for (std::string line; std::getline(lines, line);) {
      auto event = event_from_json(line);
      EXPECT_TRUE(event) << line;
      if (event) told_.events.push_back(*event);
    }
    return std::move(told_);
  }

 private:
  void read(int fd, std::string& into) {
    char buffer[4096];
    for (ssize_t got; (got = ::read(fd, buffer, sizeof buffer)) > 0;) {
      const std::lock_guard lock(mutex_);
      into.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(fd);
  }
  pid_t pid_ = -1;
  std::mutex mutex_;
  Told told_;
  std::string events_;
  std::thread log_reader_, events_reader_;
};

// A wheel with one module, VERSION = version.
inline void write_wheel(const std::string& folder, const std::string& name,
                        const std::string& version, const std::string& needs = "") {
  const std::string script =
      "import sys, zipfile\n"
      "name, version, folder, needs = sys.argv[1:]\n"
      "info = f'{name}-{version}.dist-info'\n"
      "with zipfile.ZipFile(f'{folder}/{name}-{version}-py3-none-any.whl', 'w') as wheel:\n"
      "    wheel.writestr(f'{name}.py', f'VERSION = {version!r}\\n')\n"
      "    wheel.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: "
      "{version}\\n'\n"
      "                   + (f'Requires-Dist: {needs}\\n' if needs else ''))\n"
      "    wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: "
      "true\\nTag: py3-none-any\\n')\n"
      "    wheel.writestr(f'{info}/RECORD', '')\n";
  const auto made = io::run_program(
      {"/usr/bin/python3", "-c", script, name, version, folder, needs}, seconds(30));
  ASSERT_TRUE(made && made->exit_code == 0) << (made ? made->errors : made.error().message);
}

}  // namespace lockstep::envs
