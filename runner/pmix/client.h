#pragma once
// The runner's side of lockstep-pmix: starts it as the run-as user, sends orders, and turns its
// reports into calls on the loop. It owns the process and its socket. The server parses what ranks
// send and may do anything, so each report is checked; one that cannot be read ends it. An order
// that is not answered within kOperationTimeout has failed.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "common/io/net/framed_socket.h"
#include "runner/pmix/process.h"
#include "runner/pmix/protocol.h"

namespace lockstep::pmix {

inline constexpr Duration kOperationTimeout = seconds(10);
// The ranks' calls without an answer: their number, and the bytes of their data.
inline constexpr std::size_t kMaxOpenCalls = 65'536;
inline constexpr std::size_t kMaxOpenBytes = 256u << 20;
inline constexpr int kMaxLines = 100;  // the most lines of one server in the runner's log

class Client {
 public:
  // Answers one call of a rank, once: with the union of the contributions (a fence), or with the
  // rank's data (a direct modex).
  using Reply = std::function<void(bool found, const std::string& data)>;

  // Called on the loop, never after this object is destroyed. `rank` is one of this node; the ranks
  // of a fence are of the job, and some of them of this node.
  struct Events {
    std::function<void(int rank)> connected;
    std::function<void(int rank)> finalized;
    std::function<void(int rank, int code, std::string message)> aborted;
    std::function<void(std::set<int> ranks, bool whole_job, std::string data, Reply)> fence;
    std::function<void(int rank, Reply)> modex;
    // called when a request is refused: spawn, publish, connect …
    std::function<void(int rank, std::string what)> refused;
    // The server has ended, or was ended because its reports are unreadable. At most once, and
    // last; operations that it had not answered have failed before.
    std::function<void(std::string why)> lost;
  };
  using Started = std::function<void(Status)>;
  using Registered = std::function<void(Result<Variables>)>;

  // Starts the program at `path`.
  static Result<std::unique_ptr<Client>> launch(io::EventLoop& loop, const std::string& path,
                                                std::uint32_t uid, std::uint32_t gid);
  Client(io::EventLoop& loop, io::Fd socket, Process process);
  ~Client();  // kills the process
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Starts the server, once. A job without ranks only starts the library.
  void start(const Job& job, const std::string& directory, Events events, Started started);
  void register_rank(int rank, std::uint32_t uid, std::uint32_t gid, Registered registered);
  // The data that a local rank has put, once the rank commits it. It may take any time.
  void fetch(int rank, Reply reply);

  // The time of the next expire(), which fails the operations that took too long.
  Instant next_deadline() const;
  void expire(Instant now);

  int pid() const { return process_.pid(); }
  const std::string& library() const { return library_; }  // "" before its first report

 private:
  struct Operation {
    Instant until;
    std::string what;
    std::function<void(Result<Variables>)> done;
  };
  bool is_here(int rank) const;
  bool is_in_job(int rank) const;
  std::uint64_t begin(std::string what, std::function<void(Result<Variables>)> done);
  void send(const Order& order);
  void receive(const std::string& frame);
  std::optional<Reply> open_call(std::uint64_t id, std::size_t bytes);
  void on(Hello& report);
  void on(Done& report);
  void on(Fetched& report);
  void on(Connected& report);
  void on(Finalized& report);
  void on(Aborted& report);
  void on(Fence& report);
  void on(Modex& report);
  void on(Refused& report);
  void on(TurnedAway& report);
  void read_errors();
  void stop_reading_errors();
  void note(const std::string& line);
  void lose(std::string why);

  io::EventLoop& loop_;
  io::SystemClock clock_;
  Process process_;
  std::unique_ptr<io::FramedSocket> socket_;  // null: the connection is lost
  std::string why_lost_;
  std::string library_;
  Job job_;
  Events events_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Operation> operations_;  // oldest first
  std::map<std::uint64_t, Reply> fetches_;
  std::map<std::uint64_t, std::size_t> open_calls_;  // calls with the bytes of each
  std::size_t open_bytes_ = 0;
  std::string errors_;  // the line that its standard error has not ended yet
  bool is_reading_errors_ = true;
  std::string last_line_;
  int lines_ = 0;
};

}  // namespace lockstep::pmix
