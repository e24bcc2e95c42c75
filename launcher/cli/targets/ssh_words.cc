#include "launcher/cli/targets/ssh_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/nearest.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t kMaxNamedHosts = 10;  // the most hosts that one message names

std::string names_of(const std::vector<SshHost>& hosts) {
  std::string text;
  for (std::size_t i = 0; i < std::min(hosts.size(), kMaxNamedHosts); ++i)
    text += (i == 0 ? "" : ", ") + hosts[i].name;
  if (hosts.size() > kMaxNamedHosts)
    text += fmt::format(" and {} more", hosts.size() - kMaxNamedHosts);
  return text;
}

Error without_hosts(const ComputeView& compute) {
  const std::string& name = compute.spec.name;
  switch (compute.spec.source) {
    case NodeSource::none:
      return make_error(ErrorCode::conflict,
                        fmt::format("target '{}' has the nodes of target local, which joined by "
                                    "themselves: Lockstep does not know how to log in there; use "
                                    "ssh (`lockstep compute list-nodes {}`)",
                                    name, name));
    case NodeSource::join:
      return make_error(ErrorCode::conflict,
                        fmt::format("the nodes of target '{}' joined with a token: Lockstep does "
                                    "not know how to log in there; use ssh (`lockstep compute "
                                    "list-nodes {}`)",
                                    name, name));
    case NodeSource::docker:
    case NodeSource::slurm:
    case NodeSource::command:
    case NodeSource::kubernetes:
      return make_error(
          ErrorCode::conflict,
          fmt::format("the machines of target '{}' are made by its provider: Lockstep "
                      "does not know how to log in there (`lockstep compute "
                      "list-nodes {}`)",
                      name, name));
    case NodeSource::ssh: break;
  }
  return make_error(ErrorCode::not_found,
                    fmt::format("target '{}' has no hosts; `lockstep compute attach {} --host "
                                "[USER@]ADDRESS` attaches one",
                                name, name));
}

}  // namespace

std::vector<std::string> ssh_words(const SshHost& host, const std::string& key,
                                   const std::vector<std::string>& command,
                                   const std::string& known_hosts) {
  std::vector<std::string> words{"ssh"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("-i", key);
  if (!key.empty()) add("-o", "IdentitiesOnly=yes");
  if (!known_hosts.empty())
    add("-o", fmt::format("UserKnownHostsFile=\"{}\" ~/.ssh/known_hosts", known_hosts));
  add("-p", host.port == 0 ? "" : std::to_string(host.port));
  add("-l", host.user);
  add("-J", host.jump == "none" ? "" : host.jump);  // as the provider interprets it
  words.insert(words.end(), {"--", host.address});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Result<SshHost> host_to_connect(const ComputeView& compute, const std::string& name) {
  const std::vector<SshHost>& hosts = compute.spec.hosts;
  if (hosts.empty()) return without_hosts(compute);
  if (name.empty()) {
    if (hosts.size() == 1) return hosts.front();
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("target '{}' has {} hosts: {}; name one: `lockstep compute "
                                  "connect-ssh {} {}`",
                                  compute.spec.name, hosts.size(), names_of(hosts),
                                  compute.spec.name, hosts.front().name));
  }
  const auto found = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const SshHost& host) { return host.name == name; });
  if (found != hosts.end()) return *found;
  std::vector<std::string_view> names;
  for (const SshHost& host : hosts) names.push_back(host.name);
  const std::string near = nearest(name, names);
  return make_error(ErrorCode::not_found,
                    fmt::format("target '{}' has no host '{}'; {}", compute.spec.name, name,
                                near.empty() ? "its hosts: " + names_of(hosts)
                                             : fmt::format("did you mean '{}'?", near)));
}

}  // namespace lockstep::cli
