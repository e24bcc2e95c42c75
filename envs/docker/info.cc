#include "envs/docker/info.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>

#include "common/io/file_system.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

Error unavailable(std::string message) {
  return make_error(ErrorCode::unavailable, std::move(message));
}

bool has_word(const json& list, std::string_view word) {
  if (!list.is_array()) return false;
  return std::any_of(list.begin(), list.end(), [&](const json& one) {
    return one.is_string() && one.get<std::string>().find(word) != std::string::npos;
  });
}

// Whether CDI lists NVIDIA's devices: it lists in files which devices containers may have.
bool has_cdi_of_nvidia() {
  for (const char* folder : {"/etc/cdi", "/var/run/cdi"})
    for (const std::string& name : io::list_directory(folder).value_or(std::vector<std::string>()))
      if (name.find("nvidia") != std::string::npos) return true;
  return false;
}

// Whether docker has buildx, a plugin of the client. Without it, docker has only its older builder.
bool has_buildx(const json& info) {
  const json plugins = info.value("ClientInfo", json::object()).value("Plugins", json());
  if (!plugins.is_array()) return false;
  return std::any_of(plugins.begin(), plugins.end(),
                     [](const json& plugin) { return plugin.value("Name", "") == "buildx"; });
}

// Whether a version is before 5.2.5. One that cannot be read counts as an old one.
bool is_before_5_2_5(const std::string& version) {
  int major = 0, minor = 0, patch = 0;
  std::sscanf(version.c_str(), "%d.%d.%d", &major, &minor, &patch);
  return std::tie(major, minor, patch) < std::make_tuple(5, 2, 5);
}

// Throws json::exception if the engine's answer has another form.
EngineInfo of_podman(const json& info) {
  const json& host = info.at("host");
  const auto version = info.at("version").at("Version").get<std::string>();
  const bool is_rootless = host.at("security").at("rootless").get<bool>();
  return {"podman " + version,
          true,
          is_rootless,
          has_word(host.value("cgroupControllers", json()), "memory"),
          has_cdi_of_nvidia() ? "cdi" : "",
          false,
          !is_rootless && is_before_5_2_5(version)};
}

EngineInfo of_docker(const json& info) {
  return {"docker " + info.at("ServerVersion").get<std::string>(),
          false,
          has_word(info.value("SecurityOptions", json()), "rootless"),
          info.value("MemoryLimit", false),
          info.value("Runtimes", json::object()).contains("nvidia") ? "nvidia" : "",
          has_buildx(info),
          false};
}

}  // namespace

Result<EngineInfo> engine_info_from(std::string_view text, const std::string& errors) {
  const json info = json::parse(text, nullptr, false);
  if (!info.is_object()) return unavailable(errors);
  try {
    const json failures = info.value("ServerErrors", json());
    if (failures.is_array() && !failures.empty())
      return unavailable(failures.front().get<std::string>());
    const bool is_podman = info.contains("host");
    // Without a version of the server, only the client has answered.
    if (!is_podman && info.value("ServerVersion", "").empty())
      return unavailable(errors.empty() ? "its daemon does not report its version" : errors);
    EngineInfo found = is_podman ? of_podman(info) : of_docker(info);
    if (found.is_rootless) found.name += ", rootless";
    return found;
  } catch (const json::exception& failure) {
    return unavailable(errors.empty() ? failure.what() : errors);
  }
}

std::string engine_advice(std::string_view reason) {
  if (reason.find("permission denied") != std::string_view::npos)
    return "add the agent's user to the group docker and start the agent again, or install podman";
  return "start its daemon (systemctl start docker), or install podman";
}

}  // namespace lockstep::envs
