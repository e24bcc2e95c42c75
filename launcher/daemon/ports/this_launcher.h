#pragma once
// This process, for the service (launcher/api/ports/launcher_process.h): its addresses and its
// disk, its key in join tokens, the logs of its providers, and its thread that parses job files.

#include "common/wire/join_token.h"
#include "launcher/api/ports/launcher_process.h"
#include "launcher/daemon/ports/job_file_parser.h"
#include "launcher/daemon/providers/calls.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"

namespace lockstep::launcher {

class ThisLauncher final : public LauncherProcess {
 public:
  struct Parts {
    LauncherInfo info;      // its disk and its writes are filled in at each call
    wire::JoinToken token;  // its secret and expiry are filled in for each new token
    DurableCore& durable;
    const DiskMonitor& space;
    const ProviderCalls& providers;
    JobFileParser& job_files;
  };
  explicit ThisLauncher(Parts parts) : parts_(std::move(parts)) {}

  LauncherInfo info() const override;
  std::string low_space() const override { return parts_.space.refusal(); }
  NewToken make_token(Duration valid_for) override;
  std::string compute_log(const std::string& target, std::int64_t lines) const override {
    return parts_.providers.log_of(target, lines);
  }
  Status parse_job_file(const Caller& caller, CheckJobFile request,
                        JobFileParser::Then then) override;

 private:
  const Parts parts_;
};

}  // namespace lockstep::launcher
