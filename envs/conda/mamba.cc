#include "envs/conda/mamba.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/digest.h"
#include "common/base/utf8.h"
#include "common/io/file_system.h"
#include "envs/tool.h"
#include "envs/venv/wheelhouse.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxShownBytes = 200;

std::string file_name_of(const std::string& url) { return url.substr(url.rfind('/') + 1); }

// Programs print progress before and after their JSON.
json json_in(const std::string& text) {
  const auto begin = text.find('{'), end = text.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return json();
  return json::parse(text.substr(begin, end - begin + 1), nullptr, false);
}

// The error message in a solver's JSON; each of the programs has its own form.
std::string complaint(const json& said) {
  if (!said.is_object()) return "";
  std::string text;
  for (const char* key : {"message", "error", "solver_error"})
    if (said.contains(key) && said[key].is_string()) text += said[key].get<std::string>() + "\n";
  if (said.contains("solver_problems"))
    for (const json& problem : said["solver_problems"])
      text += (problem.is_string() ? problem.get<std::string>() : problem.dump()) + "\n";
  return text;
}

// The program exited with 0 but reported no result, so it is not a solver.
Error no_answer(const std::string& program, const std::string& output) {
  return make_error(
      ErrorCode::unavailable,
      fmt::format("{} (from LOCKSTEP_CONDA_ENGINE of the agent) did not report whether it could "
                  "solve the environment; it answered: {}",
                  program, output.empty() ? "nothing" : head(output, kMaxShownBytes)));
}

// Reads a package. `record`: from a channel's index, or from conda-meta. Throws json::exception.
LockedCondaPackage package_from(const json& record) {
  const char* build = record.contains("build_string") ? "build_string" : "build";
  json kept = record;
  for (const char* ours : {"extracted_package_dir", "files", "link", "package_tarball_full_path",
                           "paths_data", "requested_spec", "requested_specs"})
    kept.erase(ours);
  return {record.at("name"), record.at("version"),       record.at(build),
          record.at("url"),  record.value("sha256", ""), record.value("size", std::uint64_t{0}),
          kept.dump()};
}

// The packages that a solver's answer would install, by name.
Result<std::vector<LockedCondaPackage>> packages_in(const json& said, const std::string& program) {
  std::map<std::string, LockedCondaPackage> packages;
  try {
    if (!said.contains("actions")) return std::vector<LockedCondaPackage>();
    for (const char* list : {"FETCH", "LINK"})
      for (const json& record : said["actions"].value(list, json::array()))
        if (record.contains("url") && record.contains("sha256"))
          packages.emplace(record.at("name"), package_from(record));
    for (const json& record : said["actions"].value("LINK", json::array()))
      if (!packages.contains(record.at("name").get<std::string>()))
        return make_error(ErrorCode::invalid_argument,
                          fmt::format("the channel gives no SHA-256 of {}",
                                      record.at("name").get<std::string>()));
  } catch (const json::exception& failure) {
    return make_error(ErrorCode::internal,
                      fmt::format("{}'s answer was not understood: {}", program, failure.what()));
  }
  std::vector<LockedCondaPackage> sorted;
  for (auto& [name, package] : packages) sorted.push_back(std::move(package));
  return sorted;
}

class MambaBackend final : public CondaBackend {
 public:
  MambaBackend(Toolbox& tools, Site site, std::string scratch, std::string program,
               std::string version)
      : tools_(tools),
        site_(std::move(site)),
        scratch_(std::move(scratch)),
        packages_(site_.cache + "/mamba/pkgs"),
        program_(std::move(program)),
        name_(fmt::format("{} {}", file_name_of(program_), version)) {}

  std::string name() const override { return name_; }
  Result<std::vector<LockedCondaPackage>> solve(const CondaEnvironment& definition) override;
  Status install(const std::vector<LockedCondaPackage>& packages) override;

