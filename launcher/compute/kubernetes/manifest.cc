#include "launcher/compute/kubernetes/manifest.h"

#include <fmt/format.h>

#include <cmath>

#include "launcher/compute/first_process.h"
#include "launcher/compute/kubernetes/names.h"

namespace lockstep::compute::kubernetes {
namespace {

using nlohmann::ordered_json;

constexpr const char* kBundlePlace = "/opt/lockstep-node";
constexpr const char* kVolume = "/var/lib/lockstep";
constexpr const char* kTokenPlace = "/opt/lockstep-token";
constexpr int kOwnerMayRead = 0400;
constexpr int kRoot = 0;

// The script's arguments: the agent's home, accounts, how many cpus it may use (0: all), the
// machine's number, and the agent's own arguments. It finds the agent, chooses cpus, and continues
// as the first process of every container. Pods on one node see all of its cpus, and an agent binds
// ranks to the cpus that it offers, so pods with neighbouring numbers take neighbouring cpus. If
// the kubelet has chosen cpus (static CPU manager), the pod sees no others.
constexpr const char* kBeginning = R"sh(
home=$1 accounts=$2 want=$3 number=$4
shift 4
for agent in /opt/lockstep-node/bin/lockstep-agent /lockstep-node*/bin/lockstep-agent "$(command -v lockstep-agent)"; do
  [ ! -x "$agent" ] || break
  agent=''
done
if [ -z "$agent" ]; then
  echo "lockstep-agent: it is not in this image; set the target's bundle_image, or take an image with the bundle" >&2
  exit 127
fi
allowed=''
while read -r key value; do
  [ "$key" != Cpus_allowed_list: ] || allowed=$value
done < /proc/self/status
all='' count=0 saved=$IFS
IFS=,
for range in $allowed; do
  cpu=${range%-*}
  while [ "$cpu" -le "${range#*-}" ]; do
    all="$all $cpu" count=$((count + 1)) cpu=$((cpu + 1))
  done
done
IFS=$saved
if [ "$want" -gt 0 ] && [ "$count" -gt "$want" ]; then
  skip=$((number % (count / want) * want)) chosen=''
  for cpu in $all; do
    if [ "$skip" -gt 0 ]; then skip=$((skip - 1)); continue; fi
    [ "$want" -gt 0 ] || break
    chosen="$chosen,$cpu" want=$((want - 1))
  done
  chosen=${chosen#,}
  case $chosen in *,*) ;; *) chosen=$chosen-$chosen ;; esac
  set -- "$@" --cpus "$chosen"
fi
set -- "$home" "$agent" "$accounts" "$@"
exec < /opt/lockstep-token/token || exit 3
)sh";

constexpr const char* kCopyBundle = R"sh(
for bundle in /lockstep-node*; do
  [ ! -x "$bundle/bin/lockstep-agent" ] || exec cp -a "$bundle/." /opt/lockstep-node/
done
echo "lockstep: this image has no /lockstep-node*/bin/lockstep-agent; build it as Lockstep's guide says" >&2
exit 1
)sh";

ordered_json object_of(const Pairs& pairs) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

ordered_json metadata(const Request& request, const Settings& settings,
                      const std::string& machine) {
  return {{"name", pod_name(request, machine)},
          {"namespace", settings.name_space},
          {"labels",
           {{kLauncherLabel, request.launcher},
            {kTargetLabel, request.target},
            {kMachineLabel, machine}}}};
}

