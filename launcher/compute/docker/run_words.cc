// The command line that starts a machine's container, and the script that is its first process.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/domain/image_name.h"
#include "common/io/file_system.h"
#include "launcher/compute/bundle.h"
#include "launcher/compute/docker/machine.h"

namespace lockstep::compute::docker {
namespace {

constexpr const char* kBundlePlace = "/opt/lockstep-node";
constexpr const char* kVolume = "/var/lib/lockstep";
// `docker stop` sends SIGKILL 10 s after SIGTERM.
constexpr const char* kNoticeOfStop = "9s";
constexpr const char* kSharedLogSize = "max-size=4m";

// Process 1 of the container. It uses nothing but the shell, which is all that an image has to
// have. It reaps what jobs leave, and starts the agent again when that dies, so that jobs stay. The
// token is read from standard input and goes on through a pipe: no argument and no file holds it.
constexpr const char* kFirstProcess = R"sh(
home=$1 agent=$2 accounts=$3
shift 3
while IFS=: read -r name uid gid; do
  [ -n "$name" ] || continue
  known=''
  while IFS=: read -r other rest; do
    [ "$other" != "$name" ] || known=1
  done < /etc/passwd
  [ -z "$known" ] || continue
  printf '%s:x:%s:%s::/home/%s:/bin/sh\n' "$name" "$uid" "$gid" "$name" >> /etc/passwd
  printf '%s:x:%s:\n' "$name" "$gid" >> /etc/group
  mkdir -p "/home/$name" && chown "$uid:$gid" "/home/$name"
done 2>/dev/null <<ACCOUNTS
$accounts
ACCOUNTS
child='' stop='' token=''
trap 'stop=1; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM INT HUP
if [ ! -f "$home/identity.json" ]; then
  IFS= read -r token
  [ -n "$token" ] || { echo "lockstep-agent: this node has no identity and got no token" >&2; exit 3; }
fi
while [ -z "$stop" ]; do
  if [ -n "$token" ]; then
    printf '%s\n' "$token" | "$agent" --token-file - "$@" &
  else
    "$agent" "$@" < /dev/null &
  fi
  child=$! token=''
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  child=''
  case $code in 0|2) exit "$code" ;; esac
  [ -f "$home/identity.json" ] || exit "$code"
  [ -z "$stop" ] || break
  sleep 5 &
  child=$!
  wait "$child"
  child=''
done
)sh";

// Names of containers have no ':' (IPv6 addresses do, which a site may have as machine names).
std::string without_colons(std::string name) {
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

// "NAME:UID:GID" on each line: accounts of this machine that people have, so that jobs can run as
// them. An ordinary user's launcher runs jobs as that user alone.
std::string accounts_of_people() {
  constexpr unsigned kFirst = 1'000, kLast = 59'999;  // as Debian gives them to people
  constexpr std::size_t kMost = 1'000;
  std::string lines;
  std::size_t count = 0;
  const bool is_root = ::geteuid() == 0;
  const auto text = io::read_file("/etc/passwd").value_or("");
  for (std::size_t at = 0; at < text.size() && count < kMost;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    char name[65] = "";
    unsigned uid = 0, gid = 0;
    if (std::sscanf(line.c_str(), "%64[a-zA-Z0-9._-]:%*[^:]:%u:%u", name, &uid, &gid) != 3)
      continue;
    if (is_root ? uid < kFirst || uid > kLast : uid != ::geteuid()) continue;
    lines += fmt::format("{}:{}:{}\n", name, uid, gid);
    ++count;
  }
  return lines;
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
      // Jobs run as accounts of the image, which only root can become.
      "--user=0:0", "--workdir=/", "--network=" + settings.network,
      fmt::format("--shm-size={}", settings.shm_size),
      // Of the engine's own file system, on which jobs' folders can be overlays.
      "--volume", kVolume, "--volume",
      fmt::format("{}/{}:{}:ro,z", request.state, bundle_folder(bundle_digest), kBundlePlace),
      "--log-driver=json-file", "--log-opt", kSharedLogSize,
      // Ranks of one node copy from each other's memory.
      "--cap-add=SYS_PTRACE"};
  if (settings.network != "host") words.push_back("--hostname=" + without_colons(machine));
  if (settings.cpus) words.push_back(fmt::format("--cpus={}", *settings.cpus));
  if (settings.memory) words.push_back(fmt::format("--memory={}", *settings.memory));
  if (!settings.gpus.empty()) words.push_back("--gpus=" + settings.gpus);
  words.insert(words.end(), settings.args.begin(), settings.args.end());
  words.insert(words.end(),
               {"--entrypoint=/bin/sh", tagged_image_name(settings.image), "-c", kFirstProcess,
                "lockstep-node", home, std::string(kBundlePlace) + "/bin/lockstep-agent",
                accounts_of_people(), "--home", home, "--name", without_colons(machine)});
  words.insert(words.end(), {"--taken-on-sigterm", kNoticeOfStop});
  if (!cpus.empty()) words.insert(words.end(), {"--cpus", cpus});
  if (settings.memory) words.insert(words.end(), {"--memory", std::to_string(*settings.memory)});
  return words;
}

}  // namespace lockstep::compute::docker
