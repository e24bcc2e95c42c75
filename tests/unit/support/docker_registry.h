#pragma once
// The test's own image registry, with the images that the test pushes: Debian's docker-registry.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "common/base/check.h"
#include "common/io/file_system.h"

namespace lockstep::test {

// The Docker daemon uses no TLS with it, as with all of 127.0.0.0/8.
class DockerRegistry {
 public:
  static bool is_here() { return ::access(kProgram, X_OK) == 0; }
  explicit DockerRegistry(const std::string& folder) : port_(free_port()) {
    const std::string config = folder + "/registry.yml";
    CHECK(io::write_file_atomically(config,
                                    "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: " +
                                        folder + "/registry\nhttp:\n  addr: " + host() + "\n",
                                    0644, false)
              .has_value(),
          "the registry's configuration");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int log = ::open((folder + "/registry.log").c_str(), O_WRONLY | O_CREAT, 0644);
      ::dup2(log, 1);
      ::dup2(log, 2);
      ::execl(kProgram, kProgram, "serve", config.c_str(), nullptr);
      ::_exit(127);
    }
    for (int round = 0; round < 1200 && !answers(); ++round) ::usleep(50'000);
    EXPECT_TRUE(answers()) << io::read_file(folder + "/registry.log").value_or("");
  }
  ~DockerRegistry() { stop(); }
  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  static constexpr char kProgram[] = "/usr/bin/docker-registry";
  static sockaddr_in address(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }
  static int free_port() {
    const io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at = address(0);
    socklen_t size = sizeof at;
    CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), size) == 0 &&
              ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0,
          "a port");
    return ntohs(at.sin_port);
  }
  bool answers() const {
    const io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in at = address(port_);
    return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  const int port_;
  pid_t pid_ = -1;
};

}  // namespace lockstep::test
