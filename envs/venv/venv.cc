#include "envs/venv/venv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/io/file_system.h"
#include "envs/host/host.h"
#include "envs/venv/solved.h"
#include "envs/venv/wheelhouse.h"

namespace lockstep::envs {
namespace {

using Words = std::vector<std::string>;

constexpr int kSignals = 128;  // exit codes above are of signals

constexpr std::string_view kPipWithReports = "pip>=23";  // the first that is well behaved with them

// Signs that the index was not reached; pip ends with "no matching distribution" then, as it does
// for a name that is wrong.
constexpr std::array<std::string_view, 8> kNotReached{
    "Retrying (",          "connection broken",
    "Connection refused",  "Temporary failure in name",
    "Name or service not", "error sending request",
    "dns error",           "timed out"};
constexpr std::array<std::string_view, 3> kNoSpace{"No space left on device", "Disk quota exceeded",
                                                   "os error 28"};

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& signs) {
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

// unavailable and resource_exhausted may pass; invalid_argument would come again.
Error failure(std::string_view what, const Toolbox::Answer& answer) {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string_view why = "";
  if (answer.exit_code > kSignals) {  // somebody's, or the kernel's for lack of memory
    code = ErrorCode::unavailable;
    why = " (it was killed)";
  } else if (has_any(answer.tail, kNotReached)) {
    code = ErrorCode::unavailable;
    why = " (the index was not reached)";
  } else if (has_any(answer.tail, kNoSpace)) {
    code = ErrorCode::resource_exhausted;
    why = " (the disk is full)";
  }
  return make_error(
      code, fmt::format("{}{}; it exited with {}:\n{}", what, why, answer.exit_code, answer.tail));
}

Status run(Toolbox& tools, const Words& words, std::string_view what) {
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run(words));
  if (answer.exit_code != 0) return failure(what, answer);
  return {};
}

std::string lines(const Words& texts) {
  return texts.empty() ? "" : fmt::format("{}\n", fmt::join(texts, "\n"));
}

// What to install, as files that pip and uv read.
struct Asked {
  std::string requirements, constraints;
  Words words() const { return {"-r", requirements, "-c", constraints}; }
};

Result<Asked> write_asked(const VenvEnvironment& definition, const std::string& folder) {
  Asked asked{folder + "/requirements.in", folder + "/constraints.txt"};
  TRY(io::make_directories(folder));
  TRY(io::write_file_atomically(
      asked.requirements, lines(definition.options) + lines(definition.requirements), 0644, false));
  TRY(io::write_file_atomically(asked.constraints, lines(definition.constraints), 0644, false));
  return asked;
}

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Options are words on a command line: "--index-url URL" are two.
Words option_words(const Words& options) {
  Words words;
  for (const std::string& option : options) {
    const auto blank = option.find(' ');
    words.push_back(option.substr(0, blank));
    if (blank != std::string::npos) words.push_back(option.substr(blank + 1));
  }
  return words;
}

void set_up_pip(Toolbox& tools, const Site& site) {
  if (site.is_rebuild) tools.set("PIP_NO_CACHE_DIR", "1");  // it keeps what it compiled
  tools.set("PIP_CACHE_DIR", site.cache + "/pip");
  tools.set("PIP_DISABLE_PIP_VERSION_CHECK", "1");  // it would advise to change what is built here
  // Only of a retry does it say that the index is away, and not that there is no such package.
  const char* retries = std::getenv("PIP_RETRIES");
  if (retries != nullptr && std::string_view(retries) == "0") tools.set("PIP_RETRIES", "1");
}

bool is_wheel(const LockedPackage& package) {
  return package.url.substr(0, package.url.find_first_of("#?")).ends_with(".whl");
}

Status make_venv(Toolbox& tools, const std::string& python, const std::string& prefix) {
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run({tools.find(python), "-m", "venv", prefix}));
  if (answer.exit_code == 0) return {};
  Error error = failure(fmt::format("{} made no virtual environment", python), answer);
  if (answer.tail.find("ensurepip") != std::string::npos)
    error.message += "install the package python3-venv on this node, or put uv on PATH";
  return error;
}

}  // namespace

Result<Lock> VenvProvider::solve(Toolbox& tools, const Site& site) {
  TRY_ASSIGN(const std::string version, version_of(tools, definition_.python));
  tools.say(fmt::format("solving for {} (Python {})", platform_of(version), version));
  const std::string uv = tools.find("uv");
  TRY_ASSIGN(Lock lock, uv.empty() ? solve_with_pip(tools, site) : solve_with_uv(tools, site, uv));
  lock.provider = "venv";
  lock.platform = platform_of(version);
  tools.say(fmt::format("solved: {} packages", lock.packages.size()));
  return lock;
}

