#include "launcher/daemon/providers/contract_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/targets/provider_settings.h"
#include "common/domain/why/nodes/providers.h"
#include "launcher/daemon/providers/target_log.h"

namespace lockstep::launcher {
namespace {

using nlohmann::json;

constexpr int kProviderContract = 1;
constexpr std::size_t kTagCharacters = 12;
constexpr std::size_t kMaxEventWordBytes = 64;  // for a step, a code, or the name of a finding
constexpr std::size_t kMaxMachineBytes = 255;
constexpr std::int64_t kMostLifeSeconds = std::int64_t{10} * 366 * 86'400;

json endpoints_json(const ProviderIdentity::Endpoints& endpoints) {
  return {{"control", endpoints.control}, {"bulk", endpoints.bulk}, {"join", endpoints.join}};
}

json host_json(const ProviderRequest::Machine& machine) {
  const SshHost& host = machine.host;
  json object = {{"name", host.name}, {"address", host.address}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  };
  add("user", host.user);
  add("key", host.key);
  add("jump", host.jump);
  add("directory", host.directory);
  add("password", machine.password);
  if (host.port != 0) object["port"] = host.port;
  return object;
}

json words_json(SettingKey::Kind kind, const std::vector<std::string>& words) {
  switch (kind) {
    case SettingKey::Kind::number: return std::stod(words.front());
    case SettingKey::Kind::bytes: return parse_bytes(words.front()).value_or(Bytes{}).count;
    case SettingKey::Kind::words:
    case SettingKey::Kind::pairs: return words;
    case SettingKey::Kind::flag: return words.front() == "true";
    case SettingKey::Kind::word:
    case SettingKey::Kind::name:
    case SettingKey::Kind::path: break;
  }
  return words.front();
}

// The size as JSON, which the provider uses for values that the settings of a container lack.
json size_json(const Size& size) {
  return {{"name", size.name}, {"cpus", size.vcpus}, {"memory", size.memory.count}};
}

json settings_json(const ProviderRequest& request) {
  const ComputeSpec& spec = request.spec;
  json settings = json::object();
  if (spec.source == NodeSource::ssh) {
    settings["hosts"] = json::array();
    for (const ProviderRequest::Machine& machine : request.machines)
      settings["hosts"].push_back(host_json(machine));
    if (spec.tunnel != TunnelUse::unset) settings["tunnel"] = to_string(spec.tunnel);
    if (const auto share = spec.settings.find("share"); share != spec.settings.end())
      settings["share"] = share->second.front();
    return settings;
  }
  const auto keys = setting_keys(spec.source);
  for (const auto& [name, words] : spec.settings) {
    const auto known =
        std::find_if(keys.begin(), keys.end(),
                     [&name = name](const SettingKey& key) { return key.name == name; });
    if (known != keys.end())
      settings[name] = words_json(known->kind, words);
    else if (words.size() == 1)
      settings[name] = words.front();
    else
      settings[name] = words;
  }
  if (spec.source == NodeSource::docker && request.size != nullptr)
    settings["size"] = size_json(*request.size);
  if (spec.source != NodeSource::command) return settings;
  if (!spec.size.empty()) settings["size"] = spec.size;
  settings["tier"] = std::string(to_string(spec.scale.tier));
  return settings;
}

// Removes a number of whole seconds from `about` and returns it; nullopt: there is none.
std::optional<Duration> take_seconds(std::map<std::string, std::string>& about, const char* key) {
  const auto found = about.find(key);
  if (found == about.end()) return std::nullopt;
  std::int64_t number = 0;
  const std::string text = std::move(found->second);
  about.erase(found);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_good = read.ec == std::errc() && read.ptr == text.data() + text.size() &&
                       number >= 0 && number <= kMostLifeSeconds;
  return is_good ? std::optional<Duration>(seconds(number)) : std::nullopt;
}

bool is_true(const std::map<std::string, std::string>& about, const char* key) {
  const auto found = about.find(key);
  return found != about.end() && found->second == "true";
}

// Takes the findings that the launcher's decisions need. The remaining lifetime changes in each
// event, so it is removed from the findings about the machine.
void take_findings(ProviderEvent& event) {
  event.is_held = is_true(event.about, "tunnel") || is_true(event.about, "hold");
  event.ends = take_seconds(event.about, "left");
  event.lifetime = take_seconds(event.about, "lifetime").value_or(Duration(0));
}

Why in_its_words(std::string said) {
  return said.empty() ? Why() : Why(ProviderSaid{std::move(said)});
}

// Why the provider has not made the machine yet.
Why why_pending(const ProviderEvent& event) {
  const auto said = event.about.find("reason");
  return said == event.about.end() ? Why() : in_its_words(said->second);
}

Error no_event(std::string why) {
  return make_error(ErrorCode::invalid_argument, "is not an event: " + std::move(why));
}

// Reads the texts of an event; a missing optional text is "".
struct EventReader {
  const json& object;

