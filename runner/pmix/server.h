#pragma once
// libpmix's server, of which a process has one. A thread of ours carries out the runner's orders,
// one after another; an order that the library never answers holds up the others, and the runner
// ends this process. The ranks' requests come on the library's threads and go to the runner.

#include <pmix_server.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "runner/pmix/channel.h"

namespace lockstep::pmix {

std::string library_version();  // "OpenPMIx 4.2.2rc2"

// The ranks' calls that the runner has not answered yet.
class OpenCalls {
 public:
  struct Call {
    pmix_modex_cbfunc_t callback = nullptr;
    void* data = nullptr;
  };
  std::uint64_t keep(Call call);
  std::optional<Call> take(std::uint64_t id);

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;              // guarded by mutex_
  std::map<std::uint64_t, Call> open_;  // guarded by mutex_
};

class Server {
 public:
  explicit Server(Channel& runner) : runner_(runner) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[noreturn]] void serve();

  // The channel for the library's callbacks (requests.cc).
  Channel& runner() { return runner_; }
  OpenCalls& calls() { return calls_; }
  bool is_of_job(const pmix_proc_t& proc) const { return job_ == proc.nspace; }

 private:
  void carry_out(const Start& order);
  void carry_out(const RegisterRank& order);
  void carry_out(const Fetch& order);
  void carry_out(const Answer& order);
  Status start(const Start& order);
  Status register_job(const Job& job, const std::string& directory);
  Result<Variables> register_rank(const RegisterRank& order) const;
  pmix_proc_t proc_of(int rank) const;

  Channel& runner_;
  OpenCalls calls_;
  std::string job_;  // set before the library starts
};

// The library's callbacks carry no pointer of ours, so they find the only server here.
Server& the_server();

// The callbacks by which the library passes clients' requests to us.
pmix_server_module_t make_module();

}  // namespace lockstep::pmix
