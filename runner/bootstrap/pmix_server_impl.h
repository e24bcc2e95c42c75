#pragma once
// The inside of PmixServer, shared by its two files: pmix_server.cc makes the calls, and
// pmix_requests.cc answers those of the library. Seen by nobody else.

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

  // From the library's threads to the loop's; dropped when the server is gone by then.
  template <typename F>
  void hand_over(F work) {
    loop.post([weak = weak_from_this(), work = std::move(work)]() mutable {
      if (const auto self = weak.lock()) work(*self);
    });
  }

  // What the library has not answered yet.
  struct Operation {
    Instant until;
    std::string what;
    std::function<void(Error)> fail;
  };
  // Has the library's thread do `work`, and `done` take its result on the loop, unless it has
  // expired by then. R: made of an Error, too.
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
  std::map<std::uint64_t, Operation> operations;  // by age
  // How far the library is; of its thread alone.
  enum class Library { off, on, has_job } state = Library::off;
  LibraryThread library;  // last: it ends before what its calls use
};

// The library's callbacks carry no pointer of ours, so its only instance must be found here. Set
// before PMIx_server_init and cleared after PMIx_server_finalize: no callback sees it change.
PmixServer::Impl& the_pmix_server();

// What clients ask of the library and it of us.
pmix_server_module_t make_pmix_module();

}  // namespace lockstep::runner
