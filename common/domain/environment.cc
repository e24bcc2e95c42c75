#include "common/domain/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace lockstep {
namespace {

template <class... Functions>
struct Match : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Match(Functions...) -> Match<Functions...>;

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// Sizes before contents: no text can be read as two fields, or as the next one's name.
void put(std::string& out, std::string_view key, std::string_view value) {
  out += fmt::format("{} {}:{}\n", key, value.size(), value);
}

void put(std::string& out, std::string_view key, const std::vector<std::string>& values) {
  for (const std::string& value : values) put(out, key, value);
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\0'; });
}

Status validate_lines(std::string_view key, const std::vector<std::string>& lines) {
  if (lines.size() > kMaxEnvironmentLines)
    return invalid(fmt::format("environment.{}: has {} lines; at most {} are possible", key,
                               lines.size(), kMaxEnvironmentLines));
  for (const std::string& line : lines)
    if (line.empty() || !is_one_line(line))
      return invalid(fmt::format("environment.{}: '{}' is not one line", key, line));
  return {};
}

Status validate_program(std::string_view key, const std::string& program) {
  if (!is_one_line(program)) return invalid(fmt::format("environment.{}: holds a line break", key));
  if (program.find('/') != std::string::npos && program[0] != '/')
    return invalid(
        fmt::format("environment.{}: '{}' is relative, but it is looked for on every "
                    "node; write an absolute path, or a name on PATH",
                    key, program));
  return {};
}

constexpr std::array<std::string_view, 3> kToolVariables{"LANG", "LANGUAGE", "REQUESTS_CA_BUNDLE"};
constexpr std::array<std::string_view, 7> kToolBeginnings{
    "LC_", "PIP_", "UV_", "CONDA_", "MAMBA_", "RATTLER_", "SSL_CERT_"};
constexpr std::array<std::string_view, 2> kToolEndings{"_proxy", "_PROXY"};

}  // namespace

std::string_view provider_of(const EnvironmentDefinition& definition) {
  return std::visit(Match{[](const HostEnvironment&) { return std::string_view("host"); },
                          [](const VenvEnvironment&) { return std::string_view("venv"); }},
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
                   }},
             definition);
  return out;
}

Digest digest_of(const EnvironmentDefinition& definition) {
  return sha256(canonical_form(definition));
}

bool needs_lock(const EnvironmentDefinition& definition) {
  return !std::holds_alternative<HostEnvironment>(definition);
}

bool is_tool_variable(std::string_view name) {
  const auto any = [](const auto& all, const auto& holds) {
    return std::any_of(all.begin(), all.end(), holds);
  };
  return any(kToolVariables, [&](std::string_view one) { return name == one; }) ||
         any(kToolBeginnings, [&](std::string_view one) { return name.starts_with(one); }) ||
         any(kToolEndings, [&](std::string_view one) { return name.ends_with(one); });
}

Status validate_environment_name(const std::string& what, const std::string& name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  bool good = !name.empty() && name.size() <= kMaxEnvironmentNameBytes && word(name[0]);
  for (char c : name) good = good && (word(c) || c == '_' || c == '-' || c == '.');
  if (good) return {};
  return invalid(
      fmt::format("{}: '{}' is not one for an environment: 1 to {} letters, digits, '_', "
                  "'-' or '.', starting with a letter or a digit",
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
                       }},
                 spec.definition));
  if (const std::size_t size = canonical_form(spec.definition).size();
      size > kMaxEnvironmentDefinitionBytes)
    return invalid(fmt::format("environment: has {} bytes; at most {} are possible", size,
                               kMaxEnvironmentDefinitionBytes));
  return {};
}

}  // namespace lockstep
