#pragma once
// Performs the core's actions about providers: runs the provider for each call, turns the lines
// that it prints into inputs of the core, ends calls that take too long, and keeps each target's
// long-running `hold` process (for tunnels and allocations) running. It believes a provider only
// about the machines of the call. When a target is deleted, it removes the target's folder. The
// contract is docs/decisions/038-providers.md; 039-machines.md describes how the core uses events.
//
// At most Limits::at_once calls run at the same time; others wait in order. All providers end with
// this object.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "launcher/api/ports/launcher_process.h"
#include "launcher/core/base/action.h"
#include "launcher/daemon/providers/checks.h"
#include "launcher/daemon/providers/compute_folders.h"
#include "launcher/daemon/providers/holds.h"

namespace lockstep::launcher {

class ProviderCalls {
 public:
  struct Limits {
    Duration create = minutes(15), remove = minutes(5);
    Duration grace = seconds(5);  // the time between SIGTERM and SIGKILL
    Duration token_life = minutes(60);
    std::size_t at_once = 32;
    std::size_t lines = 10'000;  // the most lines of one call's standard output
    ProviderHolds::Pauses hold = {};
    ProviderChecks::Limits check = {};
  };
  struct Parts {
    io::EventLoop& loop;
    ProviderSetup setup;
    std::function<Instant()> now;
    std::function<void(const Input&)> feed;
    std::function<NewToken(Instant expires)> make_token;
    // Whether a machine may still join with the token of this hash.
    std::function<bool(const Digest& secret_hash)> is_of_use;
    Limits limits = {};
  };
  explicit ProviderCalls(Parts parts);
  ProviderCalls(const ProviderCalls&) = delete;
  ProviderCalls& operator=(const ProviderCalls&) = delete;

  void perform(const CallProvider& action);
  void perform(const StartProvider& action);
  void perform(const StopProvider& action);
  void perform(const HoldMachines& action) { holds_.perform(action); }
  void perform(const CheckProvider& action) { checks_.perform(action); }
  void perform(const ForgetCompute& action) { folders_.forget(action.target); }
  // Called in each turn: begins the due calls.
  void turn_end();
  // How long the loop may wait; Duration::max() = without bound.
  Duration wait() const;
  // The newest lines of a target's log (ReadComputeLog).
  std::string log_of(const std::string& target, std::int64_t lines) const {
    return log_.newest(target, lines);
  }
  // The pids of the running providers.
  std::vector<int> pids() const;

 private:
  struct Call {
    CallProvider asked;
    std::map<std::string, std::string> tokens;  // by machine; "" for `remove`
    std::set<std::string> results = {};         // machines that it told the end of
    bool was_not_understood = false;            // a line that it printed
    Redactor redactor = {};
    Instant started = {};
    std::unique_ptr<ProviderProcess> process = {};
    bool is_waiting = false;
    bool is_stopped = false;  // the call must not begin
  };
  struct MadeToken {
    std::string token;
    Digest secret_hash;
    Instant expires;
  };
  MadeToken token_for(const std::string& target, const std::string& machine, Instant expires);
  void enqueue(std::uint64_t id, Call& call);
  void start_next();
  void start(std::uint64_t id, Call& call);
  void run(std::uint64_t id, Call& call, const PreparedRun& prepared);
  void on_line(std::uint64_t id, std::string_view line);
  void take(std::uint64_t id, Call& call, ProviderEvent event);
  void on_error_line(std::uint64_t id, std::string_view line);
  void end(std::uint64_t id, MachineFault fault, const Why& why);
  void log(const Call& call, const std::string& machine, const std::string& text);

  const Parts parts_;
  ProviderLog log_;
  ComputeFolders folders_;
  ProviderHolds holds_;
  ProviderChecks checks_;
  std::map<std::uint64_t, Call> calls_;
  // By target and machine: if a provider is called again for a machine that is not made yet, it
  // gets the same token.
  std::map<std::pair<std::string, std::string>, MadeToken> made_;
  std::deque<std::uint64_t> waiting_;
  std::size_t running_ = 0;
};

}  // namespace lockstep::launcher