  Result<std::string> text(const char* key, bool required, std::size_t limit) const {
    const auto it = object.find(key);
    if (it == object.end()) {
      if (!required) return std::string();
      return no_event(fmt::format("it has no '{}'", key));
    }
    const auto* value = it->get_ptr<const std::string*>();
    if (value == nullptr) return no_event(fmt::format("'{}' is not a string", key));
    return one_line(*value, limit);
  }
  // Reads a word that people and programs compare, so it is never shortened.
  Result<std::string> word(const char* key, std::size_t limit) const {
    TRY_ASSIGN(std::string value, text(key, true, limit));
    if (value.empty() || value.size() > limit)
      return no_event(fmt::format("'{}' is empty or too long", key));
    return value;
  }
  Status findings(std::map<std::string, std::string>* about) const {
    const auto it = object.find("about");
    if (it == object.end()) return {};
    if (!it->is_object() || it->size() > kMaxMachineFindings)
      return no_event(
          fmt::format("'about' is not an object of at most {} keys", kMaxMachineFindings));
    for (const auto& [name, value] : it->items()) {
      const auto* known = value.get_ptr<const std::string*>();
      if ((known == nullptr && !value.is_primitive()) || name.size() > kMaxEventWordBytes)
        return no_event(fmt::format(
            "in 'about', a value is a list or an object, or a name is longer than {} bytes",
            kMaxEventWordBytes));
      (*about)[one_line(name, kMaxEventWordBytes)] =
          known != nullptr ? one_line(*known, kMaxEventTextBytes) : value.dump();
    }
    return {};
  }

  Status read_machine(ProviderEvent* event) const {
    TRY_ASSIGN(const std::string state, word("state", kMaxEventWordBytes));
    TRY(findings(&event->about));
    if (state == "running") {
      event->kind = ProviderEvent::Kind::running;
      take_findings(*event);
    } else if (state == "pending") {
      event->kind = ProviderEvent::Kind::pending;
      event->why = why_pending(*event);
    } else if (state == "absent") {
      event->kind = ProviderEvent::Kind::absent;
    } else if (state == "stopped") {
      event->kind = ProviderEvent::Kind::error;
      event->step = "start";
      event->why = MachineAgentDown{};
    } else {
      return no_event("a machine is running, pending, stopped or absent");
    }
    return {};
  }
  Status read_notice(ProviderEvent* event) const {
    event->kind = ProviderEvent::Kind::notice;
    TRY_ASSIGN(std::string said, text("message", false, kMaxNoticeReasonBytes));
    event->why = in_its_words(std::move(said));
    const auto it = object.find("seconds");
    constexpr double kMost = std::chrono::duration<double>(kLongestNotice).count();
    if (it == object.end() || !it->is_number() || !(*it >= 0.0 && *it <= kMost))
      return no_event(fmt::format("'seconds' is not a number from 0 to {}", kMost));
    event->left =
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(it->get<double>()));
    return {};
  }
  Status read_trouble(ProviderEvent* event) const {
    TRY_ASSIGN(event->step, text("step", false, kMaxEventWordBytes));
    TRY_ASSIGN(std::string said, text("message", true, kMaxEventTextBytes));
    event->why = in_its_words(std::move(said));
    if (event->kind == ProviderEvent::Kind::warning) return {};
    TRY_ASSIGN(const std::string code, word("code", kMaxEventWordBytes));
    // A site's own provider may use other codes; the launcher only distinguishes these.
    event->fault = machine_fault_from(code).value_or(MachineFault::failed);
    return {};
  }
};

}  // namespace

std::string tag_of(const PublicKey& launcher) {
  return sha256(launcher.value).hex().substr(0, kTagCharacters);
}

std::string to_json(const ProviderIdentity& identity, const ProviderRequest& request) {
  json machines = json::array();
  for (const ProviderRequest::Machine& machine : request.machines) {
    json named = {{"name", machine.host.name}};
    if (!machine.token.empty()) named["token"] = machine.token;
    machines.push_back(std::move(named));
  }
  json endpoints = endpoints_json(identity.endpoints);
  endpoints["local"] = endpoints_json(identity.local);
  json object = {{"contract", kProviderContract},     {"launcher", identity.tag},
                 {"target", request.spec.name},       {"state", request.state},
                 {"endpoints", std::move(endpoints)}, {"settings", settings_json(request)},
                 {"machines", std::move(machines)}};
  if (!request.accounts.empty()) object["accounts"] = request.accounts;
  if (!request.bundle.empty()) object["bundle"] = request.bundle;
  // Passwords are UTF-8 (check_password), but paths may not be.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Status check_password(const std::string& password) {
  const json text = password;
  const std::string written = text.dump(-1, ' ', false, json::error_handler_t::replace);
  if (password.size() <= kMaxPasswordBytes &&
      password.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos &&
      json::parse(written, nullptr, false) == text)
    return {};
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("is not one line of UTF-8 text of at most {} bytes", kMaxPasswordBytes));
}

Result<ProviderEvent> read_event(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return no_event("it is not a JSON object");
  const EventReader reader{object};
  ProviderEvent event;
  TRY_ASSIGN(const std::string kind, reader.word("event", kMaxEventWordBytes));
  TRY_ASSIGN(event.machine, reader.word("machine", kMaxMachineBytes));
  if (kind == "step") {
    event.kind = ProviderEvent::Kind::step;
    TRY_ASSIGN(event.step, reader.word("step", kMaxEventWordBytes));
  } else if (kind == "machine") {
    TRY(reader.read_machine(&event));
  } else if (kind == "notice") {
    TRY(reader.read_notice(&event));
  } else if (kind == "warning" || kind == "error") {
    event.kind = kind == "error" ? ProviderEvent::Kind::error : ProviderEvent::Kind::warning;
    TRY(reader.read_trouble(&event));
  } else {
    return no_event("its kind '" + kind + "' is unknown");
  }
  return event;
}

}  // namespace lockstep::launcher
