#include "common/domain/targets/compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/utf8.h"

namespace lockstep {
namespace {

bool begins_compute_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr std::size_t kMaxUserBytes = 64;
constexpr std::size_t kMaxPathBytes = 1'024;
constexpr std::size_t kMaxHostBytes = 63;  // a host becomes a node's name
constexpr std::size_t kMaxAddressBytes = 255;
constexpr std::size_t kMaxJoinSecretBytes = 128;
constexpr std::size_t kMaxSizeNameBytes = 128;
constexpr int kMaxPort = 65'535;

bool is_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return begins_compute_name(c) || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

// A rule of check(SshHost): a field that is set must satisfy it.
struct HostRule {
  std::string_view field;
  const std::string& value;
  bool is_good;
  std::string_view what;
};

bool is_word_of(const std::string& text, std::string_view others, std::size_t longest) {
  return text.size() <= longest && (text.empty() || text[0] != '-') && is_of(text, others);
}
// Whether a path is absolute, without a "..", and with only these characters.
bool is_plain_path(const std::string& path) {
  return path.empty() ||
         (path[0] == '/' && path.size() > 1 && path.back() != '/' &&
          is_word_of(path, "/._-+", kMaxPathBytes) && path.find("//") == std::string::npos &&
          (path + "/").find("/../") == std::string::npos);
}
// Whether the path may be a key's; ssh expands % and ~ in it.
bool is_key_path(const std::string& path) {
  return path.empty() ||
         (path.size() <= kMaxPathBytes && (path[0] == '/' || path[0] == '~') &&
          path.find_first_of("%\"") == std::string::npos &&
          std::none_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20; }));
}

// Whether the text is [USER@]HOST[:PORT]; HOST may be [an IPv6 address].
bool is_jump(const std::string& jump) {
  if (!is_word_of(jump, "._-:@[]", kMaxAddressBytes)) return false;
  const auto colon = jump.rfind(':');
  const bool has_port = colon != std::string::npos && jump.find(']', colon) == std::string::npos;
  if (!has_port) return jump.empty() || jump.back() != '@';
  const std::string port = jump.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() <= 5 &&
                         port.find_first_not_of("0123456789") == std::string::npos;
  return colon != 0 && is_number && std::stoi(port) >= 1 && std::stoi(port) <= kMaxPort;
}

Status check_hosts(const ComputeSpec& spec) {
  if (spec.hosts.size() > kMaxHosts)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("there are {} hosts; the most allowed are {}", spec.hosts.size(), kMaxHosts));
  std::set<std::string> names;
  for (const SshHost& host : spec.hosts) {
    TRY(check(host));
    if (!names.insert(host.name).second)
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("two hosts have the name '{}'; give each its own `name`", host.name));
  }
  return {};
}

Status check_scale(const ComputeSpec& spec) {
  const Scale& scale = spec.scale;
  if (!is_elastic(spec)) {
    if (scale == Scale{} && spec.size.empty()) return {};
    return make_error(ErrorCode::invalid_argument,
                      "only a target of type amlcompute or kubernetes has a size, a tier, and a "
                      "number of instances");
  }
  if (is_instance(spec) && scale != Scale{})
    return make_error(ErrorCode::invalid_argument,
                      "a target of type computeinstance is one machine: it has no tier and no "
                      "number of instances");
  const auto bad_scale = [](std::string message) {
    return make_error(ErrorCode::invalid_argument, std::move(message));
  };
  if (spec.size.size() > kMaxSizeNameBytes || !is_word_of(spec.size, "._-", kMaxSizeNameBytes))
    return bad_scale(
        fmt::format("size '{}' is not the name of a size: at most 128 letters, digits and . _ -, "
                    "not beginning with -",
                    spec.size.substr(0, 100)));
  if (scale.max_instances < 1 || scale.max_instances > kMaxInstances)
    return bad_scale(fmt::format("max_instances is {}; it must be from 1 to {}",
                                 scale.max_instances, kMaxInstances));
  if (scale.min_instances < 0 || scale.min_instances > scale.max_instances)
    return bad_scale(
        fmt::format("min_instances is {}; it must be from 0 to max_instances, which is {}",
                    scale.min_instances, scale.max_instances));
  if (scale.idle_time < Duration::zero() || scale.idle_time > kMaxIdleTime)
    return bad_scale("idle_time_before_scale_down must be from 0 s to 30 days");
  return {};
}