 private:
  Result<std::vector<LockedCondaPackage>> solve_locked(const std::vector<std::string>& entries);
  Status install_explicit(const std::string& prefix, const Words& entries, bool offline);
  // The SHA-256 of the package's archive. If `wanted` is not empty, the archive must have this
  // hash; else it is removed.
  Result<std::string> hash_of(const LockedCondaPackage& package, const std::string& wanted) const;
  std::string archive_of(const LockedCondaPackage& package) const {
    return packages_ + "/" + file_name_of(package.url);
  }
  void describe_node();
  Result<Toolbox::Answer> run(Words words, Toolbox::Output output) {
    return tools_.run(joined({program_}, words), output);
  }

  Toolbox& tools_;
  const Site site_;
  const std::string scratch_, packages_, program_, name_;
};

// Sets the virtual packages of the target platform, which may differ from this node's.
void MambaBackend::describe_node() {
  const CondaPlatform platform = conda_platform_of(site_.platform);
  tools_.set("CONDA_SUBDIR", platform.subdir);
  tools_.set("CONDA_OVERRIDE_CUDA", "");
  for (const std::string& package : platform.virtual_packages) {
    const auto equals = package.find('=');
    std::string name = package.substr(2, equals - 2);  // "__glibc"
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    tools_.set("CONDA_OVERRIDE_" + name, package.substr(equals + 1));
  }
}

Result<std::vector<LockedCondaPackage>> MambaBackend::solve(const CondaEnvironment& definition) {
  describe_node();
  if (!definition.locked.empty()) {
    TRY_ASSIGN(const auto entries,
               locked_for(definition, conda_platform_of(site_.platform).subdir));
    return solve_locked(entries);
  }
  if (definition.dependencies.empty()) return std::vector<LockedCondaPackage>();
  // conda lists all fields of a package only if it would fetch it, so it gets an empty cache.
  tools_.set("CONDA_PKGS_DIRS", scratch_ + "/pkgs");
  tools_.set("CONDA_CHANNEL_PRIORITY", definition.strict_priority ? "strict" : "disabled");
  Words words{
      "create", "--dry-run", "--json", "--yes", "-p", scratch_ + "/solved", "--override-channels"};
  for (const std::string& channel : definition.channels) words.insert(words.end(), {"-c", channel});
  TRY_ASSIGN(const Toolbox::Answer answer,
             run(joined(std::move(words), definition.dependencies), Toolbox::Output::wanted));
  const json said = json_in(answer.output);
  if (answer.exit_code == 0 && (!said.is_object() || !said.contains("success")))
    return no_answer(program_, answer.output);
  if (answer.exit_code != 0 || !said.is_object() || !said.value("success", false)) {
    Toolbox::Answer told = answer;
    told.tail = complaint(said) + told.tail;
    return tool_failure(fmt::format("{} could not solve the environment", program_), told);
  }
  return packages_in(said, program_);
}

