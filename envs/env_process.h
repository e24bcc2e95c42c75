#pragma once
// Runs lockstep-env, as the user whose environment it is, to its end: its log and its events go to
// the caller as they come, and nothing that it started is left. Blocks; for worker threads. The
// thread that runs it must live as long: lockstep-env ends with it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/process.h"
#include "envs/order.h"

namespace lockstep::envs {

struct EnvironmentOrder {
  std::string program;  // lockstep-env
  io::User user;
  std::map<std::string, std::string> environment;  // all that it and its tools see
  Order order;
  std::vector<std::string> cgroup_procs = {};  // files of cgroups that it joins before it starts
  int lock = -1;                               // a lock that all that it starts holds too
  std::function<void(std::string_view)> on_log = {};
  std::function<void(const std::string&)> on_progress = {};
  std::function<bool()> go_on = {};  // asked several times a second; false: it is ended
};

inline constexpr std::size_t kMaxErrorBytes = 8 << 10;

// Returns its result event, a lock or an activation. conflict: `go_on` returned false; internal: it
// ended without a result. Else the error that it reported; one longer than kMaxErrorBytes is
// shortened here, and is whole in the log.
Result<Event> run_lockstep_env(const EnvironmentOrder& what);

// What lockstep-env sees of our environment: where programs are, the language, and what the
// tools' own documentation says about proxies, certificates and indexes.
std::map<std::string, std::string> tool_environment(const std::map<std::string, std::string>& ours,
                                                    const io::User& user,
                                                    const std::string& scratch);

// The absolute path that lockstep-env would find in that environment; "" = none.
std::string find_on_path(const std::map<std::string, std::string>& environment,
                         const std::string& program);

}  // namespace lockstep::envs
