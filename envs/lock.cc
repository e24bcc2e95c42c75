#include "envs/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "common/base/digest.h"

namespace lockstep::envs {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr int kMaxDepth = 64;

Error broken(std::string_view what) {
  return make_error(ErrorCode::corrupt, fmt::format("the environment's lock is broken: {}", what));
}

// The user's process wrote the text. Nesting is limited, because writing a value needs stack for
// each level.
Result<json> parse(std::string_view text) {
  bool is_too_deep = false;
  json parsed = json::parse(
      text,
      [&](int depth, json::parse_event_t, json&) {
        is_too_deep = is_too_deep || depth > kMaxDepth;
        return !is_too_deep;
      },
      false);
  if (is_too_deep) return broken(fmt::format("it has more than {} levels", kMaxDepth));
  if (parsed.is_discarded()) return broken("it is not JSON");
  return parsed;
}

// Throws json::exception when a key is missing or has another type.
LockedPackage package_from(const json& from) {
  LockedPackage package;
  from.at("name").get_to(package.name);
  from.at("version").get_to(package.version);
  from.at("sha256").get_to(package.sha256);
  package.url = from.value("url", "");
  package.size = from.value("size", std::uint64_t{0});
  package.direct = from.value("direct", false);
  return package;
}

LockedCondaPackage conda_package_from(const json& from) {
  LockedCondaPackage package;
  from.at("name").get_to(package.name);
  from.at("version").get_to(package.version);
  from.at("build").get_to(package.build);
  from.at("url").get_to(package.url);
  from.at("sha256").get_to(package.sha256);
  package.size = from.value("size", std::uint64_t{0});
  package.record = from.at("record").dump();
  return package;
}

json as_json(const LockedPackage& package) {
  json one{{"name", package.name}, {"version", package.version}, {"sha256", package.sha256}};
  if (!package.url.empty()) one["url"] = package.url;
  if (package.size != 0) one["size"] = package.size;
  if (package.direct) one["direct"] = true;
  return one;
}

// A package as JSON. Text that is not JSON becomes null, which is refused when it is read.
json as_json(const LockedCondaPackage& package) {
  const json record = json::parse(package.record, nullptr, false);
  json one{{"name", package.name},     {"version", package.version},
           {"build", package.build},   {"url", package.url},
           {"sha256", package.sha256}, {"record", record.is_discarded() ? json() : record}};
  if (package.size != 0) one["size"] = package.size;
  return one;
}

LockedImage image_from(const json& from) {
  LockedImage image;
  from.at("id").get_to(image.id);
  from.at("name").get_to(image.name);
  image.digest = from.value("digest", "");
  image.node = from.value("node", "");
  image.in_tree = from.value("in_tree", false);
  image.interpreter = from.value("interpreter", "");
  image.version = from.value("version", "");
  image.path = from.value("path", std::vector<std::string>());
  image.variables = from.value("variables", std::map<std::string, std::string>());
  return image;
}

json as_json(const LockedImage& image) {
  json one{{"id", image.id}, {"name", image.name}, {"node", image.node}};
  if (!image.digest.empty()) one["digest"] = image.digest;
  if (image.in_tree) one["in_tree"] = true;
  if (!image.interpreter.empty()) one["interpreter"] = image.interpreter;
  if (!image.version.empty()) one["version"] = image.version;
  if (!image.path.empty()) one["path"] = image.path;
  if (!image.variables.empty()) one["variables"] = image.variables;
  return one;
}

// Checks an image's values, which become arguments of an engine's command line.
Status check(const LockedImage& image) {
  constexpr std::string_view kSha256 = "sha256:";
  if (!image.id.starts_with(kSha256) || !Digest::from_hex(image.id.substr(kSha256.size())))
    return broken(fmt::format("'{}' is not a valid image id", image.id));
  const auto at = image.digest.rfind("@sha256:");
  const bool is_whole = at != std::string::npos && at > 0 && image.digest[0] != '-' &&
                        Digest::from_hex(image.digest.substr(at + 1 + kSha256.size()));
  if (!image.digest.empty() && !is_whole)
    return broken(fmt::format("'{}' is not a valid image digest", image.digest));
  return {};
}

// Names and versions become lines of a file that pip reads, so they may hold no blanks and no
// options.
bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._-+!").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// Whether a text is a word: a word of a conda package becomes a part of a file name.
bool is_word(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return c <= ' ' || c == 0x7f || c == '/' || c == '\\';
  });
}

