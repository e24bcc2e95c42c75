#pragma once
// The runner's side of lockstep-spawn: starts it (in its own namespaces if requested), sends
// orders, and turns its answers into calls on the loop. It owns the process and its socket; it
// decides nothing, and knows nothing about jobs.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/spawn/namespaces.h"
#include "runner/spawn/protocol.h"

namespace lockstep::spawn {

// The start parameters of a rank's process, or of a kept program's (protocol.h).
struct RankProcess {
  std::string program;  // a path, or a bare name to look up in `path`
  std::string path;     // the PATH for the lookup
  std::string cwd = "/";
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::vector<std::string> cgroup_procs;  // cgroup.procs files of the cgroups to join
  std::vector<int> cpus;                  // empty: the cpus stay unchanged
  std::vector<RlimitEntry> rlimits;
  bool set_ids = false;
  std::uint32_t uid = 0, gid = 0;
  std::vector<std::uint32_t> groups;
};
// The argument block of the protocol.
std::string encode(const RankProcess& rank);

// How much a rank used, including the descendants that were waited for.
struct Spent {
  Duration cpu_time{0};
  Bytes largest = {};  // the most resident memory of one process
};

inline constexpr Duration kSpawnEndTimeout = seconds(10);

class Client {
 public:
  struct Events {
    std::function<void(int id, int pid)> started;
    std::function<void(int id, int error, SpawnStage stage)> failed;
    std::function<void(int id, int wait_status, const Spent& spent)> exited;
    std::function<void()> empty;
    std::function<void()> lost;  // lockstep-spawn has died, and its ranks with it; at most once
  };

  // Starts `program` and waits until it runs. Call it before any thread exists.
  static Result<std::unique_ptr<Client>> launch(io::EventLoop& loop, const std::string& program,
                                                const Namespaces& namespaces, Events events);
  // Makes a client for a lockstep-spawn that is not our child and connects later (in a container):
  // orders are kept until connect() is called.
  static std::unique_ptr<Client> expect(io::EventLoop& loop, Events events);
  void connect(io::Fd socket);
  // Closes the socket. If lockstep-spawn is our child, waits until it has killed everything and
  // exited, at most kSpawnEndTimeout: a rank blocked in the kernel may delay that. Call it only
  // after the loop has ended.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // None of these blocks: orders that a frozen lockstep-spawn does not take are kept until it does.
  // The caller keeps the descriptors and closes them. `connection_fd`: see kConnectionFd; -1: none.
  // `flags`: kKept, kTerminal.
  Status start(int id, const RankProcess& rank, int stdin_fd, int stdout_fd, int stderr_fd,
               int connection_fd = -1, int flags = 0);
  void signal(int id, int signal_number);
  void end(int id);  // a kept program and all that it started
  void signal_all(int signal_number);
  void warn_all(int signal_number);  // signals only processes that handle it
  void kill_all();
  int pid() const { return pid_; }  // -1: it is not our child

 private:
  struct Order {
    Header header;
    std::vector<io::Fd> fds;
  };
  enum class Link { expected, connected, lost };
  enum class Sent { yes, not_now };

  Client(io::EventLoop& loop, int pid, Events events);
  void receive();
  void lose();
  void stop_watching();
  Status send(const Header& header, const int* fds, int count);
  Status keep(const Header& header, const int* fds, int count);
  Result<Sent> transmit(const Header& header, const int* fds, int count) const;
  void flush();

  io::EventLoop& loop_;
  Link link_ = Link::expected;
  io::Fd socket_;
  int pid_;
  Events events_;
  std::deque<Order> kept_;  // the orders that are not sent yet
};

}  // namespace lockstep::spawn
