#include "launcher/compute/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/targets/compute.h"
#include "common/io/file_system.h"
#include "launcher/compute/machine_name.h"

namespace lockstep::compute {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMaxTagBytes = 64;
constexpr std::size_t kMaxTextBytes = 64u << 10;

Error bad(const std::string& key, const std::string& why) {
  return make_error(ErrorCode::invalid_argument, "the request's " + key + " " + why);
}

// The text under `key`; a missing one is "" unless it is required.
Result<std::string> text_of(const json& object, const std::string& key, bool required) {
  const auto it = object.find(key);
  if (it == object.end()) {
    if (required) return bad(key, "is missing");
    return std::string();
  }
  if (!it->is_string()) return bad(key, "is not a string");
  auto text = it->get<std::string>();
  if (text.size() > kMaxTextBytes || text.find('\0') != std::string::npos)
    return bad(key, "is too long, or contains a NUL byte");
  return text;
}

Status check_tag(const std::string& text) {
  const bool good = !text.empty() && text.size() <= kMaxTagBytes &&
                    std::all_of(text.begin(), text.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                    });
  if (good) return {};
  return bad("launcher", "must have 1 to 64 characters of a-z, 0-9 and '-'");
}

Result<std::vector<Machine>> machines_of(const json& object, Verb verb) {
  std::vector<Machine> machines;
  const auto it = object.find("machines");
  if (it == object.end()) {
    const bool optional = verb == Verb::check || verb == Verb::list;
    if (!optional) return bad("machines", "is missing");
    return machines;
  }
  if (!it->is_array() || it->size() > kMaxMachines)
    return bad("machines", fmt::format("is not a list of at most {} objects", kMaxMachines));
  std::set<std::string> names;
  for (const json& entry : *it) {
    if (!entry.is_object()) return bad("machines", "contains an entry that is not an object");
    Machine machine;
    TRY_ASSIGN(machine.name, text_of(entry, "name", true));
    TRY(check_machine_name(machine.name));
    TRY_ASSIGN(machine.token, text_of(entry, "token", false));
    if (!names.insert(machine.name).second)
      return bad("machines", "names " + machine.name + " twice");
    machines.push_back(std::move(machine));
  }
  return machines;
}

Result<Endpoints> endpoints_of(const json& object, const std::string& where) {
  if (!object.is_object()) return bad(where, "is not an object");
  const auto read = [&](const char* key) -> Result<Address> {
    TRY_ASSIGN(const std::string text, text_of(object, key, true));
    auto address = address_from(text);
    if (!address) return bad(where + "." + key, "is wrong: " + address.error().message);
    return address;
  };
  Endpoints endpoints;
  TRY_ASSIGN(endpoints.control, read("control"));
  TRY_ASSIGN(endpoints.bulk, read("bulk"));
  TRY_ASSIGN(endpoints.join, read("join"));
  return endpoints;
}

// Reads the accounts. A name becomes a line of a container's /etc/passwd, so its form is checked.
Result<std::vector<std::string>> accounts_of(const json& object) {
  std::vector<std::string> accounts;
  const auto it = object.find("accounts");
  if (it == object.end()) return accounts;
  if (!it->is_array() || it->size() > kMaxAccounts)
    return bad("accounts", fmt::format("is not a list of at most {} names", kMaxAccounts));
  for (const json& entry : *it) {
    if (!entry.is_string()) return bad("accounts", "contains an entry that is not a string");
    auto name = entry.get<std::string>();
    if (name.find(':') != std::string::npos || !check_machine_name(name))
      return bad("accounts", "contains '" + name + "', which is not an account's name");
    accounts.push_back(std::move(name));
  }
  return accounts;
}

// Reads the launcher's endpoints, as in endpoint.json: without `local`, all machines use the same
// addresses.
Status read_endpoints(const json& object, Request& request) {
  const auto it = object.find("endpoints");
  if (it == object.end()) return {};
  TRY_ASSIGN(request.endpoints, endpoints_of(*it, "endpoints"));
  request.local = request.endpoints;
  if (const auto local = it->find("local"); local != it->end()) {
    TRY_ASSIGN(request.local, endpoints_of(*local, "endpoints.local"));
  }
  return {};
}

}  // namespace

std::optional<Verb> verb_from(std::string_view word) {
  if (word == "check") return Verb::check;
  if (word == "create") return Verb::create;
  if (word == "list") return Verb::list;
  if (word == "remove") return Verb::remove;
  if (word == "hold") return Verb::hold;
  return std::nullopt;
}

Result<Request> request_from(const std::string& json_text, Verb verb) {
  const json object = json::parse(json_text, nullptr, false);
  if (!object.is_object())
    return make_error(ErrorCode::invalid_argument, "the request is not a JSON object");
  const auto version = object.find("contract");
  if (version == object.end() || *version != kContractVersion)
    return bad("contract", fmt::format("is not {}, the only version that this program supports",
                                       kContractVersion));
  Request request;
  TRY_ASSIGN(request.launcher, text_of(object, "launcher", true));
  TRY(check_tag(request.launcher));
  TRY_ASSIGN(request.target, text_of(object, "target", true));
  TRY(check_compute_name(request.target));
  TRY_ASSIGN(request.state, text_of(object, "state", true));
  if (request.state.empty() || request.state[0] != '/')
    return bad("state", "is not an absolute path");
  TRY_ASSIGN(request.bundle, text_of(object, "bundle", false));
  if (const auto settings = object.find("settings"); settings != object.end()) {
    if (!settings->is_object()) return bad("settings", "is not an object");
    request.settings = settings->dump();
  }
  TRY(read_endpoints(object, request));
  TRY_ASSIGN(request.machines, machines_of(object, verb));
  TRY_ASSIGN(request.accounts, accounts_of(object));
  return request;
}

void Events::step(const std::string& machine, std::string_view step) {
  write({{"event", "step"}, {"machine", machine}, {"step", step}});
}

void Events::machine(const std::string& name, std::string_view state, const About& about) {
  ordered_json facts = ordered_json::object();
  for (const auto& [key, value] : about)
    std::visit([&, name = key](const auto& known) { facts[name] = known; }, value);
  write({{"event", "machine"}, {"machine", name}, {"state", state}, {"about", facts}});
}

void Events::warning(const std::string& machine, std::string_view step,
                     const std::string& message) {
  write({{"event", "warning"}, {"machine", machine}, {"step", step}, {"message", message}});
}

void Events::error(const std::string& machine, const Failed& failed) {
  write({{"event", "error"},
         {"machine", machine},
         {"step", failed.step},
         {"code", to_string(failed.code)},
         {"message", failed.message}});
}

void Events::write(const ordered_json& event) {
  // Output of a host may be anything, even text that is not UTF-8.
  const std::string line =
      event.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  const std::lock_guard lock(mutex_);
  // A launcher that has ended reads nothing; `list` tells the next one what exists.
  (void)io::write_all(fd_, line);
}

}  // namespace lockstep::compute
