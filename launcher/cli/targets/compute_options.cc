#include "launcher/cli/targets/compute_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/cli/base/verb_table.h"
#include "launcher/files/targets/cluster_reader.h"
#include "launcher/files/targets/compute_file.h"
#include "launcher/files/targets/instance_reader.h"
#include "launcher/files/targets/ssh_host.h"

namespace lockstep::cli {
namespace {

Result<TunnelUse> tunnel_use_of(const std::string& word) {
  if (const auto use = tunnel_use_from(word)) return *use;
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("tunnel: '{}' is not auto, always or never", word.substr(0, 100)));
}

Status apply_texts(const ComputeOptions& options, ComputeSpec& spec) {
  if (options.description) spec.description = *options.description;
  if (options.location) spec.location = *options.location;
  for (const std::string& tag : options.tags) {
    const auto equals = tag.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_compute(fmt::format("--tags: '{}' is not NAME=VALUE", tag));
    spec.tags[tag.substr(0, equals)] = tag.substr(equals + 1);
  }
  return {};
}

// Flags override the file, as --set does, so that a file of Azure's can be given the address that
// it lacks.
std::vector<std::string> as_overrides(const ComputeOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back(fmt::format("{}={}", key, value));
  };
  const HostFlags& hosts = options.hosts;
  set("name", options.name);
  set("type", options.type);
  set("lockstep.node_source", options.node_source);
  if (!hosts.hosts.empty())
    set("lockstep.hosts", nlohmann::json(split_at_commas(hosts.hosts))
                              .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  set("lockstep.ssh.user", hosts.user);
  set("lockstep.ssh.port", hosts.port);
  set("lockstep.ssh.key", hosts.key);
  set("lockstep.ssh.password_secret", hosts.password_secret);
  set("lockstep.ssh.jump", hosts.jump);
  set("lockstep.ssh.directory", hosts.directory);
  set("lockstep.tunnel", hosts.tunnel);
  set("lockstep.share", hosts.share);
  for (const auto& [key, value] : options.cluster) set(key.c_str(), value);
  return overrides;
}

// "--min-instances" for the key "min_instances".
std::string flag_of(std::string_view key) {
  if (const auto dot = key.rfind('.'); dot != std::string_view::npos) key.remove_prefix(dot + 1);
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

bool says_how_to_log_in(const HostFlags& flags) {
  const std::string all =
      flags.user + flags.port + flags.key + flags.password_secret + flags.jump + flags.directory;
  return !all.empty();
}

Result<ComputeSpec> spec_from_flags(const std::string& verb, const ComputeOptions& options) {
  const bool has_hosts = !options.hosts.hosts.empty();
  std::string type = options.type;
  if (type.empty() && has_hosts) type = to_string(ComputeType::virtualmachine);
  if (options.name.empty() || type.empty())
    return bad_compute(
        fmt::format("{}: give a file (-f), or a name and {}; see lockstep compute {} "
                    "--help",
                    verb, verb == "attach" ? "--host" : "--type or --host", verb));
  TRY_ASSIGN(const ComputeType known_type, spec::compute_type(type));
  if (known_type == ComputeType::amlcompute || known_type == ComputeType::kubernetes ||
      known_type == ComputeType::computeinstance)
    return spec::parse_compute("the options", "{}", as_overrides(options));
  if (!options.cluster.empty())
    return bad_compute(
        fmt::format("{}: {} is for a target of type amlcompute, kubernetes or computeinstance",
                    verb, flag_of(options.cluster.front().first)));
  if (!options.overrides.empty())
    return bad_compute(verb + ": --set overrides keys of a compute file; name the file with -f");
  ComputeSpec spec;
  spec.name = options.name;
  spec.type = known_type;
  const bool is_implied =
      options.node_source.empty() && has_hosts && spec.type == ComputeType::virtualmachine;
  const std::string source =
      is_implied ? std::string(to_string(NodeSource::ssh)) : options.node_source;
  TRY_ASSIGN(spec.source, spec::node_source(spec.type, source));
  if (has_hosts && spec.source != NodeSource::ssh)
    return bad_compute(verb + ": --host is for a virtualmachine with the node source ssh");
  if (!has_hosts && says_how_to_log_in(options.hosts))
    return bad_compute(verb +
                       ": no host is named that these options are for; write --host "
                       "[USER@]ADDRESS[:PORT]");
  auto hosts = hosts_from("--host", options.hosts);
  if (!hosts) return bad_compute(fmt::format("{}: {}", verb, hosts.error().message));
  spec.hosts = std::move(*hosts);
  TRY_ASSIGN(spec.tunnel, tunnel_use_of(options.hosts.tunnel));
  if (!options.hosts.share.empty()) spec.settings["share"] = {options.hosts.share};
  return spec;
}

// Sets the key's value in `spec`. Returns nullopt for an unknown key, "" if the value is good, or
// its fault.
std::optional<std::string> assign_to_elastic(const std::string& key, const std::string& value,
                                             ComputeSpec& spec) {
  if (auto wrong = spec::assign_to_instance(key, value, spec)) return wrong;
  return spec::assign_to_cluster(key, value, spec);
}

Status set_tunnel(const std::string& word, ComputeSpec& spec) {
  TRY_ASSIGN(spec.tunnel, tunnel_use_of(word));
  return {};
}

// Applies `update --set KEY=VALUE` to a target without a file.
Status assign(const std::string& assignment, ComputeSpec& spec) {
  constexpr std::string_view kTags = "tags.";
  const auto equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : assignment.substr(equals + 1);
  if (key == "description")
    spec.description = value;
  else if (key == "location")
    spec.location = value;
  else if (key == "lockstep.tunnel")
    return set_tunnel(value, spec);
  else if (key == "lockstep.share" && (value.empty() || value == "all"))
    spec.settings.erase("share");
  else if (key == "lockstep.share")
    spec.settings["share"] = {value};
  else if (key.starts_with(kTags) && key.size() > kTags.size())
    spec.tags[key.substr(kTags.size())] = value;
  else if (const auto wrong = assign_to_elastic(key, value, spec))
    return wrong->empty() ? Status{}
                          : bad_compute(fmt::format("update: --set {}: {}", assignment, *wrong));
  else
    return bad_compute(
        fmt::format("update: --set {}: description, location, tags.NAME, lockstep.tunnel, "
                    "lockstep.share and, of a cluster, size, tier, min_instances, max_instances, "
                    "idle_time_before_scale_down and its node source's settings, of a compute "
                    "instance idle_time_before_shutdown and schedules can change; "
                    "`lockstep compute attach` and `detach` change hosts",
                    assignment));
  return {};
}

}  // namespace

Error bad_compute(std::string message) {
  return make_error(ErrorCode::invalid_argument, "compute " + std::move(message));
}

std::vector<std::string> split_at_commas(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const std::string& word : words)
    for (std::size_t from = 0; from <= word.size();) {
      const auto comma = std::min(word.find(',', from), word.size());
      parts.push_back(word.substr(from, comma - from));
      from = comma + 1;
    }
  return parts;
}

