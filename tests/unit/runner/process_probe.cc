#include "tests/unit/runner/process_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace lockstep::runner::testing {
namespace {

constexpr auto kTimeout = std::chrono::seconds(60);
using Steady = std::chrono::steady_clock;

}  // namespace

bool turn_until(io::EventLoop& loop, const std::function<bool()>& done) {
  const auto deadline = Steady::now() + kTimeout;
  while (!done()) {
    if (Steady::now() > deadline) return false;
    loop.turn(milliseconds(50));
  }
  return true;
}

bool wait_until(const std::function<bool()>& done) {
  const auto deadline = Steady::now() + kTimeout;
  while (!done()) {
    if (Steady::now() > deadline) return false;
    poll(nullptr, 0, 5);
  }
  return true;
}

Pipe::Pipe() {
  int fds[2] = {-1, -1};
  if (pipe2(fds, O_CLOEXEC) != 0) std::abort();
  reader_.reset(fds[0]);
  writer_.reset(fds[1]);
}

std::optional<std::string> Pipe::read_to_end() {
  close_writer();
  std::string text;
  char buffer[4096];
  const auto deadline = Steady::now() + kTimeout;
  while (Steady::now() < deadline) {
    pollfd polled{reader_.get(), POLLIN, 0};
    if (poll(&polled, 1, 100) <= 0) continue;
    const ssize_t length = read(reader_.get(), buffer, sizeof buffer);
    if (length == 0) return text;
    if (length > 0) text.append(buffer, static_cast<std::size_t>(length));
  }
  return std::nullopt;
}

std::string Pipe::read_line() {
  std::string text;
  const auto deadline = Steady::now() + kTimeout;
  while (Steady::now() < deadline) {
    pollfd polled{reader_.get(), POLLIN, 0};
    if (poll(&polled, 1, 100) <= 0) continue;
    char c = 0;
    if (read(reader_.get(), &c, 1) != 1) return text;
    text.push_back(c);
    if (c == '\n') return text;
  }
  return "";
}

TemporaryDirectory::TemporaryDirectory() {
  char name[] = "/tmp/lockstep-runner-test-XXXXXX";
  if (mkdtemp(name) == nullptr) std::abort();
  path_ = name;
  chmod(name, 0755);
}

TemporaryDirectory::~TemporaryDirectory() { (void)io::remove_tree(path_); }

bool running_as_root() { return geteuid() == 0; }

}  // namespace lockstep::runner::testing
