#include "envs/conda/activation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "common/io/file_system.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;
using Variables = std::map<std::string, std::string>;

constexpr std::string_view kAround = "/usr/local/bin:/usr/bin:/bin";
// conda's mark for an unset variable, in conda-meta/state.
constexpr std::string_view kUnset = "***unset***";

// Sources each script, whatever the one before returned. What the scripts print goes to the log.
constexpr std::string_view kScripts = R"(exec 3>&1 1>&2
for lockstep_script in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do
  if [ -f "$lockstep_script" ]; then
    echo "activation: ${lockstep_script##*/}"
    . "$lockstep_script"
  fi
done
/usr/bin/env -0 >&3
)";
constexpr std::array<std::string_view, 5> kOfTheShell{"_", "SHLVL", "PWD", "OLDPWD", "HOME"};

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// Adds the members of a JSON object; values that are not strings are written as JSON.
Status add_variables(const std::string& path, const std::string& member, Variables& to) {
  TRY_ASSIGN(const std::string text, io::read_file(path));
  json from = json::parse(text, nullptr, false);
  if (!member.empty() && from.is_object()) from = from.value(member, json::object());
  if (!from.is_object())
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} is not a JSON object of variables", path));
  for (const auto& [name, value] : from.items()) {
    if (!is_variable_name(name))
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("{}: '{}' is not the name of a variable", path, name));
    const std::string as_text = value.is_string() ? value.get<std::string>() : value.dump();
    if (as_text != kUnset) to[name] = as_text;
  }
  return {};
}

Result<Variables> variables_of(const std::string& prefix, const Variables& given) {
  Variables variables;
  const std::string folder = prefix + "/etc/conda/env_vars.d";
  if (io::exists(folder)) {
    TRY_ASSIGN(const std::vector<std::string> names, io::list_directory(folder));
    for (const std::string& name : names)
      if (name.ends_with(".json")) TRY(add_variables(folder + "/" + name, "", variables));
  }
  if (const std::string state = prefix + "/conda-meta/state"; io::exists(state))
    TRY(add_variables(state, "env_vars", variables));
  for (const auto& [name, value] : given) variables[name] = value;
  variables["CONDA_PREFIX"] = prefix;
  variables["CONDA_DEFAULT_ENV"] = prefix;  // conda's own name for environments without a name
  variables["CONDA_SHLVL"] = "1";
  return variables;
}

Variables read_variables(std::string_view text) {
  Variables variables;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const auto equals = one.find('=');
    if (equals != std::string_view::npos && is_variable_name(one.substr(0, equals)))
      variables.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return variables;
}

// The entries of a PATH, without empty ones.
std::vector<std::string> path_entries(std::string_view path) {
  if (path.ends_with(kAround)) path.remove_suffix(kAround.size());
  std::vector<std::string> entries;
  while (!path.empty()) {
    const std::string_view one = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(one.size() + 1, path.size()));
    if (one.starts_with('/')) entries.emplace_back(one);
  }
  return entries;
}

}  // namespace

Result<Activation> activate_conda(Toolbox& tools, const std::string& prefix,
                                  const std::string& scratch, const Variables& given) {
  TRY_ASSIGN(const Variables before, variables_of(prefix, given));
  std::string script =
      fmt::format("export PATH={}\n", quoted(fmt::format("{}/bin:{}", prefix, kAround)));
  for (const auto& [name, value] : before)
    script += fmt::format("export {}={}\n", name, quoted(value));
  const std::string file = scratch + "/activate.sh";
  TRY(io::write_file_atomically(file, script + std::string(kScripts), 0600, false));
  const bool has_bash = ::access("/bin/bash", X_OK) == 0;
  std::vector<std::string> words{"/usr/bin/env", "-i", "HOME=" + tools.variable("HOME")};
  if (has_bash)
    words.insert(words.end(), {"/bin/bash", "--noprofile", "--norc", file});
  else
    words.insert(words.end(), {"/bin/sh", file});
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run(words, Toolbox::Output::wanted));
  Variables after = read_variables(answer.output);
  if (answer.exit_code != 0 || !after.contains("CONDA_PREFIX"))
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("an activation script of a package ended the shell with exit code {}:\n{}",
                    answer.exit_code, answer.tail));
  Activation activation;
  activation.path = path_entries(after["PATH"]);
  after.erase("PATH");
  for (const std::string_view name : kOfTheShell)
    if (!before.contains(std::string(name))) after.erase(std::string(name));
  activation.variables = std::move(after);
  return activation;
}

}  // namespace lockstep::envs
