#pragma once
// Parses job files that users ask to have checked, on its own thread, so that a hostile file cannot
// block the event loop. Users take turns, and it bounds how many files wait in total and of each
// user, so that one user's files cannot fill the memory or hold up others.

#include <functional>
#include <string>

#include "common/domain/messages/job_check.h"
#include "common/io/event_loop.h"
#include "launcher/api/checks/job_file_check.h"
#include "launcher/daemon/work/fair_workers.h"

namespace lockstep::launcher {

class JobFileParser {
 public:
  explicit JobFileParser(io::EventLoop& loop);

  using Then = std::function<void(spec::JobFileReading)>;
  // Parses a file. `then` is called on the loop, later. Returns resource_exhausted if too many
  // wait; then it is not called.
  Status parse(const std::string& principal, CheckJobFile request, Then then);

 private:
  struct Work;
  io::EventLoop& loop_;
  FairWorkers worker_;  // last member, because its work refers to the others
};

}  // namespace lockstep::launcher
