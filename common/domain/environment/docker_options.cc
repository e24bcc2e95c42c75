#include "common/domain/environment/docker_options.h"

#include <algorithm>

namespace lockstep {

namespace {

using enum DockerGrant;
constexpr bool kValue = true;
constexpr bool kFlag = false;  // the option takes no value

constexpr std::string_view kCpus = "write lockstep.resources.cpus instead";
constexpr std::string_view kFile =
    "it names a file on the node; write environment_variables instead";
constexpr std::string_view kHost = "the container has its node's host name; leave the option out";
constexpr std::string_view kLogs = "the ranks' output is in the job's logs; leave the option out";
constexpr std::string_view kMemory = "write lockstep.resources.memory instead";
constexpr std::string_view kNamed =
    "Lockstep names and removes containers itself; leave the option out";
constexpr std::string_view kNetwork = "the container has the host's network; leave the option out";
constexpr std::string_view kPlace = "Lockstep chooses the container's cgroup; leave the option out";
constexpr std::string_view kTerminal =
    "ranks have no terminal, and their output is in the job's logs; leave the option out";
constexpr std::string_view kUser =
    "ranks run as the submitting user, with that user's groups; leave the option out";

constexpr DockerOption kOptions[] = {
    {"add-host", '\0', kValue, everybody},
    {"annotation", '\0', kValue, operators},
    {"attach", 'a', kValue, nobody, kTerminal},
    {"blkio-weight", '\0', kValue, operators},
    {"blkio-weight-device", '\0', kValue, operators},
    {"cap-add", '\0', kValue, operators},
    {"cap-drop", '\0', kValue, everybody},
    {"cgroup-parent", '\0', kValue, nobody, kPlace},
    {"cgroupns", '\0', kValue, nobody, kPlace},
    {"cidfile", '\0', kValue, nobody, kNamed},
    {"cpu-count", '\0', kValue, nobody, kCpus},
    {"cpu-percent", '\0', kValue, nobody, kCpus},
    {"cpu-period", '\0', kValue, nobody, kCpus},
    {"cpu-quota", '\0', kValue, nobody, kCpus},
    {"cpu-rt-period", '\0', kValue, nobody, kCpus},
    {"cpu-rt-runtime", '\0', kValue, nobody, kCpus},
    {"cpu-shares", 'c', kValue, nobody, kCpus},
    {"cpus", '\0', kValue, nobody, kCpus},
    {"cpuset-cpus", '\0', kValue, nobody, kCpus},
    {"cpuset-mems", '\0', kValue, nobody, kCpus},
    {"detach", 'd', kFlag, nobody,
     "Lockstep waits for the container; `lockstep run --detach` returns at once"},
    {"detach-keys", '\0', kValue, nobody, kTerminal},
    {"device", '\0', kValue, operators},
    {"device-cgroup-rule", '\0', kValue, operators},
    {"device-read-bps", '\0', kValue, operators},
    {"device-read-iops", '\0', kValue, operators},
    {"device-write-bps", '\0', kValue, operators},
    {"device-write-iops", '\0', kValue, operators},
    {"disable-content-trust", '\0', kFlag, operators},
    {"dns", '\0', kValue, operators},
    {"dns-opt", '\0', kValue, operators},
    {"dns-option", '\0', kValue, operators},
    {"dns-search", '\0', kValue, operators},
    {"domainname", '\0', kValue, nobody, kHost},
    {"entrypoint", '\0', kValue, nobody,
     "the container runs the job's `command`; an image's entrypoint is not used"},
    {"env", 'e', kValue, everybody},
    {"env-file", '\0', kValue, nobody, kFile},
    {"expose", '\0', kValue, nobody, kNetwork},
    {"gpus", '\0', kValue, nobody, "write lockstep.resources.gpus instead"},
    {"group-add", '\0', kValue, nobody, kUser},
    {"health-cmd", '\0', kValue, operators},
    {"health-interval", '\0', kValue, operators},
    {"health-retries", '\0', kValue, operators},
    {"health-start-interval", '\0', kValue, operators},
    {"health-start-period", '\0', kValue, operators},
    {"health-timeout", '\0', kValue, operators},
    {"help", '\0', kFlag, nobody, "it starts nothing; leave the option out"},
    {"hostname", 'h', kValue, nobody, kHost},
    {"init", '\0', kFlag, everybody},
    {"interactive", 'i', kFlag, nobody, kTerminal},
    {"io-maxbandwidth", '\0', kValue, operators},
    {"io-maxiops", '\0', kValue, operators},
    {"ip", '\0', kValue, nobody, kNetwork},
    {"ip6", '\0', kValue, nobody, kNetwork},
    {"ipc", '\0', kValue, everybody},
    {"isolation", '\0', kValue, operators},
    {"kernel-memory", '\0', kValue, nobody, kMemory},
    {"label", 'l', kValue, everybody},
    {"label-file", '\0', kValue, nobody, "it names a file on the node; write --label instead"},
    {"link", '\0', kValue, nobody, kNetwork},
    {"link-local-ip", '\0', kValue, nobody, kNetwork},
    {"log-driver", '\0', kValue, nobody, kLogs},
    {"log-opt", '\0', kValue, nobody, kLogs},
    {"mac-address", '\0', kValue, nobody, kNetwork},
    {"memory", 'm', kValue, nobody, kMemory},
    {"memory-reservation", '\0', kValue, nobody, kMemory},
    {"memory-swap", '\0', kValue, nobody, kMemory},
    {"memory-swappiness", '\0', kValue, nobody, kMemory},
    {"mount", '\0', kValue, operators},
    {"name", '\0', kValue, nobody, kNamed},
    {"net", '\0', kValue, nobody, kNetwork},
    {"net-alias", '\0', kValue, nobody, kNetwork},
    {"network", '\0', kValue, nobody, kNetwork},
    {"network-alias", '\0', kValue, nobody, kNetwork},
    {"no-healthcheck", '\0', kFlag, operators},
    {"oom-kill-disable", '\0', kFlag, operators},
    {"oom-score-adj", '\0', kValue, operators},
    {"pid", '\0', kValue, operators},
    {"pids-limit", '\0', kValue, everybody},
    {"platform", '\0', kValue, nobody,
     "nodes always take the image for their own platform; leave the option out"},
    {"privileged", '\0', kFlag, operators},
    {"publish", 'p', kValue, nobody, kNetwork},
    {"publish-all", 'P', kFlag, nobody, kNetwork},
    {"pull", '\0', kValue, nobody,
     "Lockstep fetches the image before the container starts; submit with --rebuild to fetch a "
     "newer one"},
    {"quiet", 'q', kFlag, nobody, "the engine's output is not shown; leave the option out"},
    {"read-only", '\0', kFlag, everybody},
    {"restart", '\0', kValue, nobody, "write lockstep.retry instead"},
    {"rm", '\0', kFlag, nobody, kNamed},
    {"runtime", '\0', kValue, operators},
    {"security-opt", '\0', kValue, everybody},
    {"shm-size", '\0', kValue, everybody},
    {"sig-proxy", '\0', kFlag, nobody, kTerminal},
    {"stop-signal", '\0', kValue, operators},
    {"stop-timeout", '\0', kValue, operators},
    {"storage-opt", '\0', kValue, operators},
    {"sysctl", '\0', kValue, operators},
    {"tmpfs", '\0', kValue, everybody},
    {"tty", 't', kFlag, nobody, kTerminal},
    {"ulimit", '\0', kValue, everybody},
    {"use-api-socket", '\0', kFlag, operators},
    {"user", 'u', kValue, nobody, kUser},
    {"userns", '\0', kValue, nobody, kUser},
    {"uts", '\0', kValue, operators},
    {"volume", 'v', kValue, operators},
    {"volume-driver", '\0', kValue, operators},
    {"volumes-from", '\0', kValue, operators},
    {"workdir", 'w', kValue, nobody,
     "ranks start in the job's own directory; write cd into `command`"},
};

}  // namespace

std::span<const DockerOption> docker_options() { return kOptions; }

const DockerOption* find_docker_option(std::string_view name) {
  const auto found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                  [&](const DockerOption& option) { return option.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

const DockerOption* find_docker_option(char letter) {
  if (letter == '\0') return nullptr;
  const auto found =
      std::find_if(std::begin(kOptions), std::end(kOptions),
                   [&](const DockerOption& option) { return option.letter == letter; });
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace lockstep
