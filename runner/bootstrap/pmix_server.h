#pragma once
// libpmix's server as one object: starts and ends the library, registers namespace and clients, and
// hands what clients ask for to the loop's thread. It owns the library's only instance in the
// process and knows nothing of gangs or trees. The library is called on a thread of its own
// (LibraryThread): an operation that it does not answer holds up nobody, and has failed after
// kOperationTimeout.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/event_loop.h"

namespace lockstep::runner {

class PmixInfo;

std::string pmix_version();  // of the library that is loaded: "4.2.2"

inline constexpr Duration kOperationTimeout = seconds(10);

class PmixServer {
 public:
  // Answers one request of the library, exactly once, from any thread. `data` is the union of the
  // contributions (a fence) or the rank's data (a direct modex).
  using Answer = std::function<void(bool ok, const std::string& data)>;

  // On the loop's thread, never after the object is gone.
  struct Requests {
    std::function<void(int rank)> connected;
    std::function<void(int rank)> finalized;
    std::function<void(int rank, int code, std::string message)> aborted;
    // `whole_job`: the client named the namespace, not ranks.
    std::function<void(std::set<int> ranks, bool whole_job, std::string data, Answer)> fence;
    std::function<void(int rank, Answer)> modex;
    std::function<void(int rank, std::string what)> refused;  // spawn, publish, connect …
  };
  struct Options {
    std::string name;         // namespace of the job; unique per attempt
    std::string server_name;  // namespace of the servers
    int server_rank = 0;
    std::string host;       // as in the node map
    std::string directory;  // for the library's files; exists
  };

  // What the ranks are told of their job; `describe` is called on the library's thread.
  struct Job {
    int local_ranks = 0;
    std::function<Status(PmixInfo*)> describe;
  };
  using Started = std::function<void(Status)>;
  using Variables = std::map<std::string, std::string>;
  using Registered = std::function<void(Result<Variables>)>;

  PmixServer(io::EventLoop& loop, Options options, Requests requests);
  // Deregisters the namespace and ends the library; blocks for milliseconds, or, where the library
  // hangs, for ever. For a process whose loop has ended: see end_within.
  ~PmixServer();
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  // Each of these answers once, on the loop, unless the object is gone by then.
  void start(std::optional<Job> job, Started started);
  // The variables by which the rank finds this server.
  void register_rank(int rank, std::uint32_t uid, std::uint32_t gid, Registered registered);
  // The data that a local rank has put; answered when the rank commits it.
  void fetch(int rank, Answer answer);

  // When to call expire(), which answers the operations that took too long with an error.
  Instant next_deadline() const;
  void expire(Instant now);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace lockstep::runner