Result<Lock> VenvProvider::solve_with_uv(Toolbox& tools, const Site& site, const std::string& uv) {
  tools.set("UV_CACHE_DIR", site.cache + "/uv");
  if (site.is_rebuild) tools.set("UV_NO_CACHE", "1");
  TRY_ASSIGN(const Asked asked, write_asked(definition_, site.prefix));
  const Words words = joined(
      {uv, "pip", "compile", "--generate-hashes", "--no-header", "--no-annotate", "--quiet",
       "--python", tools.find(definition_.python), asked.requirements, "-c", asked.constraints},
      {});
  TRY_ASSIGN(const Toolbox::Answer answer, tools.run(words, Toolbox::Output::wanted));
  if (answer.exit_code != 0) return failure("uv could not solve the environment", answer);
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
  set_up_pip(tools, site);
  TRY_ASSIGN(const Asked asked, write_asked(definition_, site.prefix));
  const std::string report = site.prefix + "/report.json";
  const Words options = option_words(definition_.options);
  // Debian 11's pip and older know no reports.
  TRY_ASSIGN(const Toolbox::Answer probe,
             tools.run({python, "-m", "pip", "install", "--help"}, Toolbox::Output::wanted));
  if (probe.output.find("--report") == std::string::npos)
    TRY(run(tools, {python, "-m", "pip", "install", "--upgrade", std::string(kPipWithReports)},
            "a newer pip could not be installed"));
  TRY(run(tools,
          joined({python, "-m", "pip", "install", "--dry-run", "--ignore-installed",
                  "--progress-bar", "off", "--report", report},
                 asked.words()),
          "pip could not solve the environment"));
  TRY_ASSIGN(const std::string text, io::read_file(report));
  Lock lock;
  TRY_ASSIGN(lock.packages, packages_of_report(text));
  TRY_ASSIGN(const Toolbox::Answer version,
             tools.run({python, "-m", "pip", "--version"}, Toolbox::Output::wanted));
  lock.solver = version.output.substr(0, version.output.find(" from "));
  return lock;
}

Result<Activation> VenvProvider::build(Toolbox& tools, const Site& site, const Lock& lock) {
  Activation activation;
  TRY_ASSIGN(activation.version, version_of(tools, definition_.python));
  if (const std::string here = platform_of(activation.version); here != lock.platform)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the environment was solved for {}, but '{}' is of {} on this node; name a "
                    "`python` that is the same on all nodes",
                    lock.platform, definition_.python, here));
  TRY(io::make_directories(site.prefix));
  const std::string locked = site.prefix + "/lockstep-requirements.txt";
  const std::string uv = tools.find("uv");
  TRY(io::write_file_atomically(locked, hashed_requirements(lock), 0644, false));
  if (uv.empty())
    TRY(make_with_pip(tools, site, lock, locked));
  else
    TRY(make_with_uv(tools, site, uv, locked));
  activation.interpreter = site.prefix + "/bin/python";
  activation.path = {site.prefix + "/bin"};
  activation.variables["VIRTUAL_ENV"] = site.prefix;
  return activation;
}

Status VenvProvider::make_with_uv(Toolbox& tools, const Site& site, const std::string& uv,
                                  const std::string& locked) {
  tools.set("UV_CACHE_DIR", site.cache + "/uv");
  if (site.is_rebuild) tools.set("UV_NO_CACHE", "1");
  TRY(run(tools,
          {uv, "venv", "--allow-existing", "--python", tools.find(definition_.python), site.prefix},
          "uv made no virtual environment"));
  const Words install = joined({uv, "pip", "install", "--no-deps", "--require-hashes", "--python",
                                site.prefix + "/bin/python", "-r", locked},
                               option_words(definition_.options));
  // What is in its cache is not asked for: without a network it works all the same.
  TRY_ASSIGN(const Toolbox::Answer offline, tools.run(joined(install, {"--offline"})));
  if (offline.exit_code == 0) return {};
  return run(tools, install, "uv could not install the packages");
}

Status VenvProvider::make_with_pip(Toolbox& tools, const Site& site, const Lock& lock,
                                   const std::string& locked) {
  set_up_pip(tools, site);
  TRY(make_venv(tools, definition_.python, site.prefix));
  const std::string python = site.prefix + "/bin/python";
  const Wheelhouse wheels(site.cache);
  const Words options = option_words(definition_.options);
  auto folders = wheels.folders_of(lock.packages);
  if (!folders) {
    tools.say(fmt::format("not here yet: {}", folders.error().message));
    const std::string fetched = site.prefix + "/fetched";
    TRY(run(tools,
            joined({python, "-m", "pip", "download", "--no-deps", "--require-hashes",
                    "--progress-bar", "off", "-d", fetched, "-r", locked},
                   options),
            "pip could not fetch the packages"));
    TRY(wheels.take_in(fetched));
    TRY(io::remove_tree(fetched));
    TRY_ASSIGN(folders, wheels.folders_of(lock.packages));
  }
  // All are here now: what came from an address is not asked for there again.
  const std::string here = site.prefix + "/lockstep-here.txt";
  TRY(io::write_file_atomically(here, hashed_requirements(lock, Addresses::left_out), 0644, false));
  Words install{python, "-m", "pip", "install", "--no-deps", "--require-hashes", "-r", here};
  for (const std::string& folder : *folders)
    install = joined(std::move(install), {"--find-links", folder});
  // What is built here may need tools of the index.
  if (std::all_of(lock.packages.begin(), lock.packages.end(), is_wheel))
    install.push_back("--no-index");
  else
    install = joined(std::move(install), options);
  return run(tools, install, "pip could not install the packages");
}

}  // namespace lockstep::envs