bool is_address(std::string_view text) {
  return text.find("://") != std::string_view::npos &&
         std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

Status check(const LockedCondaPackage& package) {
  if (!is_word(package.name))
    return broken(fmt::format("'{}' is not a valid name of a conda package", package.name));
  if (!is_word(package.version))
    return broken(fmt::format("'{}' is not a valid version of {}", package.version, package.name));
  if (!is_word(package.build))
    return broken(fmt::format("'{}' is not a valid build of {}", package.build, package.name));
  if (!is_address(package.url))
    return broken(fmt::format("'{}' is not a valid address of {}", package.url, package.name));
  if (!Digest::from_hex(package.sha256))
    return broken(fmt::format("'{}' is not a valid SHA-256 of {}", package.sha256, package.name));
  if (!json::parse(package.record, nullptr, false).is_object())
    return broken(fmt::format("the record of {} is not a JSON object", package.name));
  return {};
}

Status check(const Lock& lock) {
  if (lock.image) TRY(check(*lock.image));
  for (const LockedCondaPackage& package : lock.conda) TRY(check(package));
  for (const LockedPackage& package : lock.packages) {
    if (!is_plain(package.name) || package.name != normalised_name(package.name))
      return broken(fmt::format("'{}' is not a valid package name", package.name));
    if (!is_plain(package.version))
      return broken(
          fmt::format("'{}' is not a valid version of {}", package.version, package.name));
    if (package.direct &&
        (package.url.empty() || package.url.find_first_of(" \t\n") != std::string::npos))
      return broken(fmt::format("'{}' is not a valid address of {}", package.url, package.name));
    if (package.sha256.empty()) return broken(fmt::format("{} has no hash", package.name));
    for (const std::string& hash : package.sha256)
      if (!Digest::from_hex(hash))
        return broken(fmt::format("'{}' is not a valid SHA-256 of {}", hash, package.name));
  }
  return {};
}

}  // namespace

std::string to_json(const Lock& lock) {
  json packages = json::array();
  for (const LockedPackage& package : lock.packages) packages.push_back(as_json(package));
  json out{{"format", kFormat},
           {"provider", lock.provider},
           {"platform", lock.platform},
           {"solver", lock.solver},
           {"packages", std::move(packages)}};
  for (const LockedCondaPackage& package : lock.conda) out["conda"].push_back(as_json(package));
  if (lock.image) out["image"] = as_json(*lock.image);
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Lock> lock_from_json(std::string_view text) {
  TRY_ASSIGN(const json from, parse(text));
  Lock lock;
  try {
    if (const int format = from.at("format").get<int>(); format != kFormat)
      return broken(fmt::format("its format is {}; this Lockstep reads {}", format, kFormat));
    from.at("provider").get_to(lock.provider);
    from.at("platform").get_to(lock.platform);
    from.at("solver").get_to(lock.solver);
    for (const json& package : from.at("packages")) lock.packages.push_back(package_from(package));
    if (from.contains("conda"))
      for (const json& package : from.at("conda"))
        lock.conda.push_back(conda_package_from(package));
    if (from.contains("image")) lock.image = image_from(from.at("image"));
  } catch (const json::exception& failure) {
    return broken(failure.what());
  }
  TRY(check(lock));
  return lock;
}

std::string normalised_name(std::string_view name) {
  std::string out;
  bool gap = false;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.') {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += '-';
    gap = false;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string hashed_requirements(const Lock& lock, Addresses addresses) {
  std::string out;
  for (const LockedPackage& package : lock.packages) {
    const bool by_address = package.direct && addresses == Addresses::kept;
    out += by_address ? fmt::format("{} @ {}", package.name, package.url)
                      : fmt::format("{}=={}", package.name, package.version);
    for (const std::string& hash : package.sha256) out += " --hash=sha256:" + hash;
    out += '\n';
  }
  return out;
}

}  // namespace lockstep::envs
