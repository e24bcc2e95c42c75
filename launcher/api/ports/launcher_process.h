#pragma once
// The service's interface to the launcher's process: its machine, its keys and its threads, as far
// as no other interface covers them.

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/client_protocol.h"
#include "launcher/api/ports/launcher_info.h"
#include "launcher/core/access/authority.h"
#include "launcher/files/job_file.h"

namespace lockstep::launcher {

// A join token; the core learns only the hash of its secret.
struct NewToken {
  Digest secret_hash;
  TokenReply reply;
};

class LauncherProcess {
 public:
  virtual ~LauncherProcess() = default;
  virtual LauncherInfo info() const = 0;
  // Why no new work is accepted: the disk's space is low; "" while it is accepted.
  virtual std::string low_space() const = 0;
  // Makes a token from random numbers; it expires `valid_for` from now.
  virtual NewToken make_token(Duration valid_for) = 0;
  // The newest lines of the log of this target's provider; "": it has none.
  virtual std::string compute_log(const std::string& target, std::int64_t lines) const = 0;
  // Calls parse() of job_file_check.h on another thread, in the caller's turn; answers later, on
  // the loop. Returns an error if too many files wait; `then` is not called.
  virtual Status parse_job_file(const Caller& caller, CheckJobFile request,
                                std::function<void(spec::JobFileReading)> then) = 0;
};

}  // namespace lockstep::launcher