// Installs the packages into a scratch prefix: conda-meta then has their records, and the cache
// their archives.
Result<std::vector<LockedCondaPackage>> MambaBackend::solve_locked(
    const std::vector<std::string>& entries) {
  const std::string prefix = scratch_ + "/locked";
  Words lines;
  std::map<std::string, std::string> wanted;  // hashes by file name
  for (const std::string& entry : entries) {
    const auto hash = entry.find('#');
    const std::string url = entry.substr(0, hash);
    const std::string after = hash == std::string::npos ? "" : entry.substr(hash + 1);
    if (after.starts_with("md5:"))
      lines.push_back(url + "#" + after.substr(4));
    else
      lines.push_back(url);
    if (after.starts_with("sha256:")) wanted[file_name_of(url)] = after.substr(7);
  }
  TRY(install_explicit(prefix, lines, false));
  TRY_ASSIGN(const auto names, io::list_directory(prefix + "/conda-meta"));
  std::vector<LockedCondaPackage> packages;
  for (const std::string& name : names) {
    if (!name.ends_with(".json")) continue;
    TRY_ASSIGN(const std::string text, io::read_file(prefix + "/conda-meta/" + name));
    try {
      packages.push_back(package_from(json::parse(text)));
    } catch (const json::exception& failure) {
      return make_error(ErrorCode::internal,
                        fmt::format("conda-meta/{}: {}", name, failure.what()));
    }
    LockedCondaPackage& package = packages.back();
    package.url = package.url.substr(0, package.url.find('#'));
    const std::string file = file_name_of(package.url);
    TRY_ASSIGN(package.sha256, hash_of(package, wanted[file]));
  }
  std::sort(packages.begin(), packages.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return packages;
}

Result<std::string> MambaBackend::hash_of(const LockedCondaPackage& package,
                                          const std::string& wanted) const {
  const std::string archive = archive_of(package);
  TRY_ASSIGN(const Digest digest, digest_of_file(archive));
  if (wanted.empty() || digest.hex() == wanted) return digest.hex();
  TRY(io::remove_tree(archive));
  for (const std::string_view kind : {".conda", ".tar.bz2"})
    if (archive.ends_with(kind))
      TRY(io::remove_tree(archive.substr(0, archive.size() - kind.size())));
  return make_error(
      ErrorCode::corrupt,
      fmt::format("{} is not the package that was asked for: its SHA-256 is {}, not {}; "
                  "if it was replaced on purpose, solve the environment again with --rebuild",
                  package.url, digest.hex(), wanted));
}

Status MambaBackend::install_explicit(const std::string& prefix, const Words& entries,
                                      bool offline) {
  tools_.set("CONDA_PKGS_DIRS", packages_);
  tools_.set("CONDA_ALWAYS_SOFTLINK", "false");
  TRY(io::make_directories(packages_));
  // Programs install only into a folder that has a history.
  TRY(io::make_directories(prefix + "/conda-meta"));
  TRY(io::write_file_atomically(prefix + "/conda-meta/history", "", 0644, false));
  const std::string file = scratch_ + "/explicit.txt";
  TRY(io::write_file_atomically(file, fmt::format("@EXPLICIT\n{}\n", fmt::join(entries, "\n")),
                                0600, false));
  Words words{"install", "--yes", "-p", prefix, "--file", file};
  if (offline) words.push_back("--offline");
  TRY_ASSIGN(const Toolbox::Answer answer, run(std::move(words), Toolbox::Output::log));
  if (answer.exit_code != 0)
    return tool_failure(fmt::format("{} could not install the packages", program_), answer);
  return {};
}

Status MambaBackend::install(const std::vector<LockedCondaPackage>& packages) {
  describe_node();
  if (packages.empty()) return io::make_directories(site_.prefix);
  Words entries;
  bool offline = true;
  for (const LockedCondaPackage& package : packages) {
    const json record = json::parse(package.record, nullptr, false);
    const std::string md5 = record.is_object() ? record.value("md5", "") : "";
    entries.push_back(package.url + (md5.empty() ? "" : "#" + md5));
    const auto digest = digest_of_file(archive_of(package));
    if (!digest || digest->hex() != package.sha256) offline = false;
  }
  TRY(install_explicit(site_.prefix, entries, offline));
  for (const LockedCondaPackage& package : packages) TRY(hash_of(package, package.sha256));
  return {};
}

}  // namespace

Result<std::unique_ptr<CondaBackend>> make_mamba_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch,
                                                         const std::string& program) {
  const std::string path = tools.find(program);
  if (path.empty())
    return make_error(ErrorCode::unavailable,
                      fmt::format("LOCKSTEP_CONDA_ENGINE of the agent is '{}', but no folder of "
                                  "its PATH has {}; install it, or unset the variable to use "
                                  "py-rattler",
                                  program, program));
  tools.set("MAMBA_ROOT_PREFIX", site.cache + "/mamba");
  TRY_ASSIGN(const Toolbox::Answer version,
             tools.run({path, "--version"}, Toolbox::Output::wanted));
  std::string text = version.output.substr(0, version.output.find('\n'));
  text = text.substr(text.rfind(' ') + 1);  // "conda 24.1.0"
  return std::make_unique<MambaBackend>(tools, site, scratch, path, std::move(text));
}

}  // namespace lockstep::envs
