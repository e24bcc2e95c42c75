#pragma once
// The test's own Docker daemon: its socket and its data are in a folder that is removed with it. It
// has only the host's network and reaches no registry; images contain the static busybox. It needs
// root.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "common/io/file_system.h"
#include "common/io/programs/run_program.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::test {

class DockerDaemon {
 public:
  // Why no daemon can run here; "" if one can.
  static std::string why_not() {
    if (::geteuid() != 0) return "needs root: a Docker daemon of the test's own";
    for (const char* program : {kDaemon, kClient, kBusybox})
      if (::access(program, X_OK) != 0) return fmt::format("needs {}", program);
    return "";
  }

  // Returns when the daemon is up; fails the test if it does not come up.
  DockerDaemon() {
    ::chmod(folder_.path().c_str(), 0711);  // ordinary users may talk to it
    pid_ = ::fork();
    if (pid_ == 0) become_daemon();
    const bool is_up = wait_until([&] { return run({"version"}).exit_code == 0; });
    EXPECT_TRUE(is_up) << "dockerd did not start:\n" << folder_.read("log");
    ::chmod(socket().c_str(), 0666);
  }
  ~DockerDaemon() {
    for (const std::string& container : lines(run({"ps", "--all", "--quiet"}).text))
      run({"rm", "--force", container});
    ::kill(pid_, SIGTERM);
    if (!wait_until([&] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; })) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    unmount_all();
  }
  DockerDaemon(const DockerDaemon&) = delete;
  DockerDaemon& operator=(const DockerDaemon&) = delete;

  static std::string client() { return kClient; }
  std::string host() const { return "unix://" + socket(); }

  // Runs the client with these arguments; fails the test if the client fails. Returns its output
  // without the last newline.
  std::string words(const std::vector<std::string>& arguments) const {
    const auto [code, text, errors] = run(arguments);
    EXPECT_EQ(code, 0) << fmt::format("docker {}: {}", fmt::join(arguments, " "), errors);
    return text.substr(0, text.find_last_not_of('\n') + 1);
  }
  // The same, but the client may fail.
  io::ProgramOutput run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{kClient, "--config", folder_ / "client", "--host", host()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto output = io::run_program(all, minutes(1));
    if (!output) return {125, "", output.error().message};
    return *output;
  }

  // Imports an image with only busybox, with /bin/sh unless `shell` is false, and returns its id.
  // `arguments`: more arguments of `docker import`.
  std::string import_busybox(const std::string& name, bool shell = true,
                             const std::vector<std::string>& arguments = {}) const {
    const TempDir root;
    for (const char* place : {"bin", "etc"}) root.folder(place);
    root.folder("tmp", 01777);
    const std::string fill = fmt::format(
        "{0} --list | xargs -I% ln -s busybox {1}/bin/% && cp --remove-destination {0} "
        "{1}/bin/busybox",
        kBusybox, root.path());
    EXPECT_EQ(std::system(fill.c_str()), 0);
    if (!shell)
      for (const char* program : {"bin/sh", "bin/ash"}) ::unlink((root / program).c_str());
    const std::string pack = fmt::format("tar -C {0} -cf {0}/image.tar bin etc tmp", root.path());
    EXPECT_EQ(std::system(pack.c_str()), 0);
    std::vector<std::string> all{"import"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {root / "image.tar", name});
    return words(all);
  }

 private:
  static constexpr char kDaemon[] = "/usr/sbin/dockerd";
  static constexpr char kClient[] = "/usr/bin/docker";
  static constexpr char kBusybox[] = "/bin/busybox";

  std::string socket() const { return folder_ / "docker.sock"; }

  [[noreturn]] void become_daemon() const {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::setsid();
    const int log = ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ::dup2(log, 1);
    ::dup2(log, 2);
    const std::string host_ = host(), data = folder_ / "data", run = folder_ / "run",
                      pid = folder_ / "pid";
    ::execl(kDaemon, "dockerd", "--host", host_.c_str(), "--data-root", data.c_str(), "--exec-root",
            run.c_str(), "--pidfile", pid.c_str(), "--storage-driver", "overlay2", "--bridge",
            "none", "--iptables=false", nullptr);
    ::_exit(127);
  }
  static bool wait_until(const std::function<bool()>& done) {
    for (int round = 0; round < 3000; ++round) {  // 20 ms apart
      if (done()) return true;
      ::poll(nullptr, 0, 20);
    }
    return false;
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) found.push_back(line);
    return found;
  }
  // Unmounts what the daemon left mounted, the deepest mounts first.
  void unmount_all() const {
    const auto table = lines(io::read_file("/proc/self/mountinfo").value_or(""));
    for (auto line = table.rbegin(); line != table.rend(); ++line) {
      std::istringstream fields(*line);
      std::string skip, point;
      fields >> skip >> skip >> skip >> skip >> point;
      if (point.starts_with(folder_.path() + "/")) ::umount2(point.c_str(), MNT_DETACH);
    }
  }

  const TempDir folder_;
  int pid_ = -1;
};

}  // namespace lockstep::test
