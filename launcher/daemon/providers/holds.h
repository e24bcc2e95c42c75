#pragma once
// The provider's `hold` of each target: one process that keeps up whatever must last as long as the
// machines, such as tunnels, and reports when a machine will be taken away. It is restarted when
// its machines or their settings change, and after a pause when it ends by itself.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "launcher/core/base/action.h"
#include "launcher/core/base/input.h"
#include "launcher/daemon/providers/run.h"
#include "launcher/daemon/providers/setup.h"
#include "launcher/daemon/providers/target_log.h"

namespace lockstep::launcher {

class ProviderHolds {
 public:
  struct Pauses {
    Duration first = seconds(1), longest = seconds(60);  // each pause is twice the one before
    // after a run of this length, the next pause is the first one again
    Duration long_up = minutes(1);
    Duration grace = seconds(5);
    // How often the arguments that `hold` would get now are compared with the running process's
    // arguments.
    Duration look = seconds(10);
  };
  // The parts of the daemon that it uses. All of them outlive this object.
  struct Parts {
    io::EventLoop& loop;
    const ProviderSetup& setup;
    ProviderLog& log;
    const std::function<Instant()>& now;
    const std::function<void(const Input&)>& feed;
  };
  ProviderHolds(Parts parts, Pauses pauses) : parts_(parts), pauses_(pauses) {}

  void perform(const HoldMachines& action);
  void tick();
  Instant due() const;
  std::vector<int> pids() const;

 private:
  struct Hold {
    std::vector<std::string> machines;  // none: the process ends
    std::unique_ptr<ProviderProcess> process;
    // The digest of the running process's request: the request itself may hold passwords.
    Digest request;
    Redactor redactor;
    Instant started, not_before, next_look;
    Duration pause{0};
  };
  PreparedRun prepare(const std::string& target, const Hold& hold) const;
  void start(const std::string& target, Hold& hold);
  void look(const std::string& target, Hold& hold, Instant now);
  void on_line(const std::string& target, std::string_view line);
  void on_end(const std::string& target, const Why& why);
  void log(const std::string& target, const std::string& machine, const std::string& text);

  const Parts parts_;
  const Pauses pauses_;
  std::map<std::string, Hold> holds_;  // by target
};

}  // namespace lockstep::launcher
