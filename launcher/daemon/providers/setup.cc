#include "launcher/daemon/providers/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "common/domain/targets/provider_settings.h"
#include "common/domain/why/all/redact.h"
#include "common/domain/why/nodes/providers.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "launcher/daemon/providers/target_log.h"

namespace lockstep::launcher {
namespace {

constexpr std::string_view kTokenPrefix = "lockstep-token-";
constexpr std::size_t kLeastHiddenBytes = 4;  // a shorter secret would be found within many words

struct MachineRefusal {
  MachineFault fault = MachineFault::failed;
  Why why;
};
using MachineOrRefusal = tl::expected<ProviderRequest::Machine, MachineRefusal>;

tl::unexpected<MachineRefusal> refuse_machine(MachineFault fault, Why why) {
  return tl::unexpected(MachineRefusal{fault, std::move(why)});
}

tl::expected<std::string, MachineRefusal> password_of(const ProviderSetup& setup,
                                                      const SshHost& host) {
  const std::string& name = host.password_secret;
  if (name.empty()) return std::string();
  auto values = setup.secrets(host.secret_owner, {name});
  if (!values) return refuse_machine(MachineFault::failed, told(values.error().message));
  const auto found = values->find(name);
  if (found == values->end())
    return refuse_machine(MachineFault::unauthenticated, PasswordNotSet{name, host.secret_owner});
  if (const auto good = check_password(found->second); !good)
    return refuse_machine(MachineFault::unauthenticated,
                          PasswordUnusable{name, host.secret_owner, told(good.error().message)});
  return std::move(found->second);
}

MachineOrRefusal machine_of(const ProviderSetup& setup, const ComputeSpec& spec,
                            const std::string& name, const std::string& token) {
  if (spec.source != NodeSource::ssh) {
    SshHost named;
    named.name = name;
    return ProviderRequest::Machine{std::move(named), token, ""};
  }
  const SshHost* host = setup.host(spec.name, name);
  if (host == nullptr) return refuse_machine(MachineFault::failed, HostUnknown{spec.name, name});
  auto password = password_of(setup, *host);
  if (!password) return tl::unexpected(std::move(password).error());
  return ProviderRequest::Machine{*host, token, *std::move(password)};
}

ProviderEvent error_of(const std::string& machine, MachineRefusal refusal) {
  ProviderEvent event;
  event.kind = ProviderEvent::Kind::error;
  event.machine = machine;
  event.step = kPrepareStep;
  event.fault = refusal.fault;
  event.why = std::move(refusal.why);
  return event;
}

bool is_of_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '=';
}

void replace_all(std::string& text, const std::string& what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace

void Redactor::hide(const std::string& password) {
  if (password.size() >= kLeastHiddenBytes) passwords_.insert(password);
}

std::string Redactor::clean(std::string_view from) const {
  std::string text(from);
  for (const std::string& password : passwords_) replace_all(text, password, "[password]");
  for (std::size_t at = text.find(kTokenPrefix); at != std::string::npos;
       at = text.find(kTokenPrefix, at + 1)) {
    std::size_t end = at;
    while (end < text.size() && is_of_token(text[end])) ++end;
    text.replace(at, end - at, "[token]");
  }
  return text;
}

Why Redactor::clean(const Why& why) const {
  Redaction redaction;
  redaction.is_hidden = [](const JobId&) { return false; };
  redaction.cut = [this](const std::string& text) {
    return one_line(clean(text), kMaxEventTextBytes);
  };
  return redacted(why, redaction);
}

namespace {

// Gives a pod the target's size, if the settings give no size.
void add_size(const Size& size, ProviderSettings& settings) {
  const auto add = [&](const char* key, std::string value) {
    settings.try_emplace(key, std::vector<std::string>{std::move(value)});
  };
  add("cpus", std::to_string(size.vcpus));
  add("memory", std::to_string(size.memory.count));
  if (size.gpus > 0) add("gpus", std::to_string(size.gpus));
}

const Size* size_of(const ProviderSetup& setup, const ComputeSpec& spec) {
  return spec.size.empty() || !setup.size ? nullptr : setup.size(spec.size);
}

// The spec with the values that only the launcher knows.
Result<ComputeSpec> filled(const ProviderSetup& setup, ComputeSpec spec) {
  if (spec.source != NodeSource::kubernetes) return spec;
  const Size* size = size_of(setup, spec);
  if (size != nullptr) add_size(*size, spec.settings);
  if (const auto named = spec.settings.find("kubeconfig"); named != spec.settings.end()) {
    TRY_ASSIGN(std::string path, site_kubeconfig(setup.home, named->second.front()));
    named->second = {std::move(path)};
  }
  return spec;
}

}  // namespace

namespace {

using Tokens = std::map<std::string, std::string>;

PreparedRun refuse_all(PreparedRun run, const Tokens& tokens, const Why& why) {
  run.why_none = why;
  for (const auto& [machine, token] : tokens)
    run.refused.push_back(error_of(machine, {MachineFault::failed, why}));
  return run;
}

PreparedRun prepare(const ProviderSetup& setup, const ComputeSpec& spec, const std::string& state,
                    std::string_view verb, const Tokens& tokens) {
  PreparedRun run;
  run.why_none = NoMachineToWorkOn{};
  auto words = setup.program(spec);
  if (!words) return refuse_all(std::move(run), tokens, told(words.error().message));
  run.words = *std::move(words);
  const bool needs_bundle = verb == "create" && installs_bundle(spec.source);
  const auto bundle = setup.bundle();
  if (!bundle && needs_bundle)
    return refuse_all(std::move(run), tokens, told(bundle.error().message));
  const auto whole = filled(setup, spec);
  if (!whole) return refuse_all(std::move(run), tokens, told(whole.error().message));
  ProviderRequest request{*whole, state, bundle ? *bundle : "", {}, size_of(setup, spec)};
  if (setup.accounts && spec.source != NodeSource::ssh) request.accounts = setup.accounts();
  if (const auto made = io::make_directories(request.state, 0700); !made)
    return refuse_all(std::move(run), tokens, told(made.error().message));
  for (const auto& [name, token] : tokens) {
    auto machine = machine_of(setup, spec, name, token);
    if (!machine) {
      run.refused.push_back(error_of(name, std::move(machine).error()));
      continue;
    }
    run.redactor.hide(machine->password);
    request.machines.push_back(*std::move(machine));
  }
  const bool is_of_target = verb == "list" || verb == "check";
  if (!request.machines.empty() || is_of_target) run.request = to_json(setup.identity, request);
  return run;
}

}  // namespace

PreparedRun prepare_run(const ProviderSetup& setup, const std::string& target,
                        std::string_view verb, const Tokens& tokens) {
  const ComputeSpec* spec = setup.spec(target);
  if (spec == nullptr) return refuse_all({}, tokens, TargetUnknown{target});
  return prepare(setup, *spec, setup.home.compute_state(target), verb, tokens);
}

PreparedRun prepare_check(const ProviderSetup& setup, const ComputeSpec& spec,
                          const std::string& state) {
  return prepare(setup, spec, state, "check", {});
}

namespace {

struct SiteFile {
  const char* what;    // the noun for errors: "an executable file"
  int access;          // the access that the launcher's account needs
  const char* refuse;  // the end of "the launcher does not …": "run it"
};
constexpr SiteFile kSiteProgram{"an executable file", X_OK, "run it"};
constexpr SiteFile kSiteKubeconfig{"a readable file", R_OK, "use it"};

// Checks that only root or the launcher's account can have made or changed the file.
Status check_site_file(const std::string& path, const SiteFile& kind) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      ::access(path.c_str(), kind.access) != 0)
    return make_error(ErrorCode::not_found, fmt::format("{} is not {}", path, kind.what));
  const bool is_ours = status.st_uid == 0 || status.st_uid == ::geteuid();
  if (!is_ours || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return make_error(ErrorCode::permission_denied,
                      fmt::format("{} belongs to another account, or others may write it; the "
                                  "launcher does not {}",
                                  path, kind.refuse));
  return {};
}

Result<std::string> site_file(const LauncherHome& home, const std::string& name,
                              const SiteFile& kind, std::string_view missing) {
  const std::string places[] = {home.site_providers(), "/etc/lockstep/providers"};
  for (const std::string& place : places) {
    const std::string path = place + "/" + name;
    if (!io::exists(path)) continue;
    TRY(check_site_file(path, kind));
    return path;
  }
  return make_error(ErrorCode::not_found, fmt::format("there is no {} '{}' in {}; put the {} there",
                                                      missing, name, fmt::join(places, " or "),
                                                      kind.access == X_OK ? "program" : "file"));
}

}  // namespace

Result<std::vector<std::string>> provider_words(const LauncherHome& home, const std::string& ours,
                                                const ComputeSpec& spec) {
  if (spec.source != NodeSource::command)
    return std::vector<std::string>{ours, std::string(to_string(spec.source))};
  TRY_ASSIGN(std::string program,
             site_file(home, spec.settings.at("program").front(), kSiteProgram, "provider"));
  return std::vector<std::string>{std::move(program)};
}

Result<std::string> site_kubeconfig(const LauncherHome& home, const std::string& name) {
  return site_file(home, name, kSiteKubeconfig, "kubeconfig");
}

Result<std::string> find_node_bundle(const std::string& chosen) {
  const std::string here = io::program_directory();
  const std::string name = "lockstep-node-" LOCKSTEP_VERSION "-x86_64.tar.gz";
  std::vector<std::string> places{here + "/../share/lockstep/" + name, here + "/../" + name};
  const char* variable = std::getenv("LOCKSTEP_NODE_BUNDLE");  // set by the person who ran `up`
  if (!chosen.empty())
    places = {chosen};
  else if (variable != nullptr && *variable != '\0')
    places = {variable};
  for (const std::string& place : places)
    if (io::exists(place)) return place;
  return make_error(
      ErrorCode::not_found,
      fmt::format("the archive that is installed on hosts is not there: {}. Make it with "
                  "`scripts/bundle` of Lockstep's sources, and put it there or start lockstepd "
                  "with --node-bundle FILE or the variable LOCKSTEP_NODE_BUNDLE",
                  fmt::join(places, ", ")));
}

}  // namespace lockstep::launcher
