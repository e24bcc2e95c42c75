#include "launcher/compute/docker/machine.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "common/wire/join_token.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/docker/attached.h"
#include "launcher/compute/first_process.h"

namespace lockstep::compute::docker {
namespace {

constexpr Duration kJoinTimeout = seconds(120);  // an agent gives up after 30 s
constexpr Duration kExecTimeout = seconds(30);
constexpr Duration kGrace = seconds(10);
constexpr int kOfEngine = 125;  // exit codes from here on are of `docker run` itself
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr int kNoToken = 3;  // exit code of our first process
constexpr int kKilled = 128 + 9;

// The text with the launcher's addresses and without the token's secret, for a command line that
// others can read. nullopt: the text has no token.
std::optional<std::string> without_secret(const std::string& text) {
  auto token = wire::decode_join_token(text);
  if (!token) return std::nullopt;
  token->secret = "none";
  return wire::encode(*token);
}

}  // namespace

Machine::Machine(const Call& call, compute::Machine machine, std::vector<Container> containers,
                 std::string cpus, Events& events)
    : call_(call),
      machine_(std::move(machine)),
      containers_(std::move(containers)),
      cpus_(std::move(cpus)),
      events_(events) {}

tl::unexpected<Failed> Machine::failed(const std::string& step, Failure code,
                                       std::string why) const {
  return tl::unexpected(Failed{step, code, machine_.name + ": " + std::move(why)});
}

// Makes the machine. A running container whose agent has joined is kept, whatever settings it was
// made with.
Attempt<void> Machine::create() {
  for (Container& container : containers_) {
    const auto is_up = is_up_again(container);
    if (!is_up) return tl::unexpected(is_up.error());
    if (!*is_up) continue;
    container.state = Container::State::running;
    say_where_launcher_is(container);
    add_accounts(container);
    tell(call_, container, events_);
    return {};
  }
  return start_anew();
}

Attempt<bool> Machine::is_up_again(const Container& container) {
  switch (container.state) {
    case Container::State::running: return has_joined(container);
    case Container::State::exited: return start_again(container);
    case Container::State::paused:
    case Container::State::other: break;
  }
  return false;
}

// Whether the agent has joined: it writes its identity as soon as the launcher has accepted the
// token.
Attempt<bool> Machine::has_joined(const Container& container) const {
  const auto answer = call_.engine.run(
      "connect",
      {"exec", container.id, "/bin/sh", "-c", "[ -f /var/lib/lockstep/agent/identity.json ]"},
      kExecTimeout);
  if (!answer) return tl::unexpected(answer.error());
  return answer->exit_code == 0;
}

// Tells the agent where the launcher is: it only knows where the launcher was when it joined.
// Agents of earlier versions do not read this file.
void Machine::say_where_launcher_is(const Container& container) {
  const auto token = without_secret(machine_.token);
  if (!token) return;
  const auto answer = call_.engine.run(
      "connect",
      {"exec", container.id, "/bin/sh", "-c",
       "cd /var/lib/lockstep/agent && printf '%s\\n' \"$0\" > moved.new && mv moved.new moved",
       *token},
      kExecTimeout);
  if (answer && answer->exit_code == 0) return;
  events_.warning(machine_.name, "connect",
                  "its agent could not be told where the launcher is now: " +
                      (answer ? last_line(answer->errors) : answer.error().message));
}

// Adds accounts of users who were added after the container was made.
void Machine::add_accounts(const Container& container) {
  const auto answer =
      call_.engine.run("connect",
                       {"exec", container.id, "/bin/sh", "-c", add_accounts_script(),
                        accounts_for(call_.request), "/var/lib/lockstep/agent"},
                       kExecTimeout);
  if (answer && answer->exit_code == 0) {
    // the output names accounts that were left out
    if (const std::string said = last_line(answer->errors); !said.empty())
      events_.warning(machine_.name, "connect", said);
    return;
  }
  events_.warning(machine_.name, "connect",
                  "the container got no accounts for new users: " +
                      (answer ? last_line(answer->errors) : answer.error().message));
}

// Starts a stopped container. False: its agent has no identity and would need a token, so the
// container is replaced.
Attempt<bool> Machine::start_again(const Container& container) {
  events_.step(machine_.name, "start");
  const auto attached =
      run_until_joined({call_.engine.program(), "start", "--attach", "--interactive", container.id},
                       "", kJoinTimeout);
  if (!attached) return failed("start", Failure::failed, attached.error().message);
  return attached->end == Attached::End::joined;
}

Attempt<void> Machine::start_anew() {
  if (!containers_.empty()) {
    if (auto removed = remove_all({}); !removed) return removed;
  }
  auto done = run();
  if (!done && done.error().code == Failure::unsupported &&
      says_no_such_image(done.error().message)) {
    if (auto fetched = fetch_image(); !fetched) return fetched;
    done = run();
  }
  return done;
}

Attempt<void> Machine::fetch_image() {
  events_.step(machine_.name, "pull");
  const std::lock_guard lock(*call_.pull);
  const auto fetched = call_.engine.pull(call_.settings.image);
  if (fetched) return {};
  return failed("pull", fetched.error().code, fetched.error().message);
}

Attempt<void> Machine::run() {
  events_.step(machine_.name, "start");
  if (machine_.token.empty())
    return failed("start", Failure::failed, "the request has no token for this machine");
  for (const std::string& beyond : call_.settings.beyond_host)
    events_.warning(machine_.name, "start", beyond);
  std::vector<std::string> words =
      run_words(call_.request, call_.settings, call_.bundle_digest, machine_.name, cpus_);
  words.insert(words.begin(), call_.engine.program());
  const auto attached = run_until_joined(words, machine_.token, kJoinTimeout);
  if (!attached) return failed("start", Failure::failed, attached.error().message);
  const std::string name = container_name(call_.request, machine_.name);
  if (attached->end == Attached::End::joined) {
    Container container;
    container.state = Container::State::running;
    container.machine = machine_.name;
    container.bundle = call_.bundle_digest;
    tell(call_, container, events_);
    return {};
  }
  const Failed reason =
      attached->end == Attached::End::timed_out
          ? Failed{"start", Failure::timed_out,
                   fmt::format("its agent has not joined within {}: {}",
                               format_duration(kJoinTimeout), last_line(attached->text))}
          : why(attached->exit_code, attached->text);
  // A container of this name that belongs to someone else is left alone.
  if (reason.code != Failure::conflict) (void)call_.engine.remove(name, {});
  // The whole output goes to the target's log; the event has its last line.
  std::fputs(attached->text.c_str(), stderr);
  return failed("start", reason.code, reason.message);
}

// Why the agent of a container has not joined.
Failed Machine::why(int exit_code, const std::string& text) const {
  const std::string& engine = call_.engine.name();
  switch (exit_code) {
    case kOfEngine: return engine_failure("start", engine, text);
    case kNotExecutable:
    case kNotFound:
      return {"start", Failure::unsupported,
              fmt::format("the image {} has no /bin/sh, or it cannot run here: {}",
                          call_.settings.image, last_line(text))};
    case kKilled:
      return {"start", Failure::failed,
              "its container was killed while the agent joined; settings.memory may be too small"};
    case kNoToken:
    default:
      return {"start", Failure::launcher_unreachable,
              "its agent has not joined the launcher: " + last_line(text)};
  }
}

Attempt<void> Machine::remove() {
  events_.step(machine_.name, "remove");
  if (auto removed = remove_all(kGrace); !removed) return removed;
  events_.machine(machine_.name, "absent", {});
  return {};
}

Attempt<void> Machine::remove_all(Duration grace) {
  for (const Container& container : containers_) {
    const bool runs = container.state == Container::State::running;
    const auto removed = call_.engine.remove(container.id, runs ? grace : Duration());
    if (!removed) return failed("remove", removed.error().code, removed.error().message);
  }
  return {};
}

void tell(const Call& call, const Container& container, Events& events) {
  About about{{"engine", call.engine.name()},
              {"container", container_name(call.request, container.machine)},
              {"bundle", bundle_folder(container.bundle)},
              {"tunnel", false}};
  const bool runs = container.state == Container::State::running;
  if (!runs) about.emplace_back("reason", container.reason);
  events.machine(container.machine, runs ? "running" : "stopped", about);
}

}  // namespace lockstep::compute::docker
