#pragma once
// Serves a folder over HTTP on this machine until the end of the test, with the faults that
// tests/support/http_server.py can inject.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "common/base/check.h"

namespace lockstep::envs {

class HttpServer {
 public:
  // `status`: the status of every answer, unless it is 0.
  explicit HttpServer(const std::string& folder, int status = 0) {
    int out[2];
    CHECK(::pipe2(out, O_CLOEXEC) == 0, "a pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], 1);
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 2);
      ::execl("/usr/bin/python3", "python3", LOCKSTEP_HTTP_SERVER, folder.c_str(),
              std::to_string(status).c_str(), nullptr);
      ::_exit(127);
    }
    ::close(out[1]);
    for (char c; ::read(out[0], &c, 1) == 1 && c != '\n';) port_ += c;
    ::close(out[0]);
    EXPECT_FALSE(port_.empty());
  }
  ~HttpServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + port_ + "/" + path;
  }

 private:
  pid_t pid_ = -1;
  std::string port_;
};

}  // namespace lockstep::envs
