#include "envs/venv/pip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "common/io/file_system.h"
#include "envs/venv/failed_build.h"
#include "envs/venv/pip_remedy.h"
#include "envs/venv/solved.h"
#include "envs/venv/wheelhouse.h"

namespace lockstep::envs {
namespace {

constexpr const char* kLog = "/lockstep-pip.log";  // the log of one run

std::string lines(const Words& texts) {
  return texts.empty() ? "" : fmt::format("{}\n", fmt::join(texts, "\n"));
}

// The index pages that pip could not read. pip reports them in its log file only, and then says
// that the package does not exist. Missing pages are left out: of several indexes, one has each
// package.
std::string unread_pages(const std::string& log) {
  constexpr std::string_view kSign = "Could not fetch URL ";
  constexpr std::size_t kMostPages = 3;
  Words pages;
  std::ifstream file(log);
  for (std::string line; pages.size() < kMostPages && std::getline(file, line);) {
    const auto at = line.find(kSign);
    if (at == line.npos || line.find(": 404 Client Error") != line.npos) continue;
    pages.push_back(line.substr(at));
  }
  return lines(pages);
}

// pip's own errors, without the lines that it prints for every build.
std::string errors_in(std::string_view tail) {
  std::string errors;
  while (!tail.empty()) {
    const std::string_view line = tail.substr(0, tail.find('\n'));
    tail.remove_prefix(std::min(line.size() + 1, tail.size()));
    if (line.starts_with("ERROR: ")) errors += fmt::format("{}\n", line);
  }
  return errors;
}

bool is_wheel(const LockedPackage& package) {
  return package.url.substr(0, package.url.find_first_of("#?")).ends_with(".whl");
}

}  // namespace

Result<Asked> write_asked(const Words& options, const Words& requirements, const Words& constraints,
                          const std::string& folder) {
  Asked asked{folder + "/requirements.in", folder + "/constraints.txt"};
  TRY(io::make_directories(folder));
  TRY(io::write_file_atomically(asked.requirements, lines(options) + lines(requirements), 0644,
                                false));
  TRY(io::write_file_atomically(asked.constraints, lines(constraints), 0644, false));
  return asked;
}

Words option_words(const Words& options) {
  Words words;
  for (const std::string& option : options) {
    const auto blank = option.find(' ');
    words.push_back(option.substr(0, blank));
    if (blank != std::string::npos) words.push_back(option.substr(blank + 1));
  }
  return words;
}

Error naming_missing_folders(Error error, const Words& options) {
  constexpr std::string_view kFindLinks = "--find-links ";
  for (const std::string& option : options) {
    const std::string place =
        option.starts_with(kFindLinks) ? option.substr(kFindLinks.size()) : "";
    if (!place.starts_with('/') || io::exists(place)) continue;
    if (error.code == ErrorCode::invalid_argument) error.code = ErrorCode::not_found;
    error.message += fmt::format("\nthis node has no {}, which --find-links names", place);
  }
  return error;
}

Pip::Pip(Toolbox& tools, const Site& site, std::string python, std::string folder)
    : tools_(tools), site_(site), python_(std::move(python)), folder_(std::move(folder)) {
  if (site.is_rebuild) tools.set("PIP_NO_CACHE_DIR", "1");  // the cache keeps what was compiled
  tools.set("PIP_CACHE_DIR", site.cache + "/pip");
  tools.set("PIP_NO_INPUT", "1");  // no person is there to type a password
  // pip would advise to change the environment that is built here.
  tools.set("PIP_DISABLE_PIP_VERSION_CHECK", "1");
  // pip says that the index is unreachable only when it retries. Without retries it says that the
  // package does not exist.
  const char* retries = std::getenv("PIP_RETRIES");
  if (retries != nullptr && std::string_view(retries) == "0") tools.set("PIP_RETRIES", "1");
}

// Writes everything to the build's log; the report gets the lines that explain the failure.
std::string Pip::say_why(const FailedBuild& failed, std::string_view tail) {
  tools_.say(fmt::format("{}; its output:", failed.step));
  for (const std::string& line : failed.output) tools_.say("  " + line);
  return fmt::format("{}:\n  {}\n(the whole output is in the environment's log)\n{}", failed.step,
                     fmt::join(failed.deciding, "\n  "), errors_in(tail));
}

Status Pip::run(const Words& words, std::string_view what) {
  const std::string log = folder_ + kLog;
  tools_.set("PIP_LOG", log);
  auto ran = tools_.run(words);
  tools_.unset("PIP_LOG");
  TRY_ASSIGN(Toolbox::Answer answer, std::move(ran));
  if (answer.exit_code != 0) {
    if (const auto failed = failed_build(log)) answer.tail = say_why(*failed, answer.tail);
    answer.tail += unread_pages(log);
  }
  TRY(io::remove_tree(log));
  if (answer.exit_code == 0) return {};
  Error error = tool_failure(what, answer);
  if (const std::string remedy = pip_remedy(error.code, answer.tail); !remedy.empty())
    error.message += (error.message.ends_with('\n') ? "" : "\n") + remedy;
  return error;
}

Result<std::string> Pip::version() {
  TRY_ASSIGN(const Toolbox::Answer answer,
             tools_.run({python_, "-m", "pip", "--version"}, Toolbox::Output::wanted));
  return answer.output.substr(0, answer.output.find(" from "));
}

Result<bool> Pip::has_reports() {
  TRY_ASSIGN(const Toolbox::Answer probe,
             tools_.run({python_, "-m", "pip", "install", "--help"}, Toolbox::Output::wanted));
  return probe.output.find("--report") != std::string::npos;
}

Result<std::vector<LockedPackage>> Pip::solve(const Asked& asked, Installed installed) {
  const std::string report = folder_ + "/report.json";
  Words words{python_,          "-m",  "pip",      "install", "--dry-run",
              "--progress-bar", "off", "--report", report};
  if (installed == Installed::left_out) words.push_back("--ignore-installed");
  TRY(run(joined(std::move(words), asked.words()), "pip could not solve the environment"));
  TRY_ASSIGN(const std::string text, io::read_file(report));
  return packages_of_report(text);
}

// Fetches the packages, and returns options that name the folders with all of them.
Result<Words> Pip::fetch(const Lock& lock, const Words& options) {
  const Wheelhouse wheels(site_.cache);
  auto folders = wheels.folders_of(lock.packages);
  if (folders) return folders;
  tools_.say(fmt::format("not in the cache yet: {}", folders.error().message));
  // Other agents of this machine may share the cache and build the same now, so one of them
  // fetches.
  const Digest digest = sha256(hashed_requirements(lock));
  TRY_ASSIGN(const io::FileLock one,
             lock_of(tools_, fmt::format("{}/fetch-{:.2}.lock", site_.cache, digest.hex()),
                     "another build fetches the same packages: waiting for it"));
  if (auto by_another = wheels.folders_of(lock.packages)) return by_another;
  TRY(fetch_lacking(lock, options));
  return wheels.folders_of(lock.packages);
}

Status Pip::fetch_lacking(const Lock& lock, const Words& options) {
  const std::string locked = folder_ + "/lockstep-requirements.txt";
  const std::string fetched = folder_ + "/fetched";
  TRY(io::write_file_atomically(locked, hashed_requirements(lock), 0644, false));
  TRY(run(joined({python_, "-m", "pip", "download", "--no-deps", "--require-hashes",
                  "--progress-bar", "off", "-d", fetched, "-r", locked},
                 options),
          "pip could not fetch the packages"));
  TRY(Wheelhouse(site_.cache).take_in(fetched));
  return io::remove_tree(fetched);
}

Status Pip::install(const Lock& lock, const Words& options) {
  TRY_ASSIGN(const Words folders, fetch(lock, options));
  // All files are here now, so those that came from an address are not fetched from there again.
  const std::string here = folder_ + "/lockstep-here.txt";
  TRY(io::write_file_atomically(here, hashed_requirements(lock, Addresses::left_out), 0644, false));
  Words install{python_, "-m", "pip", "install", "--no-deps", "--require-hashes", "-r", here};
  for (const std::string& folder : folders)
    install = joined(std::move(install), {"--find-links", folder});
  // Building from sources may need tools from the index.
  if (std::all_of(lock.packages.begin(), lock.packages.end(), is_wheel))
    install.push_back("--no-index");
  else
    install = joined(std::move(install), options);
  return run(install, "pip could not install the packages");
}

}  // namespace lockstep::envs