Status check_instance(const ComputeSpec& spec) {
  const auto bad = [](std::string message) {
    return make_error(ErrorCode::invalid_argument, std::move(message));
  };
  const InstanceSettings& instance = spec.instance;
  if (!is_instance(spec)) {
    if (instance == InstanceSettings{}) return {};
    return bad(
        "only a target of type computeinstance has schedules and an idle_time_before_shutdown");
  }
  if (spec.source == NodeSource::ssh && spec.hosts.size() > 1)
    return bad(
        fmt::format("a computeinstance is one machine, and {} hosts are named; leave all but "
                    "one out, or choose the type amlcompute",
                    spec.hosts.size()));
  if (instance.idle_time < Duration::zero() || instance.idle_time > kMaxIdleTime)
    return bad("idle_time_before_shutdown must be from 0 s (never) to 30 days");
  if (instance.schedules.size() > kMaxSchedules)
    return bad(fmt::format("there are {} schedules; at most {} are possible",
                           instance.schedules.size(), kMaxSchedules));
  for (std::size_t i = 0; i < instance.schedules.size(); ++i)
    if (const Status good = check(instance.schedules[i]); !good)
      return bad(fmt::format("{}.{}", schedule_path(i), good.error().message));
  return {};
}

// The sources that a type can have, for the error.
std::string_view sources_of(ComputeType type) {
  switch (type) {
    case ComputeType::local: return "";
    case ComputeType::virtualmachine: return "ssh or join";
    case ComputeType::amlcompute: return "docker, ssh, slurm, kubernetes or command";
    case ComputeType::computeinstance: return "docker, ssh, slurm or command";
    case ComputeType::kubernetes: return "kubernetes";
  }
  return "";
}
bool may_have(ComputeType type, NodeSource source) {
  switch (source) {
    case NodeSource::none: return type == ComputeType::local;
    case NodeSource::join: return type == ComputeType::virtualmachine;
    case NodeSource::ssh:
      return type == ComputeType::virtualmachine || type == ComputeType::amlcompute ||
             type == ComputeType::computeinstance;
    case NodeSource::docker:
    case NodeSource::slurm:
    case NodeSource::command:
      return type == ComputeType::amlcompute || type == ComputeType::computeinstance;
    case NodeSource::kubernetes:
      return type == ComputeType::amlcompute || type == ComputeType::kubernetes;
  }
  return false;
}

// Checks that type, source, hosts and settings go together.
Status check_source(const ComputeSpec& spec) {
  if (!may_have(spec.type, spec.source))
    return make_error(ErrorCode::invalid_argument,
                      spec.type == ComputeType::local
                          ? "a target of type local has no node source of its own"
                          : fmt::format("a target of type {} needs a node source: {}",
                                        to_string(spec.type), sources_of(spec.type)));
  if (spec.source == NodeSource::kubernetes && spec.name.back() == '-')
    return make_error(ErrorCode::invalid_argument,
                      "the name of a target whose machines are pods must end with a letter or a "
                      "digit, because it becomes a label of theirs");
  TRY(check_scale(spec));
  TRY(check_instance(spec));
  TRY(check_settings(spec.source, spec.settings));
  if (spec.source != NodeSource::ssh && (!spec.hosts.empty() || spec.tunnel != TunnelUse::unset))
    return make_error(ErrorCode::invalid_argument,
                      "only a target with the node source ssh has hosts and a tunnel");
  if (spec.tunnel == TunnelUse::unknown)
    return make_error(ErrorCode::invalid_argument, "tunnel: is not auto, always or never");
  return check_hosts(spec);
}

Status check_text(const std::string& text, std::string_view what) {
  if (text.size() <= kMaxComputeTextBytes) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} has {} bytes; at most {} are possible", what, text.size(),
                                kMaxComputeTextBytes));
}

}  // namespace

Word describe(ComputeType type) {
  switch (type) {
    case ComputeType::local: return {1, "local"};
    case ComputeType::virtualmachine: return {2, "virtualmachine"};
    case ComputeType::amlcompute: return {3, "amlcompute"};
    case ComputeType::kubernetes: return {5, "kubernetes"};
    case ComputeType::computeinstance: return {7, "computeinstance"};
  }
  return {};
}
std::string_view to_string(ComputeType type) { return describe(type).word; }

Word describe(TunnelUse use) {
  switch (use) {
    case TunnelUse::unset: return {0, ""};
    case TunnelUse::automatic: return {1, "auto"};
    case TunnelUse::always: return {2, "always"};
    case TunnelUse::never: return {3, "never"};
    case TunnelUse::unknown: return {4, "?"};
  }
  return {};
}
std::string_view to_string(TunnelUse use) { return describe(use).word; }

std::optional<TunnelUse> tunnel_use_from(std::string_view word) {
  const auto use = with_word<TunnelUse>(word);
  return use == TunnelUse::unknown ? std::nullopt : use;
}

Word describe(InstanceCause cause) {
  switch (cause) {
    case InstanceCause::user: return {0, "user"};
    case InstanceCause::schedule: return {1, "schedule"};
    case InstanceCause::idle: return {2, "idle"};
  }
  return {};
}
std::string_view to_string(InstanceCause cause) { return describe(cause).word; }

