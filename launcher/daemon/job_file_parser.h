#pragma once
// Parses job files that users ask to have checked, on a thread of its own: a hostile file takes its
// time from no loop. Few wait at once, and of one user fewer, so that nobody's files fill the
// memory or keep others waiting.

#include <functional>
#include <map>
#include <string>

#include "common/domain/job_file.h"
#include "common/io/event_loop.h"
#include "launcher/api/job_file_check.h"
#include "launcher/daemon/worker.h"

namespace lockstep::launcher {

class JobFileParser {
 public:
  explicit JobFileParser(io::EventLoop& loop);

  using Then = std::function<void(Result<spec::JobFile>)>;
  // `then` is called on the loop, later. resource_exhausted: too many wait; it is not called.
  Status parse(const std::string& user, CheckJobFile request, Then then);

 private:
  struct Work;
  io::EventLoop& loop_;
  std::map<std::string, int> waiting_;  // user -> how many
  int all_waiting_ = 0;
  Worker worker_;  // last: its work refers to the rest
};

}  // namespace lockstep::launcher
