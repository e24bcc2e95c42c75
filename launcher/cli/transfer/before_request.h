#pragma once
// The time in which a verb captures and uploads files, before it sends the request that they are
// for. Whatever ends the verb in this time, an error or a signal, a line tells that the launcher
// has done nothing. At most one at a time.

#include "common/base/result.h"
#include "launcher/cli/terminal/terminal.h"

namespace lockstep::cli {

class BeforeRequest {
 public:
  enum class Kind { submission, registration };
  // While it lives, SIGINT, SIGTERM and SIGHUP print that nothing was submitted (or registered)
  // before they end the process.
  BeforeRequest(const Terminal& terminal, Kind kind);
  ~BeforeRequest();
  BeforeRequest(const BeforeRequest&) = delete;
  BeforeRequest& operator=(const BeforeRequest&) = delete;

  // Adds to an error of a launcher that is not there what has become of the work, and what to do.
  Error explained(Error error) const;
  Status explained(const Status& status) const {
    return status ? status : Status(explained(status.error()));
  }

 private:
  const Kind kind_;
};

}  // namespace lockstep::cli
