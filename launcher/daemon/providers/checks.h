#pragma once
// Asks providers whether settings work, before a target has them: runs `check`, and passes the
// answer to the core. Nothing of it stays: the directory that the provider got is removed, unless
// the target is there already and it is the target's own.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launcher/core/base/action.h"
#include "launcher/core/base/input.h"
#include "launcher/daemon/providers/compute_folders.h"
#include "launcher/daemon/providers/run.h"
#include "launcher/daemon/providers/setup.h"

namespace lockstep::launcher {

class ProviderChecks {
 public:
  struct Limits {
    Duration time = seconds(30);  // the client waits for the answer
    Duration grace = seconds(5);
    std::size_t lines = 1'000;
  };
  // The parts of the daemon that it uses. All of them outlive this object.
  struct Parts {
    io::EventLoop& loop;
    const ProviderSetup& setup;
    ComputeFolders& folders;
    const std::function<Instant()>& now;
    const std::function<void(const Input&)>& feed;
  };
  ProviderChecks(Parts parts, Limits limits) : parts_(parts), limits_(limits) {}

  void perform(const CheckProvider& action);
  void tick();
  Instant due() const;
  std::vector<int> pids() const;

 private:
  struct Check {
    ComputeSpec spec;
    std::vector<std::string> errors = {};
    std::unique_ptr<ProviderProcess> process = {};
  };
  Status start(std::uint64_t id, Check& check);
  void on_line(std::uint64_t id, std::string_view line);
  void on_end(std::uint64_t id, const Why& why);
  void answer(std::uint64_t id, std::string why_not);
  std::string state_of(std::uint64_t id, const ComputeSpec& spec) const;

  const Parts parts_;
  const Limits limits_;
  std::map<std::uint64_t, Check> checks_;
};

}  // namespace lockstep::launcher
