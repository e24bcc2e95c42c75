#include "common/domain/environment/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/match.h"
#include "common/domain/environment/variables.h"
#include "common/grammar/conda_channel.h"
#include "common/grammar/image_name.h"

namespace lockstep {
namespace {

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// Adds a field. The size is written before the contents, so that no text can be read as two fields
// or as the next field's name.
void put(std::string& out, std::string_view key, std::string_view value) {
  out += fmt::format("{} {}:{}\n", key, value.size(), value);
}

void put(std::string& out, std::string_view key, const std::vector<std::string>& values) {
  for (const std::string& value : values) put(out, key, value);
}

void put(std::string& out, const CondaEnvironment& conda) {
  put(out, "channel", conda.channels);
  put(out, "priority", conda.strict_priority ? "strict" : "flexible");
  put(out, "dependency", conda.dependencies);
  for (const auto& [platform, packages] : conda.locked) {
    put(out, "locked", platform);
    put(out, "package", packages);
  }
  put(out, "option", conda.options);
  put(out, "requirement", conda.requirements);
  put(out, "constraint", conda.constraints);
  for (const auto& [name, value] : conda.variables) {
    put(out, "variable", name);
    put(out, "value", value);
  }
}

void put(std::string& out, const DockerEnvironment& docker) {
  put(out, "image", docker.image);
  if (docker.build) {
    put(out, "context", docker.build->context.hex());
    put(out, "dockerfile", docker.build->dockerfile);
  }
  if (docker.conda) put(out, *docker.conda);
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\0'; });
}

Status validate_lines(std::string_view key, const std::vector<std::string>& lines) {
  if (lines.size() > kMaxEnvironmentLines)
    return invalid(fmt::format("environment.{}: has {} lines; at most {} are possible", key,
                               lines.size(), kMaxEnvironmentLines));
  for (const std::string& line : lines) {
    if (line.size() > kMaxEnvironmentLineBytes)
      return invalid(fmt::format("environment.{}: has a line of {} bytes; at most {} are possible",
                                 key, line.size(), kMaxEnvironmentLineBytes));
    if (line.empty() || !is_one_line(line))
      return invalid(fmt::format("environment.{}: '{}' is not one line", key, line));
  }
  return {};
}

Status validate_program(std::string_view key, const std::string& program) {
  if (!is_one_line(program))
    return invalid(
        fmt::format("environment.{}: holds a {}", key,
                    program.find('\0') == std::string::npos ? "line break" : "NUL character"));
  if (program.find('/') != std::string::npos && program[0] != '/')
    return invalid(
        fmt::format("environment.{}: '{}' is a relative path, but every node looks for this "
                    "program; write an absolute path, or a name on PATH",
                    key, program));
  return {};
}

// "user:password", or a token alone; tokens are longer than people's names.
bool is_password(std::string_view user) {
  constexpr std::size_t kMaxUserName = 20;
  return user.size() > kMaxUserName || user.find(':') != user.npos ||
         user.find("%3A") != user.npos || user.find("%3a") != user.npos;
}

// Repositories take passwords before the host, or in the path: "https://user:password@host",
// "https://TOKEN@host", "https://host/t/TOKEN/channel".
bool holds_password(std::string_view line) {
  for (auto at = line.find("://"); at != std::string_view::npos; at = line.find("://", at + 3)) {
    const std::string_view rest = line.substr(at + 3, line.find_first_of(" \t#", at + 3) - at - 3);
    const std::string_view place = rest.substr(0, rest.find('/'));
    const auto host = place.rfind('@');
    if (host != std::string_view::npos && is_password(place.substr(0, host))) return true;
    if (rest.substr(place.size()).starts_with("/t/")) return true;
  }
  return false;
}

Status validate_addresses(std::string_view key, const std::vector<std::string>& lines) {
  TRY(validate_lines(key, lines));
  for (const std::string& line : lines)
    if (holds_password(line))
      return invalid(
          fmt::format("environment.{}: an address contains a password or a token, which everybody "
                      "who may see the environment could read; leave it out of the address",
                      key));
  return {};
}

Status validate_channels(const std::vector<std::string>& channels) {
  TRY(validate_addresses("channels", channels));
  for (const std::string& channel : channels) {
    if (const Status good = check_no_query(channel); !good)
      return invalid("environment.channels: " + good.error().message);
    if (channel.find_first_of(" \t\r") != std::string::npos)
      return invalid(
          fmt::format("environment.channels: '{}' holds a blank; write one channel in each item, a "
                      "name or an address",
                      channel));
    if (std::string_view("./~").find(channel[0]) != std::string_view::npos)
      return invalid(
          fmt::format("environment.channels: '{}' is a path on one machine; write a name, or an "
                      "address that all nodes reach (file:///… if all nodes have that path)",
                      channel));
    if (const Status good = check_channel(channel); !good)
      return invalid("environment.channels: " + good.error().message);
  }
  return {};
}

Status validate_locked(const std::map<std::string, std::vector<std::string>>& locked) {
  if (locked.size() > kMaxEnvironmentPlatforms)
    return invalid(fmt::format("environment.locked: has {} platforms; at most {} are possible",
                               locked.size(), kMaxEnvironmentPlatforms));
  for (const auto& [platform, packages] : locked) {
    if (!is_one_line(platform))
      return invalid("environment.locked: the name of a platform holds a line break");
    TRY(validate_addresses("locked", packages));
  }
  return {};
}

Status validate_conda(const CondaEnvironment& conda) {
  if (!conda.locked.empty() && !conda.dependencies.empty())
    return invalid(
        "environment.dependencies: cannot be used together with locked packages; write only one of "
        "them");
  if (conda.locked.empty() && conda.dependencies.empty() && conda.requirements.empty())
    return invalid("environment.dependencies: is empty; write at least one package");
  TRY(validate_channels(conda.channels));
  TRY(validate_addresses("dependencies", conda.dependencies));
  TRY(validate_locked(conda.locked));
  TRY(validate_lines("requirements", conda.options));
  TRY(validate_lines("requirements", conda.requirements));
  TRY(validate_lines("constraints", conda.constraints));
  TRY(validate_variables("environment.variables", conda.variables));
  for (const auto& [name, value] : conda.variables)
    if (is_rank_variable(name))
      return invalid(
          fmt::format("environment.variables: an environment cannot set '{}', which Lockstep sets "
                      "for each rank",
                      name));
  return {};
}

Status validate_dockerfile(const std::string& path) {
  const auto wrong = [&](std::string_view why) {
    return invalid(fmt::format("environment.build.dockerfile_path: '{}' {}", path, why));
  };
  if (path.empty()) return wrong("is empty; leave it out to use Dockerfile");
  if (!is_one_line(path)) return wrong("is not one line");
  if (path[0] == '/')
    return wrong("is absolute; write a path relative to the folder that is built");
  for (std::size_t from = 0; from <= path.size();) {
    const auto slash = std::min(path.find('/', from), path.size());
    if (path.substr(from, slash - from) == "..")
      return wrong("leads out of the folder that is built; put the file into that folder");
    from = slash + 1;
  }
  return {};
}

Status validate_docker(const DockerEnvironment& docker) {
  if (docker.image.empty() == !docker.build)
    return invalid("environment: needs exactly one of 'image' and 'build'");
  if (docker.build) TRY(validate_dockerfile(docker.build->dockerfile));
  if (!docker.build)
    if (const Status good = check_image_name(docker.image); !good)
      return invalid("environment.image: " + good.error().message);
  return docker.conda ? validate_conda(*docker.conda) : Status{};
}

constexpr std::array<std::string_view, 4> kToolVariables{"LANG", "LANGUAGE", "REQUESTS_CA_BUNDLE",
                                                         "LOCKSTEP_CONDA_ENGINE"};
constexpr std::array<std::string_view, 7> kToolBeginnings{
    "LC_", "PIP_", "UV_", "CONDA_", "MAMBA_", "RATTLER_", "SSL_CERT_"};
constexpr std::array<std::string_view, 2> kToolEndings{"_proxy", "_PROXY"};
constexpr std::array<std::string_view, 6> kEngineVariables{
    "XDG_RUNTIME_DIR",           "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",           "DBUS_SESSION_BUS_ADDRESS",
    "LOCKSTEP_CONTAINER_ENGINE", "LOCKSTEP_PODMAN_MOUNTS"};
constexpr std::array<std::string_view, 5> kEngineBeginnings{"DOCKER_", "CONTAINERS_", "CONTAINER_",
                                                            "PODMAN", "BUILDKIT"};

template <typename Names, typename Holds>
bool any_of(const Names& all, const Holds& holds) {
  return std::any_of(all.begin(), all.end(), holds);
}

}  // namespace

Word describe(EnvironmentReport::Step step) {
  using Step = EnvironmentReport::Step;
  switch (step) {
    case Step::wants_lock: return {1, "wants_lock"};
    case Step::solved: return {2, "solved"};
    case Step::ready: return {3, "ready"};
    case Step::not_solved: return {4, "not_solved"};
  }
  return {};
}

std::string_view provider_of(const EnvironmentDefinition& definition) {
  return std::visit(Match{[](const HostEnvironment&) { return std::string_view("host"); },
                          [](const VenvEnvironment&) { return std::string_view("venv"); },
                          [](const CondaEnvironment&) { return std::string_view("conda"); },
                          [](const DockerEnvironment&) { return std::string_view("docker"); }},
                    definition);
}

std::string canonical_form(const EnvironmentDefinition& definition) {
  std::string out = "lockstep environment 1\n";
  put(out, "provider", provider_of(definition));
  std::visit(Match{[&](const HostEnvironment& host) { put(out, "interpreter", host.interpreter); },
                   [&](const VenvEnvironment& venv) {
                     put(out, "python", venv.python);
                     put(out, "option", venv.options);
                     put(out, "requirement", venv.requirements);
                     put(out, "constraint", venv.constraints);
                   },
                   [&](const CondaEnvironment& conda) { put(out, conda); },
                   [&](const DockerEnvironment& docker) { put(out, docker); }},
             definition);
  return out;
}

Digest digest_of(const EnvironmentDefinition& definition) {
  return sha256(canonical_form(definition));
}

bool needs_lock(const EnvironmentDefinition& definition) {
  return !std::holds_alternative<HostEnvironment>(definition);
}

const Digest* context_of(const EnvironmentDefinition& definition) {
  const auto* docker = std::get_if<DockerEnvironment>(&definition);
  return docker != nullptr && docker->build ? &docker->build->context : nullptr;
}

bool is_tool_variable(std::string_view name) {
  return is_engine_variable(name) ||
         any_of(kToolVariables, [&](std::string_view one) { return name == one; }) ||
         any_of(kToolBeginnings, [&](std::string_view one) { return name.starts_with(one); }) ||
         any_of(kToolEndings, [&](std::string_view one) { return name.ends_with(one); });
}

bool is_engine_variable(std::string_view name) {
  return any_of(kEngineVariables, [&](std::string_view one) { return name == one; }) ||
         any_of(kEngineBeginnings, [&](std::string_view one) { return name.starts_with(one); });
}

Status validate_environment_name(const std::string& what, const std::string& name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  bool good = !name.empty() && name.size() <= kMaxEnvironmentNameBytes && word(name[0]);
  for (char c : name) good = good && (word(c) || c == '_' || c == '-' || c == '.');
  if (good) return {};
  return invalid(
      fmt::format("{}: '{}' is not valid; write 1 to {} letters, digits, '_', '-' or '.', starting "
                  "with a letter or a digit",
                  what, name, kMaxEnvironmentNameBytes));
}

Status validate(const EnvironmentSpec& spec) {
  if (!spec.name.empty()) TRY(validate_environment_name("environment.name", spec.name));
  if (!spec.version.empty()) TRY(validate_environment_name("environment.version", spec.version));
  if (spec.version == "latest")
    return invalid("environment.version: 'latest' stands for the newest version; choose another");
  TRY(std::visit(Match{[](const HostEnvironment& host) -> Status {
                         return validate_program("interpreter", host.interpreter);
                       },
                       [](const VenvEnvironment& venv) -> Status {
                         if (venv.python.empty())
                           return invalid("environment.python: is empty; leave it out for python3");
                         TRY(validate_program("python", venv.python));
                         TRY(validate_lines("requirements", venv.options));
                         TRY(validate_lines("requirements", venv.requirements));
                         TRY(validate_lines("constraints", venv.constraints));
                         return {};
                       },
                       [](const CondaEnvironment& conda) { return validate_conda(conda); },
                       [](const DockerEnvironment& docker) { return validate_docker(docker); }},
                 spec.definition));
  if (const std::size_t size = canonical_form(spec.definition).size();
      size > kMaxEnvironmentDefinitionBytes)
    return invalid(fmt::format("environment: has {} bytes; at most {} are possible", size,
                               kMaxEnvironmentDefinitionBytes));
  return {};
}

}  // namespace lockstep
