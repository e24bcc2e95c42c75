#include "launcher/compute/docker/provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/io/file_system.h"
#include "launcher/compute/at_once.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/docker/cpu_choice.h"
#include "launcher/compute/docker/machine.h"

namespace lockstep::compute::docker {
namespace {

using Containers = std::map<std::string, std::vector<Container>>;  // the containers of each machine

// Reports an error that concerns no single machine for each machine, or for the target if none is
// named.
int fail_all(const Request& request, const Failed& why, Events& events) {
  for (const compute::Machine& machine : request.machines) events.error(machine.name, why);
  if (request.machines.empty()) events.error(request.target, why);
  return std::max(1, static_cast<int>(request.machines.size()));
}

Containers of_target(const std::vector<Container>& all, const std::string& target) {
  Containers found;
  for (const Container& container : all)
    if (container.target == target && !container.machine.empty())
      found[container.machine].push_back(container);
  return found;
}

int list(const Call& call, const Containers& containers, Events& events) {
  for (const auto& [machine, each] : containers) {
    // A running container describes the machine better than an old one beside it.
    const auto running = std::find_if(each.begin(), each.end(), [](const Container& one) {
      return one.state == Container::State::running;
    });
    tell(call, running == each.end() ? each[0] : *running, events);
  }
  for (const compute::Machine& machine : call.request.machines)
    if (containers.count(machine.name) == 0) events.machine(machine.name, "absent", {});
  return 0;
}

int check(const Call& call, Events& events) {
  const Request& request = call.request;
  for (const compute::Machine& machine : request.machines) events.step(machine.name, "check");
  if (const std::string missing = missing_on(call.host, call.settings); !missing.empty())
    return fail_all(request, {"check", Failure::unsupported, missing}, events);
  if (const auto found = call.engine.find_image(call.settings.image); !found)
    return fail_all(request, found.error(), events);
  return 0;
}

int create(const Call& call, const std::vector<Container>& all, Events& events) {
  const Request& request = call.request;
  if (const std::string missing = missing_on(call.host, call.settings); !missing.empty())
    return fail_all(request, {"start", Failure::unsupported, missing}, events);
  if (const auto unpacked = unpack_bundle(request.bundle, call.bundle_digest, request.state);
      !unpacked) {
    const bool is_full = unpacked.error().code == ErrorCode::resource_exhausted;
    return fail_all(
        request, {"copy", is_full ? Failure::no_space : Failure::failed, unpacked.error().message},
        events);
  }
  CpuChoice choice(online_cpus());
  for (const Container& container : all) choice.add(container.cpus);
  const int count = call.settings.cpus ? static_cast<int>(std::ceil(*call.settings.cpus)) : 0;
  std::vector<std::string> cpus;
  for (std::size_t i = 0; i < request.machines.size(); ++i) cpus.push_back(choice.take(count));
  const Containers containers = of_target(all, request.target);
  return at_once(request.machines.size(), events, [&](std::size_t i) {
    const compute::Machine& asked = request.machines[i];
    const auto found = containers.find(asked.name);
    Machine machine(call, asked,
                    found == containers.end() ? std::vector<Container>() : found->second, cpus[i],
                    events);
    return Outcome{asked.name, machine.create()};
  });
}

int remove(const Call& call, const Containers& containers, Events& events) {
  return at_once(call.request.machines.size(), events, [&](std::size_t i) {
    const compute::Machine& asked = call.request.machines[i];
    const auto found = containers.find(asked.name);
    Machine machine(call, asked,
                    found == containers.end() ? std::vector<Container>() : found->second, "",
                    events);
    return Outcome{asked.name, machine.remove()};
  });
}

Status check_request(Verb verb, const Request& request) {
  const auto bad = [](std::string why) {
    return make_error(ErrorCode::invalid_argument, std::move(why));
  };
  if (verb == Verb::hold)
    return bad(
        "kind docker does not have the verb 'hold': nothing has to be kept up for its machines");
  if (verb == Verb::create && request.bundle.empty())
    return bad(
        "the request has no 'bundle' (the archive with the agent); make one with scripts/bundle");
  if (request.state.find(':') != std::string::npos)
    return bad("the request's state is " + request.state +
               ", and container engines cannot mount a path with ':'");
  return {};
}

}  // namespace

Result<int> carry_out(Verb verb, const Request& request, Events& events) {
  TRY(check_request(verb, request));
  const Host host = this_host();
  auto read = settings_from(request.settings, host);
  const bool needs_settings = verb == Verb::check || verb == Verb::create;
  if (!read && needs_settings) return read.error();
  // Wrong settings must not keep machines from being removed.
  const Settings settings = read ? *std::move(read) : Settings();
  std::string digest;
  if (verb == Verb::create) {
    TRY_ASSIGN(digest, bundle_digest(request.bundle));
  }
  TRY(io::make_directories(request.state, 0700));
  const auto engine = Engine::open(request.state + "/engine");
  if (!engine) return fail_all(request, engine.error(), events);
  const auto all = engine->list(request.launcher);
  if (!all) return fail_all(request, all.error(), events);
  std::mutex pull;
  const Call call{request, settings, host, *engine, digest, &pull};
  switch (verb) {
    case Verb::check: {
      const int failures = check(call, events);
      return failures != 0 ? failures : list(call, of_target(*all, request.target), events);
    }
    case Verb::create: return create(call, *all, events);
    case Verb::list: return list(call, of_target(*all, request.target), events);
    case Verb::remove: return remove(call, of_target(*all, request.target), events);
    case Verb::hold: break;
  }
  return 0;
}

}  // namespace lockstep::compute::docker
