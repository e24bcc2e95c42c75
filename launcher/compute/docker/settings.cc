#include "launcher/compute/docker/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/bytes.h"
#include "common/domain/environment/docker_args.h"
#include "common/grammar/image_name.h"
#include "launcher/compute/settings_object.h"

namespace lockstep::compute::docker {
namespace {

using nlohmann::json;

constexpr double kLeastCpus = 0.01;
constexpr double kMostCpus = 16'384;
constexpr std::int64_t kLeastMemory = 64 << 20;  // the agent alone needs a part of it
constexpr std::int64_t kLeastShm = 64 << 10;
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxWord = 128;

Status check_word(const SettingsObject& object, const char* key, const std::string& word,
                  std::string_view others) {
  if (word.size() <= kMaxWord && !word.starts_with('-') && is_made_of(word, others)) return {};
  return object.bad(
      key, fmt::format("is '{}'; write at most {} letters, digits and characters of _{}, not "
                       "beginning with '-'",
                       word.substr(0, kMaxWord), kMaxWord, others));
}

// Refuses options that Lockstep sets itself, and names the setting to use instead.
Status refuse_own(const SettingsObject& object, const std::string& word) {
  if (!word.starts_with("--")) return {};
  const std::string name = word.substr(2, word.find('=') - 2);
  const DockerOption* option = find_docker_option(name);
  if (option == nullptr || option->grant != DockerGrant::nobody) return {};
  for (const char* key : {"cpus", "memory", "gpus", "network"})
    if (name == key)
      return object.bad("args", fmt::format("has --{0}; write settings.{0} instead", name));
  return object.bad("args", fmt::format("has --{}, which Lockstep sets itself", name));
}

Status check_args(const SettingsObject& object, const std::vector<std::string>& args) {
  for (const std::string& word : args) TRY(refuse_own(object, word));
  const Status good = check_docker_args(args, {});
  if (good) return {};
  constexpr std::string_view kLead = "resources.docker_args: ";
  std::string why = good.error().message;
  if (why.starts_with(kLead)) why.erase(0, kLead.size());
  if (good.error().code == ErrorCode::permission_denied)
    why = why.substr(0, why.find(" unless the operator"));
  return object.bad("args", "are not possible: " + why);
}

// Applies the size: a container gets its cpus and memory, but never more than this machine has.
Status apply_size(const json& size, const Host& host, Settings& settings) {
  TRY_ASSIGN(const auto object,
             SettingsObject::open(size, "settings.size", {"name", "cpus", "memory"}));
  TRY_ASSIGN(const std::string name, object.text("name"));
  TRY(check_word(object, "name", name, ".-"));
  TRY_ASSIGN(const auto cpus, object.integer("cpus", 1, static_cast<std::int64_t>(kMostCpus)));
  TRY_ASSIGN(const auto memory, object.integer("memory", kLeastMemory, kMostBytes));
  const auto beyond = [&](const std::string& has, const std::string& here) {
    settings.beyond_host.push_back(fmt::format(
        "size {} has {}, but this machine has {}; the container gets {}", name, has, here, here));
  };
  if (cpus && !settings.cpus) {
    settings.cpus = std::min<double>(static_cast<double>(*cpus), host.cpus);
    if (*cpus > host.cpus) beyond(fmt::format("{} cpus", *cpus), fmt::format("{} cpus", host.cpus));
  }
  if (memory && !settings.memory) {
    const auto wanted = static_cast<std::uint64_t>(*memory);
    settings.memory = std::min(wanted, host.memory);
    if (wanted > host.memory)
      beyond(to_string(Bytes{wanted}) + " memory", to_string(Bytes{host.memory}));
  }
  return {};
}

}  // namespace

Host this_host() {
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return {static_cast<int>(cpus),
          static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)};
}

Result<Settings> settings_from(const std::string& settings_json, const Host& host) {
  const json all = json::parse(settings_json, nullptr, false);
  TRY_ASSIGN(const auto object, SettingsObject::open(all, "settings",
                                                     {"image", "cpus", "memory", "shm_size", "gpus",
                                                      "network", "args", "size"}));
  Settings settings;
  TRY_ASSIGN(settings.image, object.text("image"));
  if (settings.image.empty()) return object.bad("image", "is missing");
  if (const auto good = check_image_name(settings.image); !good)
    return object.bad("image", "is wrong: " + good.error().message);
  TRY_ASSIGN(settings.cpus, object.number("cpus"));
  if (settings.cpus && !(*settings.cpus >= kLeastCpus && *settings.cpus <= kMostCpus))
    return object.bad("cpus", fmt::format("is not a number from {} to {}", kLeastCpus, kMostCpus));
  TRY_ASSIGN(const auto memory, object.integer("memory", kLeastMemory, kMostBytes));
  if (memory) settings.memory = static_cast<std::uint64_t>(*memory);
  if (const auto size = all.find("size"); size != all.end()) TRY(apply_size(*size, host, settings));
  TRY_ASSIGN(const auto shm, object.integer("shm_size", kLeastShm, kMostBytes));
  settings.shm_size =
      shm ? static_cast<std::uint64_t>(*shm) : settings.memory.value_or(host.memory) / 2;
  TRY_ASSIGN(settings.gpus, object.text("gpus"));
  TRY(check_word(object, "gpus", settings.gpus, "=,:.\"-"));
  TRY_ASSIGN(const std::string network, object.text("network"));
  TRY(check_word(object, "network", network, ".-"));
  if (!network.empty()) settings.network = network;
  TRY_ASSIGN(settings.args, object.texts("args"));
  TRY(check_args(object, settings.args));
  return settings;
}

std::string missing_on(const Host& host, const Settings& settings) {
  if (settings.cpus && *settings.cpus > host.cpus)
    return fmt::format("settings.cpus is {}, but this machine has {}", *settings.cpus, host.cpus);
  if (settings.memory && *settings.memory > host.memory)
    return fmt::format("settings.memory is {}, but this machine has {}",
                       to_string(Bytes{*settings.memory}), to_string(Bytes{host.memory}));
  return "";
}

}  // namespace lockstep::compute::docker
