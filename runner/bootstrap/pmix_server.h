#pragma once
// libpmix's server as one object: it starts and ends the library, registers the namespace and the
// clients, and passes the clients' requests to the loop's thread. It owns the library's only
// instance in the process and does not know the gang or its tree. The library is called on a
// separate thread (LibraryThread), so that an unanswered operation does not block the loop; it
// fails after kOperationTimeout.

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

std::string pmix_version();  // of the loaded library: "4.2.2"

inline constexpr Duration kOperationTimeout = seconds(10);

class PmixServer {
 public:
  // Answers one request of the library. Call it exactly once, from any thread. `data` is the union
  // of the contributions (a fence) or the rank's data (a direct modex).
  using Answer = std::function<void(bool ok, const std::string& data)>;

  // Called on the loop's thread, never after this object is destroyed.
  struct Requests {
    std::function<void(int rank)> connected;
    std::function<void(int rank)> finalized;
    std::function<void(int rank, int code, std::string message)> aborted;
    // `whole_job`: the client named the whole namespace instead of ranks.
    std::function<void(std::set<int> ranks, bool whole_job, std::string data, Answer)> fence;
    std::function<void(int rank, Answer)> modex;
    std::function<void(int rank, std::string what)> refused;  // spawn, publish, connect …
  };
  struct Options {
    std::string name;         // namespace of the job; unique per attempt
    std::string server_name;  // namespace of the servers
    int server_rank = 0;
    std::string host;       // this node's name in the node map
    std::string directory;  // for the library's files; must exist
  };

  // The job information for the ranks; `describe` is called on the library's thread.
  struct Job {
    int local_ranks = 0;
    std::function<Status(PmixInfo*)> describe;
  };
  using Started = std::function<void(Status)>;
  using Variables = std::map<std::string, std::string>;
  using Registered = std::function<void(Result<Variables>)>;

  PmixServer(io::EventLoop& loop, Options options, Requests requests);
  // Deregisters the namespace and ends the library. Blocks for milliseconds, or for ever if the
  // library hangs. Call it only after the loop has ended: see end_within.
  ~PmixServer();
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  // Each of these calls back once, on the loop, unless this object is destroyed before.
  void start(std::optional<Job> job, Started started);
  // Returns the variables with which the rank finds this server.
  void register_rank(int rank, std::uint32_t uid, std::uint32_t gid, Registered registered);
  // Returns the data that a local rank has put, once the rank commits it.
  void fetch(int rank, Answer answer);

  // When to call expire(), which fails the operations that took too long.
  Instant next_deadline() const;
  void expire(Instant now);

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace lockstep::runner
