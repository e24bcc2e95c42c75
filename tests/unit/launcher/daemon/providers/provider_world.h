#pragma once
// ProviderCalls with a fake provider, a fake core that notes the inputs, and one target "vms" with
// the hosts vm1 and vm2; vm2 has a password.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "launcher/daemon/providers/calls.h"
#include "launcher/daemon/providers/target_log.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {

inline constexpr const char* kPassword = "hunter2secret";

class ProviderWorld {
 public:
  explicit ProviderWorld(const std::string& knob) : home(dir.path() + "/home") {
    EXPECT_TRUE(io::make_directories(home.compute(), 0700));
    spec.name = "vms";
    spec.type = ComputeType::virtualmachine;
    spec.source = NodeSource::ssh;
    spec.tunnel = TunnelUse::automatic;
    spec.hosts.resize(2);
    spec.hosts[0].name = spec.hosts[0].address = "vm1";
    spec.hosts[1] = {"vm2", "10.0.0.2", "ann", 2222, "", "pw", "root", "", "/data/lockstep"};
    limits.grace = milliseconds(200);
    limits.hold = {milliseconds(20), milliseconds(200), seconds(20), seconds(5), milliseconds(50)};
    program = {FAKE_PROVIDER, dir.path(), knob};
  }

  ProviderCalls& calls() {
    if (!calls_) {
      ProviderSetup setup{
          home,
          {"abc123", {"tcp://l:1", "tcp://l:2", "tcp://l:3"}, {"a", "b", "c"}},
          [this](const ComputeSpec&) -> Result<std::vector<std::string>> { return program; },
          [this]() -> Result<std::string> {
            if (bundle.empty()) return make_error(ErrorCode::not_found, "no bundle");
            return bundle;
          },
          [this](const std::string& target) { return target == spec.name ? &spec : nullptr; },
          [this](const std::string&, const std::string& machine) {
            const auto it = std::find_if(spec.hosts.begin(), spec.hosts.end(),
                                         [&](const SshHost& host) { return host.name == machine; });
            return it == spec.hosts.end() ? nullptr : &*it;
          },
          [this](const std::string& owner, const std::set<std::string>& names) {
            SecretValues found;
            if (owner == "root" && names.count("pw") && password) found["pw"] = *password;
            return Result<SecretValues>(found);
          },
          [this](const std::string& name) { return name == size.name ? &size : nullptr; }};
      calls_.emplace(ProviderCalls::Parts{
          loop, std::move(setup), [this] { return clock.now(); },
          [this](const Input& input) { take(input); },
          [this](Instant expires) {
            ++made_tokens;
            return NewToken{sha256("s"), {"lockstep-token-1.abc_DEF", expires}};
          },
          [this](const Digest&) { return tokens_are_of_use; }, limits});
    }
    return *calls_;
  }
  bool tokens_are_of_use = false;
  int made_tokens = 0;
  // The daemon ends.
  void end() { calls_.reset(); }

  void call(ProviderVerb verb, std::uint64_t id = 1,
            std::vector<std::string> machines = {"vm1", "vm2"}) {
    calls().perform(CallProvider{id, "vms", verb, std::move(machines)});
    if (verb == ProviderVerb::create) calls().perform(StartProvider{id});
  }
  bool run_until(const std::function<bool()>& done, Duration limit = seconds(20)) {
    const Instant end = clock.now() + limit;
    while (!done()) {
      if (clock.now() > end) return false;
      calls().turn_end();
      loop.turn(std::min<Duration>(calls().wait(), milliseconds(10)));
    }
    return true;
  }
  bool run_until_ended(std::size_t count = 1) {
    return run_until([&] { return ended.size() == count; });
  }

  // "vm1 step connect", in order.
  std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const auto& input : events)
      lines.push_back(input.event.machine + " " + to_log(input.event));
    return lines;
  }
  std::string file(const std::string& name) const {
    return io::read_file(dir.path() + "/" + name).value_or("");
  }
  std::string log() { return calls().log_of("vms", 0); }
  // Those that the fake wrote down, and that still run.
  std::vector<int> still_there() const {
    std::vector<int> pids;
    std::istringstream text(file("pids"));
    for (int pid = 0; text >> pid;)
      if (const auto who = io::identify(pid); who && io::is_alive(*who)) pids.push_back(pid);
    return pids;
  }
  int count(const std::string& name, const std::string& what) const {
    std::istringstream text(file(name));
    int found = 0;
    for (std::string line; std::getline(text, line);) found += line == what ? 1 : 0;
    return found;
  }

  test::TempDir dir;
  LauncherHome home;
  io::EventLoop loop;
  io::SystemClock clock;
  ComputeSpec spec;
  Size size;
  ProviderCalls::Limits limits;
  std::vector<std::string> program;
  std::string bundle = "/bundle.tar.gz";
  std::optional<std::string> password = kPassword;
  std::vector<ProviderTokensInput> tokens;
  std::vector<ProviderEventInput> events;
  std::vector<ProviderEndedInput> ended;
  std::vector<ProviderCheckedInput> checked;
  std::vector<ProviderNoticeInput> notices;

 private:
  void take(const Input& input) {
    if (const auto* made = std::get_if<ProviderTokensInput>(&input)) tokens.push_back(*made);
    if (const auto* event = std::get_if<ProviderEventInput>(&input)) events.push_back(*event);
    if (const auto* end = std::get_if<ProviderEndedInput>(&input)) ended.push_back(*end);
    if (const auto* notice = std::get_if<ProviderNoticeInput>(&input)) notices.push_back(*notice);
    if (const auto* check = std::get_if<ProviderCheckedInput>(&input)) checked.push_back(*check);
  }

  std::optional<ProviderCalls> calls_;
};

}  // namespace lockstep::launcher
