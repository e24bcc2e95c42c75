#pragma once
// Runs lockstep-env to its end as the user who owns the environment. The caller receives its log
// and events as they arrive, and no process that it started is left. Blocks; for worker threads.
// The calling thread must live until it returns, because lockstep-env ends when that thread ends.

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
  std::map<std::string, std::string> environment;  // the whole environment of it and its tools
  Order order;
  std::vector<std::string> cgroup_procs = {};  // files of the cgroups that it joins at its start
  int lock = -1;                               // a lock's descriptor, inherited by its processes
  std::function<void(std::string_view)> on_log = {};
  std::function<void(const std::string&)> on_progress = {};
  std::function<bool()> go_on = {};  // called several times a second; false: end lockstep-env
};

inline constexpr std::size_t kMaxErrorBytes = 8 << 10;

// Runs lockstep-env and returns its last event, the result. Returns conflict if `go_on` returned
// false, internal if the process ended without a result, and else the error that it reported. If
// that is longer than kMaxErrorBytes, its middle is cut here, and the log has the whole text.
Result<Event> run_lockstep_env(const EnvironmentOrder& what);

// The part of our environment that lockstep-env gets: PATH, the language, and the tools' documented
// variables for proxies, certificates and indexes.
std::map<std::string, std::string> tool_environment(const std::map<std::string, std::string>& ours,
                                                    const io::User& user,
                                                    const std::string& scratch);

// The absolute path at which lockstep-env finds a program with that environment; "" = not found.
std::string find_on_path(const std::map<std::string, std::string>& environment,
                         const std::string& program);

}  // namespace lockstep::envs