Result<std::vector<SshHost>> hosts_from(const std::string& option, const HostFlags& flags) {
  SshHost shared;
  shared.user = flags.user;
  shared.key = spec::absolute_key(flags.key);
  shared.password_secret = flags.password_secret;
  shared.jump = flags.jump;
  shared.directory = flags.directory;
  if (!flags.port.empty()) {
    const auto port = spec::parse_port(flags.port);
    if (!port)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("--port: '{}' is not a port from 1 to 65535", flags.port));
    shared.port = *port;
  }
  if (const std::string wrong = spec::fault_of_field(shared); !wrong.empty())
    return make_error(ErrorCode::invalid_argument, wrong);
  std::vector<SshHost> hosts;
  for (const std::string& text : split_at_commas(flags.hosts)) {
    auto host = spec::parse_host(text);
    if (!host) return host.error().within(option);
    spec::fill_in(*host, shared);
    const bool is_twice = std::any_of(hosts.begin(), hosts.end(), [&](const SshHost& before) {
      return before.name == host->name;
    });
    if (is_twice)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("{}: two hosts have the name '{}'; a file (-f) can give each "
                                    "its own name",
                                    option, host->name));
    hosts.push_back(std::move(*host));
  }
  return hosts;
}

Result<ComputeSpec> spec_to_create(const std::string& verb, const ComputeOptions& options) {
  ComputeSpec spec;
  if (options.file.empty()) {
    TRY_ASSIGN(spec, spec_from_flags(verb, options));
  } else {
    TRY_ASSIGN(spec, spec::load_compute(options.file, as_overrides(options)));
  }
  TRY(apply_texts(options, spec));
  TRY(check(spec));
  return spec;
}

Result<ComputeSpec> spec_to_update(const ComputeSpec& known, const ComputeOptions& options) {
  ComputeSpec spec = known;
  for (const std::string& assignment : options.overrides) TRY(assign(assignment, spec));
  for (const auto& [key, value] : options.cluster)
    if (const auto wrong = assign_to_elastic(key, value, spec); wrong && !wrong->empty())
      return bad_compute(fmt::format("update: {}: {}", flag_of(key), *wrong));
  TRY(apply_texts(options, spec));
  return spec;
}

