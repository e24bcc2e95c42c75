#include "runner/steps/ray_command.h"

#include <fmt/format.h>

#include "runner/bootstrap/network.h"
#include "runner/bootstrap/ray_folder.h"

namespace lockstep::runner {
namespace {

constexpr int kHeadWithin = 120;  // how often a worker tries to reach the head, once a second

std::string shell_quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string shell_quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + shell_quoted(word);
  return text;
}

const std::string& head_host(const GangContext& gang) {
  const RaySettings& ray = gang.assignment.spec.distribution.ray;
  return ray.address.empty() ? gang.gang().members.front().address : ray.address;
}

int head_port(const GangContext& gang) {
  const auto& port = gang.assignment.spec.distribution.ray.port;
  return port ? *port : gang.gang().master_port;
}

// Makes the link unless the job chose another folder. An existing link may belong to another node
// on this host, or to another account.
std::string make_folder(const GangContext& gang) {
  const std::string link = shell_quoted(ray_folder(gang));
  return fmt::format(
      "if [ \"${{RAY_TMPDIR-}}\" = {0} ]; then\n"
      "  ln -s {1} {0} 2>/dev/null\n"
      "  [ -O {0}/ ] || {{ echo \"lockstep: \"{0}\" is not a folder of this user\" >&2; exit 125; "
      "}}\n"
      "fi\n",
      link, shell_quoted(gang.tmp_directory));
}

// The options without which Ray would use the whole machine.
std::string resources(const GangContext& gang) {
  const Allotment& allotment = gang.assignment.allotment;
  return fmt::format(" --num-cpus={} --num-gpus={}", allotment.cpus.size(), allotment.gpus.size());
}

constexpr std::string_view kNoRay =
    "command -v ray >/dev/null || { echo 'lockstep: there is no `ray` on the job'\\''s PATH; "
    "distribution type ray needs an environment with the package ray' >&2; exit 127; }\n";

std::string head_script(const GangContext& gang) {
  const RaySettings& ray = gang.assignment.spec.distribution.ray;
  std::string script(kNoRay);
  script += make_folder(gang);
  script += fmt::format("ray start --head --node-ip-address={} --port={} --disable-usage-stats{}",
                        shell_quoted(head_host(gang)), head_port(gang), resources(gang));
  script += fmt::format(" --include-dashboard={}", ray.include_dashboard ? "true" : "false");
  if (ray.include_dashboard) script += " --dashboard-host=0.0.0.0";
  if (ray.dashboard_port) script += fmt::format(" --dashboard-port={}", *ray.dashboard_port);
  script += shell_quoted(ray.head_arguments) + " || exit\n";
  script += fmt::format("[ -n \"${{RAY_ADDRESS-}}\" ] || RAY_ADDRESS={}\nexport RAY_ADDRESS\n",
                        shell_quoted(ray_address(gang)));
  return script + "exec \"$@\"\n";
}

std::string worker_script(const GangContext& gang) {
  const RaySettings& ray = gang.assignment.spec.distribution.ray;
  const std::string address = shell_quoted(ray_address(gang));
  const std::string& own =
      gang.gang().members[static_cast<std::size_t>(gang.assignment.node_rank)].address;
  std::string script(kNoRay);
  script += make_folder(gang);
  script += fmt::format(
      "tries=0\n"
      "until ray health-check --address {} >/dev/null 2>&1 || [ $tries -ge {} ]; do\n"
      "  tries=$((tries + 1))\n"
      "  sleep 1\n"
      "done\n",
      address, kHeadWithin);
  script += fmt::format("exec ray start --address={} --node-ip-address={} --block{}{}\n", address,
                        shell_quoted(own), resources(gang), shell_quoted(ray.worker_arguments));
  return script;
}

}  // namespace

std::string ray_address(const GangContext& gang) {
  return host_and_port(head_host(gang), head_port(gang));
}

std::vector<std::string> ray_words(const GangContext& gang, const std::string& shell,
                                   const std::vector<std::string>& command) {
  if (gang.assignment.node_rank != 0) return {shell, "-c", worker_script(gang)};
  std::vector<std::string> words = {shell, "-c", head_script(gang), "lockstep-ray"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace lockstep::runner
