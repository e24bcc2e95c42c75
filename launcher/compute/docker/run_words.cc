// Makes the command line that starts a machine's container, and the script that is its first
// process.

#include <fmt/format.h>

#include <algorithm>

#include "common/grammar/image_name.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/docker/machine.h"
#include "launcher/compute/first_process.h"

namespace lockstep::compute::docker {
namespace {

constexpr const char* kBundlePlace = "/opt/lockstep-node";
constexpr const char* kVolume = "/var/lib/lockstep";
// The agent's notice: `docker stop` sends SIGKILL 10 s after SIGTERM.
constexpr const char* kNoticeOfStop = "9s";
constexpr const char* kSharedLogSize = "max-size=4m";

// Names of containers may not have ':', but a site's machine names may be IPv6 addresses.
std::string without_colons(std::string name) {
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

std::string label(const char* name, const std::string& value) {
  return fmt::format("--label={}={}", name, value);
}

}  // namespace

std::string container_name(const Request& request, const std::string& machine) {
  return fmt::format("lockstep-{}-{}-{}", request.launcher, request.target,
                     without_colons(machine));
}

std::vector<std::string> run_words(const Request& request, const Settings& settings,
                                   const std::string& bundle_digest, const std::string& machine,
                                   const std::string& cpus) {
  const std::string home = std::string(kVolume) + "/agent";
  std::vector<std::string> words{
      "run", "--interactive", "--pull=never", "--name", container_name(request, machine),
      label(kLauncherLabel, request.launcher), label(kTargetLabel, request.target),
      label(kMachineLabel, machine), label(kBundleLabel, bundle_digest), label(kCpusLabel, cpus),
      // Jobs run as accounts of the image; only root can change to them.
      "--user=0:0", "--workdir=/", "--network=" + settings.network,
      fmt::format("--shm-size={}", settings.shm_size),
      // A volume is on the engine's own file system, where jobs' folders can be overlays.
      "--volume", kVolume, "--volume",
      fmt::format("{}/{}:{}:ro,z", request.state, bundle_folder(bundle_digest), kBundlePlace),
      "--log-driver=json-file", "--log-opt", kSharedLogSize,
      // Ranks of one node copy from each other's memory, which needs this capability.
      "--cap-add=SYS_PTRACE"};
  if (settings.network != "host") words.push_back("--hostname=" + without_colons(machine));
  if (settings.cpus) words.push_back(fmt::format("--cpus={}", *settings.cpus));
  if (settings.memory) words.push_back(fmt::format("--memory={}", *settings.memory));
  if (!settings.gpus.empty()) words.push_back("--gpus=" + settings.gpus);
  words.insert(words.end(), settings.args.begin(), settings.args.end());
  words.insert(words.end(),
               {"--entrypoint=/bin/sh", tagged_image_name(settings.image), "-c", first_process(),
                "lockstep-node", home, std::string(kBundlePlace) + "/bin/lockstep-agent",
                accounts_for(request), "--home", home, "--name", without_colons(machine)});
  words.insert(words.end(), {"--taken-on-sigterm", kNoticeOfStop});
  if (!cpus.empty()) words.insert(words.end(), {"--cpus", cpus});
  if (settings.memory) words.insert(words.end(), {"--memory", std::to_string(*settings.memory)});
  return words;
}

}  // namespace lockstep::compute::docker
