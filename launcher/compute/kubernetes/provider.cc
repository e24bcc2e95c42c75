#include "launcher/compute/kubernetes/provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/compute/kubernetes/creation.h"
#include "launcher/compute/kubernetes/names.h"

namespace lockstep::compute::kubernetes {
namespace {

int fail_all(const Request& request, const Failed& why, Events& events) {
  for (const compute::Machine& machine : request.machines) events.error(machine.name, why);
  if (request.machines.empty()) events.error(request.target, why);
  return std::max(1, static_cast<int>(request.machines.size()));
}

// Changes the error of `create`. If it fails in "connect", the launcher forgets the machine,
// because nothing was made. But an earlier call may have made a pod that waits, and that cannot be
// checked while the cluster does not answer.
Failed unless_sure(Verb verb, Failed why) {
  const bool is_silent = why.code == Failure::unreachable || why.code == Failure::timed_out;
  if (verb == Verb::create && is_silent) why.step = "create";
  return why;
}

int list(const Request& request, const Settings& settings, const Pods& pods, Events& events) {
  for (const auto& [machine, pod] : pods) tell(machine, &pod, settings, events);
  for (const compute::Machine& machine : request.machines)
    if (pods.count(machine.name) == 0) tell(machine.name, nullptr, settings, events);
  return 0;
}

// Refuses loopback addresses: only the pod's own node can reach them.
Attempt<void> check_endpoints(const Request& request, const Settings& settings) {
  if (!request.endpoints || settings.host_network) return {};
  for (const Address& address : request.endpoints->all())
    if (is_loopback(address))
      return tl::unexpected(
          Failed{"check", Failure::launcher_unreachable,
                 fmt::format("pods would dial the launcher at {}, which is their own loopback; "
                             "start it with lockstepd --listen (or --advertise) at an address "
                             "that pods reach, or set host_network if its machine is the only node",
                             to_endpoint(address))});
  return {};
}

int check(const Request& request, const Objects& objects, const Pods& pods, Events& events) {
  for (const compute::Machine& machine : request.machines) events.step(machine.name, "check");
  auto good = check_endpoints(request, objects.settings());
  if (good) good = objects.rehearse();
  return good ? list(request, objects.settings(), pods, events)
              : fail_all(request, good.error(), events);
}

int create(const Request& request, const Objects& objects, const Pods& pods, Events& events) {
  if (const auto good = check_endpoints(request, objects.settings()); !good)
    return fail_all(request, good.error(), events);
  return Creation(request, objects, events).run(pods);
}

int remove(const Request& request, const Objects& objects, const Pods& pods, Events& events) {
  std::vector<std::string> asked, there;
  for (const compute::Machine& machine : request.machines) {
    events.step(machine.name, "remove");
    asked.push_back(machine.name);
    if (pods.count(machine.name) != 0) there.push_back(machine.name);
  }
  auto done = objects.delete_pods(there);
  if (done) done = objects.delete_tokens(asked);
  if (done && !there.empty()) done = wait_until_gone(objects, there);
  if (!done) return fail_all(request, done.error(), events);
  for (const std::string& machine : asked) events.machine(machine, "absent", {});
  return 0;
}

}  // namespace

Result<int> carry_out(Verb verb, const Request& request, Events& events) {
  if (verb == Verb::hold)
    return make_error(ErrorCode::invalid_argument,
                      "kind kubernetes does not have the verb 'hold': nothing has to be kept up "
                      "for its machines");
  TRY(check_names(request));
  TRY_ASSIGN(const Settings settings, settings_from(request.settings));
  const auto kubectl = Kubectl::open(settings);
  if (!kubectl) return fail_all(request, kubectl.error(), events);
  const Objects objects(*kubectl, request, settings);
  const auto pods = objects.list("connect");
  if (!pods) return fail_all(request, unless_sure(verb, pods.error()), events);
  switch (verb) {
    case Verb::check: return check(request, objects, *pods, events);
    case Verb::create: return create(request, objects, *pods, events);
    case Verb::list: return list(request, settings, *pods, events);
    case Verb::remove: return remove(request, objects, *pods, events);
    case Verb::hold: break;
  }
  return 0;
}

}  // namespace lockstep::compute::kubernetes
