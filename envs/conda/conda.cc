#include "envs/conda/conda.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "common/io/file_system.h"
#include "envs/conda/activation.h"
#include "envs/conda/backends.h"
#include "envs/venv/pip.h"

namespace lockstep::envs {
namespace {

// Variables of an environment that was active where the agent was started. None applies to this
// one.
constexpr const char* kOfAnother[] = {"CONDA_PREFIX", "CONDA_DEFAULT_ENV",     "CONDA_SHLVL",
                                      "CONDA_EXE",    "CONDA_PROMPT_MODIFIER", "CONDA_PYTHON_EXE"};

// Makes a scratch folder in the prefix, the only folder that is surely ours. It is removed when the
// environment is built.
Result<std::string> begin(Toolbox& tools, const Site& site) {
  for (const char* name : kOfAnother) tools.unset(name);
  std::string scratch = site.prefix + "/.lockstep";
  TRY(io::make_directories(scratch));
  return scratch;
}

const LockedCondaPackage* find(const Lock& lock, std::string_view name) {
  const auto found = std::find_if(lock.conda.begin(), lock.conda.end(),
                                  [&](const auto& package) { return package.name == name; });
  return found == lock.conda.end() ? nullptr : &*found;
}

void say_solved(Toolbox& tools, const Lock& lock) {
  tools.say(fmt::format("solved: {} conda packages, {} pip packages", lock.conda.size(),
                        lock.packages.size()));
  for (const LockedCondaPackage& package : lock.conda)
    tools.say(fmt::format("  {} {} {} (conda)", package.name, package.version, package.build));
  for (const LockedPackage& package : lock.packages)
    tools.say(fmt::format("  {} {} (pip)", package.name, package.version));
}

// Sets the variables for pip: it and the programs it starts find the prefix's programs, and no
// packages in the user's home.
void use(Toolbox& tools, const Activation& activation) {
  for (const auto& [name, value] : activation.variables) tools.set(name, value);
  tools.set("PATH", fmt::format("{}:{}", fmt::join(activation.path, ":"), tools.variable("PATH")));
}

Result<Activation> activated(Toolbox& tools, const Site& site, const std::string& scratch,
                             const CondaEnvironment& definition) {
  TRY_ASSIGN(Activation activation,
             activate_conda(tools, site.prefix, scratch, definition.variables));
  // As in a venv, packages in a user's home are hidden: they differ between nodes.
  activation.variables.emplace("PYTHONNOUSERSITE", "1");
  return activation;
}

}  // namespace

Result<Lock> CondaProvider::solve(Toolbox& tools, const Site& site) {
  TRY_ASSIGN(const std::string scratch, begin(tools, site));
  TRY_ASSIGN(const auto backend, make_conda_backend(tools, site, scratch));
  Lock lock;
  lock.provider = "conda";
  lock.platform = site.platform;
  lock.solver = backend->name();
  TRY_ASSIGN(lock.conda, backend->solve(definition_));
  if (!definition_.requirements.empty()) TRY(solve_pip(tools, site, *backend, lock));
  say_solved(tools, lock);
  return lock;
}

// Solves pip's part. pip sees what conda has installed, so conda's packages are installed first.
Status CondaProvider::solve_pip(Toolbox& tools, const Site& site, CondaBackend& backend,
                                Lock& lock) {
  for (const char* name : {"python", "pip"})
    if (find(lock, name) == nullptr)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("the environment has pip packages, but no conda package '{}' "
                                    "to install them with; add `python` and `pip` to its "
                                    "dependencies",
                                    name));
  TRY(backend.install(lock.conda));
  const std::string scratch = site.prefix + "/.lockstep";
  TRY_ASSIGN(const Activation activation, activated(tools, site, scratch, definition_));
  use(tools, activation);
  Pip pip(tools, site, site.prefix + "/bin/python", scratch);
  TRY_ASSIGN(const bool has_reports, pip.has_reports());
  if (!has_reports)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("pip {} of the environment is too old to check hashes; ask for `pip>=23`",
                    find(lock, "pip")->version));
  TRY_ASSIGN(const Asked asked, write_asked(definition_.options, definition_.requirements,
                                            definition_.constraints, scratch));
  auto packages = pip.solve(asked, Pip::Installed::counts);
  if (!packages) return naming_missing_folders(packages.error(), definition_.options);
  lock.packages = *std::move(packages);
  return {};
}

Result<std::vector<std::string>> CondaProvider::missing(Toolbox& tools, const Site& site,
                                                        const Lock& lock) {
  TRY_ASSIGN(const std::string scratch, begin(tools, site));
  TRY_ASSIGN(const auto backend, make_conda_backend(tools, site, scratch));
  return backend->missing(lock.conda);
}

Status CondaProvider::fetch(Toolbox& tools, const Site& site, const Lock& lock) {
  TRY_ASSIGN(const std::string scratch, begin(tools, site));
  TRY_ASSIGN(const auto backend, make_conda_backend(tools, site, scratch));
  return backend->fetch(lock.conda);
}

Result<Activation> CondaProvider::build(Toolbox& tools, const Site& site, const Lock& lock) {
  if (const std::string here = conda_platform_of(site.platform).subdir,
      there = conda_platform_of(lock.platform).subdir;
      here != there)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the environment was solved for {}, but this node is {}", there, here));
  TRY_ASSIGN(const std::string scratch, begin(tools, site));
  TRY_ASSIGN(const auto backend, make_conda_backend(tools, site, scratch));
  TRY(backend->install(lock.conda));
  TRY_ASSIGN(Activation activation, activated(tools, site, scratch, definition_));
  const std::string python = site.prefix + "/bin/python";
  if (!lock.packages.empty()) {
    use(tools, activation);
    const Status installed =
        Pip(tools, site, python, scratch).install(lock, option_words(definition_.options));
    if (!installed) return naming_missing_folders(installed.error(), definition_.options);
  }
  TRY(io::remove_tree(scratch));
  if (::access(python.c_str(), X_OK) == 0) activation.interpreter = python;
  if (const auto* package = find(lock, "python")) activation.version = package->version;
  return activation;
}

}  // namespace lockstep::envs
