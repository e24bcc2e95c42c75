#include "envs/venv/venv.h"

#include <fmt/format.h>

#include "common/io/file_system.h"
#include "envs/host/host.h"
#include "envs/venv/pip.h"
#include "envs/venv/solved.h"

namespace lockstep::envs {
namespace {

// The first version that handles such reports well.
constexpr std::string_view kPipWithReports = "pip>=23";

Result<Asked> write_definition(const VenvEnvironment& definition, const std::string& folder) {
  return write_asked(definition.options, definition.requirements, definition.constraints, folder);
}

}  // namespace

Result<Lock> VenvProvider::solve(Toolbox& tools, const Site& site) {
  TRY_ASSIGN(const std::string version, version_of(tools, definition_.python));
  tools.say(fmt::format("solving for {} (Python {})", platform_of(version), version));
  const std::string uv = tools.find("uv");
  auto lock = uv.empty() ? solve_with_pip(tools, site) : solve_with_uv(tools, site, uv);
  if (!lock) return naming_missing_folders(lock.error(), definition_.options);
  lock->provider = "venv";
  lock->platform = platform_of(version);
  tools.say(fmt::format("solved: {} package{}", lock->packages.size(),
                        lock->packages.size() == 1 ? "" : "s"));
  for (const LockedPackage& package : lock->packages)
    tools.say(fmt::format("  {} {} (pip)", package.name, package.version));
  return lock;
}

Result<Lock> VenvProvider::solve_with_uv(Toolbox& tools, const Site& site, const std::string& uv) {
  tools.set("UV_CACHE_DIR", site.cache + "/uv");
  if (site.is_rebuild) tools.set("UV_NO_CACHE", "1");
  TRY_ASSIGN(const Asked asked, write_definition(definition_, site.prefix));
  const Words words = joined(
      {uv, "pip", "compile", "--generate-hashes", "--no-header", "--no-annotate", "--quiet",
       "--python", tools.find(definition_.python), asked.requirements, "-c", asked.constraints},
      {});
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run(words, Toolbox::Output::wanted));
  if (answer.exit_code != 0) return tool_failure("uv could not solve the environment", answer);
  Lock lock;
  TRY_ASSIGN(lock.packages, packages_of_compiled(answer.output));
  TRY_ASSIGN(const Toolbox::Answer version, tools.run({uv, "--version"}, Toolbox::Output::wanted));
  lock.solver = version.output.substr(0, version.output.find('\n'));
  return lock;
}

Result<Lock> VenvProvider::solve_with_pip(Toolbox& tools, const Site& site) {
  const std::string solver = site.prefix + "/solver";
  TRY(make_venv(tools, definition_.python, solver));
  const std::string python = solver + "/bin/python";
  Pip pip(tools, site, python, site.prefix);
  TRY_ASSIGN(const Asked asked, write_definition(definition_, site.prefix));
  TRY_ASSIGN(const bool has_reports, pip.has_reports());
  if (!has_reports)
    TRY(run_tool(tools, {python, "-m", "pip", "install", "--upgrade", std::string(kPipWithReports)},
                 "a newer pip could not be installed"));
  Lock lock;
  TRY_ASSIGN(lock.packages, pip.solve(asked, Pip::Installed::left_out));
  TRY_ASSIGN(lock.solver, pip.version());
  return lock;
}

Result<Activation> VenvProvider::build(Toolbox& tools, const Site& site, const Lock& lock) {
  Activation activation;
  TRY_ASSIGN(activation.version, version_of(tools, definition_.python));
  if (const std::string here = platform_of(activation.version); here != lock.platform)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the environment was solved for {}, but '{}' on this node is for "
                                  "{}; name a `python` that is the same on all nodes",
                                  lock.platform, definition_.python, here));
  TRY(io::make_directories(site.prefix));
  const std::string uv = tools.find("uv");
  const Status made =
      uv.empty() ? make_with_pip(tools, site, lock) : make_with_uv(tools, site, uv, lock);
  if (!made) return naming_missing_folders(made.error(), definition_.options);
  activation.interpreter = site.prefix + "/bin/python";
  activation.path = {site.prefix + "/bin"};
  activation.variables["VIRTUAL_ENV"] = site.prefix;
  return activation;
}

Status VenvProvider::make_with_uv(Toolbox& tools, const Site& site, const std::string& uv,
                                  const Lock& lock) {
  const std::string locked = site.prefix + "/lockstep-requirements.txt";
  TRY(io::write_file_atomically(locked, hashed_requirements(lock), 0644, false));
  tools.set("UV_CACHE_DIR", site.cache + "/uv");
  if (site.is_rebuild) tools.set("UV_NO_CACHE", "1");
  TRY(run_tool(
      tools,
      {uv, "venv", "--allow-existing", "--python", tools.find(definition_.python), site.prefix},
      "uv could not make a virtual environment"));
  const Words install = joined({uv, "pip", "install", "--no-deps", "--require-hashes", "--python",
                                site.prefix + "/bin/python", "-r", locked},
                               option_words(definition_.options));
  // Tries the cache alone first, which works without a network.
  TRY_ASSIGN(const Toolbox::Answer offline, tools.run(joined(install, {"--offline"})));
  if (offline.exit_code == 0) return {};
  return run_tool(tools, install, "uv could not install the packages");
}

Status VenvProvider::make_with_pip(Toolbox& tools, const Site& site, const Lock& lock) {
  TRY(make_venv(tools, definition_.python, site.prefix));
  return Pip(tools, site, site.prefix + "/bin/python", site.prefix)
      .install(lock, option_words(definition_.options));
}

}  // namespace lockstep::envs