Word describe(Tier tier) {
  switch (tier) {
    case Tier::dedicated: return {0, "dedicated"};
    case Tier::low_priority: return {1, "low_priority"};
  }
  return {};
}
std::string_view to_string(Tier tier) { return describe(tier).word; }

bool has_provider(const ComputeSpec& spec) {
  return spec.source != NodeSource::none && spec.source != NodeSource::join;
}

bool installs_bundle(NodeSource source) {
  switch (source) {
    case NodeSource::ssh:
    case NodeSource::docker:
    case NodeSource::slurm: return true;
    case NodeSource::none:
    case NodeSource::join:
    case NodeSource::command:
    case NodeSource::kubernetes: break;  // a pod gets it from an image
  }
  return false;
}

bool is_elastic(const ComputeSpec& spec) {
  return spec.type == ComputeType::amlcompute || spec.type == ComputeType::kubernetes ||
         is_instance(spec);
}

bool is_instance(const ComputeSpec& spec) { return spec.type == ComputeType::computeinstance; }

int most_machines(const ComputeSpec& spec) {
  const int most = spec.scale.max_instances;
  if (spec.source != NodeSource::ssh) return most;
  return std::min(most, static_cast<int>(spec.hosts.size()));
}

Status check_compute_name(std::string_view name) {
  const bool good_characters = std::all_of(name.begin(), name.end(), [](char c) {
    return begins_compute_name(c) || (c >= '0' && c <= '9') || c == '-';
  });
  if (good_characters && name.size() >= kMinComputeNameBytes &&
      name.size() <= kMaxComputeNameBytes && begins_compute_name(name.front()))
    return {};
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("'{}' cannot be the name of a compute target: it needs {} to {} letters, digits "
                  "and '-', and begins with a letter",
                  head(name, 100), kMinComputeNameBytes, kMaxComputeNameBytes));
}

Status check(const ComputeSpec& spec) {
  TRY(check_compute_name(spec.name));
  TRY(check_text(spec.description, "description"));
  TRY(check_text(spec.location, "location"));
  if (spec.tags.size() > kMaxComputeTags)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("there are {} tags; at most {} are possible", spec.tags.size(),
                                  kMaxComputeTags));
  for (const auto& [name, value] : spec.tags) {
    if (name.empty()) return make_error(ErrorCode::invalid_argument, "a tag needs a name");
    TRY(check_text(name, "the name of a tag"));
    TRY(check_text(value, fmt::format("tag '{}'", name)));
  }
  return check_source(spec);
}

Status check(const SshHost& host) {
  if (host.address.empty())
    return make_error(ErrorCode::invalid_argument, "a host needs an `address`");
  const HostRule rules[] = {
      {"address", host.address,
       is_word_of(host.address, "._-:", kMaxAddressBytes) && host.address[0] != '.',
       "a host name or an IP address: at most 255 letters, digits and . _ - :, not beginning with "
       ". or -"},
      {"name", host.name,
       !host.name.empty() && is_word_of(host.name, "._-", kMaxHostBytes) && host.name[0] != '.',
       "a name of 1 to 63 letters, digits and . _ -, not beginning with . or -"},
      {"user", host.user, is_word_of(host.user, "-._@\\", kMaxUserBytes),
       "the name of an account: at most 64 letters, digits and . _ - @ \\, not beginning with -"},
      {"key", host.key, is_key_path(host.key),
       "a path that begins with / or ~, without %, quotation marks and control characters, of at "
       "most 1024 bytes"},
      {"password_secret", host.password_secret,
       is_word_of(host.password_secret, "._-", kMaxJoinSecretBytes),
       "the name of a secret: at most 128 letters, digits and . _ -, not beginning with -"},
      {"jump", host.jump, is_jump(host.jump), "[USER@]HOST[:PORT] or none"},
      {"directory", host.directory, is_plain_path(host.directory),
       "an absolute path of letters, digits and / . _ - +, without '..', '//' and a '/' at its "
       "end, of at most 1024 bytes"},
  };
  for (const HostRule& rule : rules)
    if (!rule.is_good)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("host {}: {} '{}' is not {}", host.address.substr(0, 100),
                                    rule.field, rule.value.substr(0, 100), rule.what));
  if (host.port < 0 || host.port > kMaxPort)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("host {}: port {} is not a number from 1 to {}", host.address,
                                  host.port, kMaxPort));
  return {};
}

std::string_view without_azureml(std::string_view reference) {
  constexpr std::string_view kPrefix = "azureml:";
  if (reference.substr(0, kPrefix.size()) == kPrefix) reference.remove_prefix(kPrefix.size());
  return reference;
}

}  // namespace lockstep
