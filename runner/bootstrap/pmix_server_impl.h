#pragma once
// The implementation of PmixServer, private to its two files: pmix_server.cc calls the library, and
// pmix_requests.cc answers the library's calls.

#include <pmix_server.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/io/clock.h"
#include "runner/bootstrap/library_thread.h"
#include "runner/bootstrap/pmix_server.h"

namespace lockstep::runner {

struct PmixServer::Impl : std::enable_shared_from_this<PmixServer::Impl> {
  Impl(io::EventLoop& l, Options o, Requests r)
      : loop(l), options(std::move(o)), requests(std::move(r)) {}

  // Posts `work` from a library thread to the loop; it is dropped if the server is destroyed
  // before.
  template <typename F>
  void hand_over(F work) {
    loop.post([weak = weak_from_this(), work = std::move(work)]() mutable {
      if (const auto self = weak.lock()) work(*self);
    });
  }

  // A call that the library has not answered yet.
  struct Operation {
    Instant until;
    std::string what;
    std::function<void(Error)> fail;
  };
  // Runs `work` on the library's thread, then `done` with its result on the loop, unless the
  // operation has expired before. R must be constructible from an Error.
  template <typename R>
  void operate(std::string what, std::function<R()> work, std::function<void(R)> done) {
    const std::uint64_t id = ++last_operation;
    operations[id] = {clock.now() + kOperationTimeout, std::move(what),
                      [done](Error error) { done(R(std::move(error))); }};
    library.run([this, id, work = std::move(work), done = std::move(done)] {
      hand_over([id, done, result = work()](Impl& self) {
        if (self.operations.erase(id) > 0) done(result);
      });
    });
  }

  io::EventLoop& loop;
  const Options options;
  const Requests requests;
  io::SystemClock clock;
  std::uint64_t last_operation = 0;
  std::map<std::uint64_t, Operation> operations;  // oldest first
  // The library's state; for its thread only.
  enum class Library { off, on, has_job } state = Library::off;
  LibraryThread library;  // declared last, so that it ends before the members that its calls use
};

// The library's callbacks carry no pointer of ours, so they find the only server here. It is set
// before PMIx_server_init and cleared after PMIx_server_finalize, so that no callback sees it
// change.
PmixServer::Impl& the_pmix_server();

// The callbacks by which the library passes clients' requests to us.
pmix_server_module_t make_pmix_module();

}  // namespace lockstep::runner
