#include "launcher/compute/kubernetes/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/printable.h"
#include "common/base/utf8.h"
#include "common/io/clock.h"
#include "launcher/compute/agent_output.h"
#include "launcher/compute/kubernetes/names.h"
#include "launcher/compute/machine_name.h"

namespace lockstep::compute::kubernetes {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxReason = 500;

// Objects that others wrote may have any form.
const json& at(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

std::string text_at(const json& object, const char* key) {
  const json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string one_line(std::string_view words) {
  std::string text = in_one_line(words);
  text.resize(head(text, kMaxReason).size());
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// The text "REASON: MESSAGE".
std::string both(const json& object) {
  const std::string reason = text_at(object, "reason"), message = text_at(object, "message");
  if (reason.empty() || message.empty()) return one_line(reason + message);
  return one_line(reason + ": " + message);
}

const json& condition(const json& status, const char* type) {
  static const json kNone;
  const json& all = at(status, "conditions");
  if (!all.is_array()) return kNone;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const json& one) { return text_at(one, "type") == type; });
  return found == all.end() ? kNone : *found;
}

// Reasons for which the kubelet retries for ever.
bool is_stuck_for(const std::string& reason) {
  static constexpr std::array<std::string_view, 7> kReasons{
      "ImagePullBackOff",          "InvalidImageName",    "ErrImageNeverPull",
      "ImageInspectError",         "RegistryUnavailable", "CreateContainerError",
      "CreateContainerConfigError"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end();
}

void read_container(const json& container, Pod& pod) {
  const json& state = at(container, "state");
  const json& waiting = at(state, "waiting");
  if (const std::string reason = text_at(waiting, "reason"); !reason.empty()) {
    if (!pod.is_stuck) pod.reason = both(waiting);
    pod.is_stuck = pod.is_stuck || is_stuck_for(reason);
  }
  const json& terminated = at(state, "terminated");
  const json& code = at(terminated, "exitCode");
  if (!code.is_number_integer() || code == 0) return;
  pod.exit_code = code.get<int>();
  pod.last_words = one_line(last_line(text_at(terminated, "message")));
  if (const std::string reason = text_at(terminated, "reason"); reason != "Error")
    pod.reason = one_line(reason);
}

// Reads all containers; notes whether the agent's has passed its startup probe.
bool read_containers(const json& status, Pod& pod) {
  bool has_started = false;
  for (const char* key : {"initContainerStatuses", "containerStatuses"}) {
    const json& all = at(status, key);
    if (!all.is_array()) continue;
    for (const json& container : all) {
      read_container(container, pod);
      has_started =
          has_started || (text_at(container, "name") == "node" && at(container, "started") == true);
    }
  }
  return has_started;
}

// The reason for a pod's removal, which newer API servers report.
std::string reason_to_leave(const json& status) {
  const json& disruption = condition(status, "DisruptionTarget");
  if (at(disruption, "status") == "True") return both(disruption);
  const std::string why = both(status);
  return why.empty() ? "deleted" : why;
}

// "2026-01-31T12:00:00Z", as the API writes times.
std::optional<Instant> time_from(const std::string& text) {
  std::tm time{};
  const int read = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &time.tm_year, &time.tm_mon,
                               &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec);
  if (read != 6 || time.tm_year < 1970 || time.tm_year > 2200) return std::nullopt;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return Instant{std::int64_t{::timegm(&time)} * 1'000'000'000};
}

// Reads the deadline, which is set by the target's settings or by an admission plug-in of the
// cluster.
void read_deadline(const json& object, Pod& pod) {
  constexpr std::int64_t kMost = std::int64_t{10} * 366 * 86'400;
  const json& deadline = at(at(object, "spec"), "activeDeadlineSeconds");
  if (!deadline.is_number_integer() || deadline <= 0 || deadline > kMost) return;
  pod.lifetime = seconds(deadline.get<std::int64_t>());
  pod.started = time_from(text_at(at(object, "status"), "startTime"));
}

Pod pod_from(const json& object) {
  const json &meta = at(object, "metadata"), &status = at(object, "status");
  Pod pod;
  pod.name = text_at(meta, "name");
  pod.uid = text_at(meta, "uid");
  pod.node = text_at(at(object, "spec"), "nodeName");
  read_deadline(object, pod);
  const bool has_started = read_containers(status, pod);
  const std::string phase = text_at(status, "phase");
  const json& scheduled = condition(status, "PodScheduled");
  if (!at(meta, "deletionTimestamp").is_null()) {
    pod.state = Pod::State::leaving;
    pod.reason = reason_to_leave(status);
  } else if (phase == "Failed" || phase == "Succeeded") {
    pod.state = Pod::State::ended;
    if (const std::string why = both(status); !why.empty()) pod.reason = why;
    if (pod.reason.empty()) pod.reason = fmt::format("ended with exit code {}", pod.exit_code);
  } else if (phase == "Running" && has_started) {
    pod.state = Pod::State::joined;
  } else if (!pod.node.empty()) {
    pod.state = Pod::State::starting;
    if (pod.reason.empty()) pod.reason = "starting on node " + pod.node;
  } else {
    const std::string message = one_line(text_at(scheduled, "message"));
    pod.reason = !message.empty() ? message : one_line(text_at(scheduled, "reason"));
    if (pod.reason.empty()) pod.reason = "no scheduler has looked at it yet";
  }
  return pod;
}

// The machine of a pod that this provider made for the target; "": the pod is of someone else.
std::string machine_of(const Request& request, const json& object) {
  const json &meta = at(object, "metadata"), &labels = at(meta, "labels");
  const std::string machine = text_at(labels, kMachineLabel);
  const bool is_ours = text_at(labels, kLauncherLabel) == request.launcher &&
                       text_at(labels, kTargetLabel) == request.target &&
                       check_machine_name(machine) &&
                       text_at(meta, "name") == pod_name(request, machine);
  return is_ours ? machine : "";
}

// Drops the parts of a pod that are not used here while parsing: many pods come at once.
bool is_wanted(int, json::parse_event_t event, json& parsed) {
  if (event != json::parse_event_t::key) return true;
  const std::string* key = parsed.get_ptr<const std::string*>();
  return key == nullptr || (*key != "managedFields" && *key != "annotations" &&
                            *key != "containers" && *key != "initContainers" && *key != "volumes");
}

}  // namespace

Attempt<Pods> pods_from(const Request& request, const std::string& text, const std::string& step) {
  const json list = json::parse(text, is_wanted, false);
  const json& items = at(list, "items");
  if (!items.is_array())
    return tl::unexpected(Failed{step, Failure::failed,
                                 fmt::format("kubectl did not print a list of pods, but '{}'",
                                             one_line(text.substr(0, 100)))});
  Pods pods;
  for (const json& item : items)
    if (const std::string machine = machine_of(request, item); !machine.empty())
      pods[machine] = pod_from(item);
  return pods;
}

Attempt<Pods> list_pods(const Kubectl& kubectl, const Request& request, const Settings& settings,
                        const std::string& step) {
  // In a URL, %3D is = and %2C is a comma. The values are labels', so they need no escapes.
  const std::string query = fmt::format("pods?labelSelector={}%3D{}%2C{}%3D{}", kLauncherLabel,
                                        request.launcher, kTargetLabel, request.target);
  const auto text = kubectl.run(step, {"get", "--raw", path_in(settings, query)});
  if (!text) return tl::unexpected(text.error());
  return pods_from(request, *text, step);
}

About life_of(const Pod& pod, Instant now) {
  if (!pod.lifetime || !pod.started) return {};
  // The time left is at most the lifetime, since the two clocks may differ.
  const Duration left =
      std::clamp<Duration>(*pod.started + *pod.lifetime - now, Duration(0), *pod.lifetime);
  return {{"lifetime", std::to_string(*pod.lifetime / seconds(1))},
          {"left", std::to_string(left / seconds(1))}};
}

void tell(const std::string& machine, const Pod* pod, const Settings& settings, Events& events) {
  if (pod == nullptr) return events.machine(machine, "absent", {});
  About about{{"job", pod->name}, {"pod", settings.name_space + "/" + pod->name}};
  if (!pod->node.empty()) about.emplace_back("node", pod->node);
  if (pod->state == Pod::State::joined) {
    about.emplace_back("tunnel", false);
    for (auto& entry : life_of(*pod, io::SystemClock().now())) about.push_back(std::move(entry));
    return events.machine(machine, "running", about);
  }
  about.emplace_back("reason", pod->reason);
  switch (pod->state) {
    case Pod::State::waiting:
    case Pod::State::starting: return events.machine(machine, "pending", about);
    case Pod::State::ended: return events.machine(machine, "stopped", about);
    case Pod::State::joined:
    case Pod::State::leaving: break;
  }
  events.machine(machine, "absent", about);
}

}  // namespace lockstep::compute::kubernetes