void add_texts(CLI::App& verb, ComputeOptions& options) {
  verb.add_option("-f,--file", options.file, "a compute file (YAML) in the format of az ml")
      ->check(filled("name the file"));
  verb.add_option("--set", options.overrides,
                  "KEY.KEY=VALUE, replaces the current value; may be repeated")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--description", options.description, "free text, only for display");
  verb.add_option("--location", options.location, "free text, only for display");
  verb.add_option("--tags", options.tags, "NAME=VALUE; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_format(verb, options.format);
}

void add_hosts(CLI::App& verb, HostFlags& flags) {
  verb.add_option("--host", flags.hosts,
                  "[USER@]ADDRESS[:PORT] of a machine; may be repeated, or several with commas")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("write [USER@]ADDRESS[:PORT]"));
  verb.add_option("--user", flags.user,
                  "the account there (default: what ssh's configuration says)")
      ->check(filled("leave it out for what ssh's configuration says"));
  verb.add_option("--port", flags.port,
                  "sshd's port there (default: what ssh's configuration says)")
      ->check(filled("leave it out for what ssh's configuration says"));
  auto* key = verb.add_option("--ssh-private-key-file", flags.key,
                              "a private key file on the launcher's machine (default: what ssh's "
                              "configuration says)");
  key->check(filled("leave it out for what ssh's configuration says"));
  verb.add_option("--password-secret", flags.password_secret,
                  "log in with a password: a secret of `lockstep secret set NAME`")
      ->check(filled("leave it out to log in with a key"))
      ->excludes(key);
  verb.add_option("--jump", flags.jump, "[USER@]HOST[:PORT] through which ssh connects")
      ->check(filled("leave it out to connect directly"));
  verb.add_option(
          "--directory", flags.directory,
          "where everything is installed there (default: ~/.lockstep, of root /var/lib/lockstep)")
      ->check(filled("leave it out for a folder of the account"));
  verb.add_option("--share", flags.share,
                  "the part of each machine that its node offers, as in 1/2 for the first of two "
                  "equal parts: for machines that have another agent (default: all)")
      ->check(filled("leave it out for all of each machine"));
  verb.add_option("--tunnel", flags.tunnel,
                  "whether agents reach the launcher through ssh: auto (default), always, never")
      ->check(CLI::Validator(
          [](const std::string& word) {
            const bool is_known = !word.empty() && tunnel_use_from(word);
            return is_known ? std::string() : "'" + word + "' is not auto, always or never";
          },
          ""));
}

void add_cluster(CLI::App& verb, ComputeOptions& options) {
  const auto add = [&](const char* key, const char* what) {
    verb.add_option_function<std::string>(
            flag_of(key),
            [&options, key](const std::string& value) { options.cluster.emplace_back(key, value); },
            what)
        ->check(filled("leave it out for the default"))
        ->group("cluster or compute instance (types amlcompute, kubernetes, computeinstance)");
  };
  add("size", "the size of its machines");
  add("tier", "dedicated (default), or low_priority: its machines may be taken away at any time");
  add("min_instances", "machines that are always there (default 0)");
  add("max_instances", "machines that there may be (default 1)");
  add("idle_time_before_scale_down",
      "remove a machine after so long without work: seconds, or 5m (default 120)");
  add("idle_time_before_shutdown",
      "of a compute instance: stop it after so long without work: PT30M, 30m; 0: never (default)");
  add("idle_time_before_shutdown_minutes", "the same in minutes, as in az");
  add("lockstep.docker.image", "the image of its containers, for --node-source docker");
}

void add_no_check(CLI::App& verb, ComputeOptions& options) {
  verb.add_flag_callback(
      "--no-check", [&options] { options.check = false; },
      "do not ask the node source whether its settings work");
}

void add_wait(CLI::App& verb, MachineWait& wait, const char* until) {
  verb.add_flag_callback(
      "--no-wait", [&wait] { wait.is_wanted = false; }, fmt::format("do not wait until {}", until));
  verb.add_option("--timeout", wait.timeout, "wait for so long at most, such as 90s or 5m")
      ->check(filled("leave it out to wait without a limit"));
}

CLI::App* add_name(CLI::App* verb, ComputeOptions& options, bool is_required) {
  auto* name = verb->add_option("-n,--name,NAME", options.name, "the target's name");
  name->check(filled("`lockstep compute list` shows the names"));
  if (is_required)
    verb->parse_complete_callback([name] {
      if (name->count() == 0) throw CLI::RequiredError("NAME");
    });
  return verb;
}

}  // namespace lockstep::cli
