#include "envs/venv/solved.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/digest.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

constexpr std::string_view kBlank = " \t\r\\";
constexpr std::string_view kUnknownVersion = "0";
constexpr std::string_view kOfVersions =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.!+_";

Error cannot_lock(std::string_view package, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} cannot be pinned to a hash: {}", package, why));
}

Error not_understood(std::string_view what) {
  return make_error(ErrorCode::internal,
                    fmt::format("the solver's answer was not understood: {}", what));
}

// Throws json::exception.
Result<LockedPackage> package_of(const json& installed) {
  const json& metadata = installed.at("metadata");
  LockedPackage package;
  package.name = normalised_name(metadata.at("name").get<std::string>());
  package.version = metadata.at("version").get<std::string>();
  const json& download = installed.at("download_info");
  package.url = download.at("url").get<std::string>();
  if (!download.contains("archive_info"))
    return cannot_lock(package.name,
                       fmt::format("it comes from {}, which is not an archive", package.url));
  const json& archive = download.at("archive_info");
  std::string hash;
  if (archive.contains("hashes")) hash = archive.at("hashes").value("sha256", "");
  constexpr std::string_view kPrefix = "sha256=";  // pip before 23.1 writes "hash"
  if (const std::string old = archive.value("hash", ""); hash.empty() && old.starts_with(kPrefix))
    hash = old.substr(kPrefix.size());
  if (!Digest::from_hex(hash))
    return cannot_lock(package.name, fmt::format("the SHA-256 of {} is unknown", package.url));
  package.sha256.push_back(std::move(hash));
  package.direct = installed.value("is_direct", false);
  return package;
}

void sort_by_name(std::vector<LockedPackage>& packages) {
  std::sort(packages.begin(), packages.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

std::string_view next_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return line = {};
  const auto end = std::min(line.find_first_of(kBlank, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

// "name==version", the first word of a package's lines. Extras are dropped: they matter only for
// solving.
std::optional<LockedPackage> pinned(std::string_view word) {
  const auto equals = word.find("==");
  if (equals == std::string_view::npos) return std::nullopt;
  LockedPackage package;
  package.name = normalised_name(word.substr(0, std::min(equals, word.find('['))));
  package.version = std::string(word.substr(equals + 2));
  return package;
}

// The version in an address: of a wheel "name-version-…", of a source archive
// "name-version.tar.gz". uv does not print it.
std::string version_in_address(std::string_view url) {
  std::string_view file = url.substr(0, url.find_first_of("?#"));
  file.remove_prefix(file.rfind('/') + 1);
  const auto begin = file.find('-');
  if (begin == std::string_view::npos) return std::string(kUnknownVersion);
  std::string_view rest = file.substr(begin + 1);
  for (const std::string_view ending : {".whl", ".tar.gz", ".zip", ".tar.bz2"})
    if (rest.ends_with(ending)) rest.remove_suffix(ending.size());
  const std::string_view version = rest.substr(0, rest.find('-'));
  const bool is_version = !version.empty() && version[0] >= '0' && version[0] <= '9' &&
                          version.find_first_not_of(kOfVersions) == std::string_view::npos;
  return std::string(is_version ? version : kUnknownVersion);
}

// "name @ address": the name is already read; the rest of the line begins with the address.
LockedPackage by_address(std::string_view name, std::string_view& line) {
  LockedPackage package;
  package.name = normalised_name(name.substr(0, std::min(name.size(), name.find('['))));
  package.url = std::string(next_word(line));
  package.version = version_in_address(package.url);
  package.direct = true;
  return package;
}

}  // namespace

Result<std::vector<LockedPackage>> packages_of_report(std::string_view text) {
  const json report = json::parse(text, nullptr, false);
  if (report.is_discarded()) return not_understood("pip's report is not JSON");
  std::vector<LockedPackage> packages;
  try {
    if (const auto version = report.at("version").get<std::string>(); version != "1")
      return not_understood(fmt::format("pip's report has version {}", version));
    for (const json& installed : report.at("install")) {
      TRY_ASSIGN(LockedPackage package, package_of(installed));
      packages.push_back(std::move(package));
    }
  } catch (const json::exception& failure) {
    return not_understood(failure.what());
  }
  sort_by_name(packages);
  return packages;
}

Result<std::vector<LockedPackage>> packages_of_compiled(std::string_view text) {
  constexpr std::string_view kHash = "--hash=sha256:";
  std::vector<LockedPackage> packages;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (word.front() == '#') break;
      if (word.starts_with(kHash)) {
        if (packages.empty()) return not_understood("a hash without a package");
        packages.back().sha256.emplace_back(word.substr(kHash.size()));
        continue;
      }
      // The hash, or a marker, which holds here.
      if (word.starts_with('-') || word.front() == ';') break;
      if (std::string_view rest = line; next_word(rest) == "@") {
        packages.push_back(by_address(word, rest));
        line = rest;
        continue;
      }
      auto package = pinned(word);
      if (!package) return cannot_lock(word, "it is not pinned to a version from an index");
      packages.push_back(std::move(*package));
    }
  }
  for (LockedPackage& package : packages) {
    if (package.sha256.empty()) return cannot_lock(package.name, "the index gives no SHA-256");
    std::sort(package.sha256.begin(), package.sha256.end());
  }
  sort_by_name(packages);
  return packages;
}

}  // namespace lockstep::envs