// A quantity such as "2" or "1500m".
std::string cpu_quantity(double cpus) {
  return cpus == std::floor(cpus) ? fmt::format("{}", static_cast<long>(cpus))
                                  : fmt::format("{}m", std::lround(cpus * 1'000));
}

// Requests equal limits, so that other pods of the node cannot use these amounts.
ordered_json amounts(const Settings& settings, bool with_devices) {
  ordered_json all = ordered_json::object();
  if (settings.cpus) all["cpu"] = cpu_quantity(*settings.cpus);
  if (settings.memory) all["memory"] = std::to_string(*settings.memory);
  if (with_devices && settings.gpus > 0) all[settings.gpu_resource] = std::to_string(settings.gpus);
  if (with_devices)
    for (const auto& [name, amount] : settings.resources) all[name] = amount;
  return all.empty() ? ordered_json::object() : ordered_json{{"requests", all}, {"limits", all}};
}

ordered_json mount(const char* name, const char* path, bool read_only) {
  ordered_json one = {{"name", name}, {"mountPath", path}};
  if (read_only) one["readOnly"] = true;
  return one;
}

// The "7" of "lab-7".
std::string number_of(const std::string& machine) {
  const auto end = machine.find_last_not_of("0123456789");
  const std::string digits = end == std::string::npos ? machine : machine.substr(end + 1);
  const auto first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first, 9);
}

void set_image(ordered_json& container, const Settings& settings, const std::string& image) {
  container["image"] = image;
  if (!settings.image_pull_policy.empty())
    container["imagePullPolicy"] = settings.image_pull_policy;
}

ordered_json bundle_container(const Settings& settings) {
  ordered_json container = {{"name", "bundle"}};
  set_image(container, settings, settings.bundle_image);
  container["command"] = {"/bin/sh", "-c", kCopyBundle};
  container["resources"] = amounts(settings, false);
  container["volumeMounts"] = ordered_json::array({mount("bundle", kBundlePlace, false)});
  container["securityContext"] = {{"runAsUser", kRoot}};
  container["terminationMessagePolicy"] = "FallbackToLogsOnError";
  return container;
}

ordered_json agent_words(const Request& request, const Settings& settings,
                         const std::string& machine) {
  const std::string home = std::string(kVolume) + "/agent";
  const int cpus = settings.cpus ? static_cast<int>(std::ceil(*settings.cpus)) : 0;
  ordered_json words = {home,
                        accounts_for(request),
                        std::to_string(cpus),
                        number_of(machine),
                        "--home",
                        home,
                        "--name",
                        machine};
  if (settings.memory) {
    words.push_back("--memory");
    words.push_back(std::to_string(*settings.memory));
  }
  return words;
}

ordered_json node_container(const Request& request, const Settings& settings,
                            const std::string& machine) {
  ordered_json container = {{"name", "node"}};
  set_image(container, settings, settings.image);
  container["command"] = {"/bin/sh", "-c", kBeginning + first_process(), "lockstep-node"};
  container["args"] = agent_words(request, settings, machine);
  container["workingDir"] = "/";
  container["resources"] = amounts(settings, true);
  ordered_json mounts =
      ordered_json::array({mount("home", kVolume, false), mount("shm", "/dev/shm", false),
                           mount("token", kTokenPlace, true)});
  if (!settings.bundle_image.empty()) mounts.push_back(mount("bundle", kBundlePlace, true));
  container["volumeMounts"] = mounts;
  // The agent writes its identity as soon as the launcher has accepted the token.
  container["startupProbe"] = {
      {"exec",
       {{"command", {"/bin/sh", "-c", fmt::format("[ -f {}/agent/identity.json ]", kVolume)}}}},
      {"periodSeconds", 1},
      {"timeoutSeconds", 5},
      {"failureThreshold", kJoinSeconds}};
  // Jobs run as accounts of the image; only root can change to them.
  container["securityContext"] = {{"runAsUser", kRoot}};
  if (!settings.capabilities.empty())
    container["securityContext"]["capabilities"] = {{"add", settings.capabilities}};
  container["terminationMessagePolicy"] = "FallbackToLogsOnError";
  return container;
}

ordered_json volumes(const Request& request, const Settings& settings, const std::string& machine) {
  ordered_json shm = {{"medium", "Memory"}};
  if (settings.shm_size || settings.memory)
    shm["sizeLimit"] = std::to_string(settings.shm_size.value_or(settings.memory.value_or(0) / 2));
  ordered_json all = ordered_json::array(
      {{{"name", "home"}, {"emptyDir", ordered_json::object()}},
       {{"name", "shm"}, {"emptyDir", shm}},
       {{"name", "token"},
        {"secret", {{"secretName", pod_name(request, machine)}, {"defaultMode", kOwnerMayRead}}}}});
  if (!settings.bundle_image.empty())
    all.push_back({{"name", "bundle"}, {"emptyDir", ordered_json::object()}});
  return all;
}

ordered_json toleration(const Toleration& one) {
  ordered_json object = ordered_json::object();
  if (!one.key.empty()) object["key"] = one.key;
  object["operator"] = one.value.empty() ? "Exists" : "Equal";
  if (!one.value.empty()) object["value"] = one.value;
  if (!one.effect.empty()) object["effect"] = one.effect;
  return object;
}

// Settings about where the pod may run, and which scheduler decides.
void add_placement(ordered_json& spec, const Settings& settings) {
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) spec[key] = value;
  };
  add("serviceAccountName", settings.service_account);
  add("priorityClassName", settings.priority_class);
  add("schedulerName", settings.scheduler);
  add("runtimeClassName", settings.runtime_class);
  if (!settings.node_selector.empty()) spec["nodeSelector"] = object_of(settings.node_selector);
  for (const Toleration& one : settings.tolerations) spec["tolerations"].push_back(toleration(one));
  for (const std::string& name : settings.image_pull_secrets)
    spec["imagePullSecrets"].push_back({{"name", name}});
  if (!settings.host_network) return;
  spec["hostNetwork"] = true;
  spec["dnsPolicy"] = "ClusterFirstWithHostNet";
}

}  // namespace

ordered_json pod_manifest(const Request& request, const Settings& settings,
                          const std::string& machine) {
  ordered_json meta = metadata(request, settings, machine);
  ordered_json& labels = meta["labels"];
  labels["app.kubernetes.io/managed-by"] = "lockstep";
  if (!settings.queue.empty()) labels["kueue.x-k8s.io/queue-name"] = settings.queue;
  for (const auto& [name, value] : settings.labels) labels[name] = value;
  if (!settings.annotations.empty()) meta["annotations"] = object_of(settings.annotations);
  ordered_json spec = {{"restartPolicy", "Never"},
                       {"hostname", host_name(machine)},
                       {"enableServiceLinks", false},
                       {"automountServiceAccountToken", !settings.service_account.empty()},
                       {"terminationGracePeriodSeconds", kGraceSeconds}};
  add_placement(spec, settings);
  if (settings.active_deadline_seconds)
    spec["activeDeadlineSeconds"] = *settings.active_deadline_seconds;
  if (!settings.bundle_image.empty())
    spec["initContainers"] = ordered_json::array({bundle_container(settings)});
  spec["containers"] = ordered_json::array({node_container(request, settings, machine)});
  spec["volumes"] = volumes(request, settings, machine);
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", meta}, {"spec", spec}};
}

ordered_json secret_manifest(const Request& request, const Settings& settings,
                             const compute::Machine& machine, const std::string& pod_uid) {
  ordered_json meta = metadata(request, settings, machine.name);
  if (!pod_uid.empty())
    meta["ownerReferences"] = ordered_json::array({{{"apiVersion", "v1"},
                                                    {"kind", "Pod"},
                                                    {"name", pod_name(request, machine.name)},
                                                    {"uid", pod_uid}}});
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", meta},
          {"type", "Opaque"},
          {"stringData", {{"token", machine.token + "\n"}}}};
}

std::string list_of(std::vector<ordered_json> items) {
  const ordered_json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  return list.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace lockstep::compute::kubernetes
