#include "launcher/files/environment/conda_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/trimmed.h"
#include "common/grammar/conda_channel.h"
#include "launcher/files/environment/requirements.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kExplicit = "@EXPLICIT";
constexpr std::string_view kPip = "# pip ";            // conda-lock's mark in an @EXPLICIT file
constexpr std::string_view kPlatform = "# platform:";  // conda's mark in an @EXPLICIT file
constexpr std::string_view kNoarch = "noarch";
constexpr std::size_t kMd5Digits = 32, kSha256Digits = 64;

Error wrong(std::string message, ErrorCode code = ErrorCode::invalid_argument) {
  return make_error(code, std::move(message));
}

bool is_linux(std::string_view platform) { return platform.starts_with("linux-"); }

// "sha256:HEX", from a hash with or without the name of its algorithm.
Result<std::string> read_hash(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view kind = colon == std::string_view::npos ? "" : text.substr(0, colon);
  std::string hex(colon == std::string_view::npos ? text : text.substr(colon + 1));
  for (char& c : hex) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool digits = hex.find_first_not_of("0123456789abcdef") == std::string::npos;
  const bool is_md5 = hex.size() == kMd5Digits && (kind.empty() || kind == "md5");
  const bool is_sha256 = hex.size() == kSha256Digits && (kind.empty() || kind == "sha256");
  if (!digits || (!is_md5 && !is_sha256))
    return wrong(fmt::format(
        "'{}' is not a valid hash; write 64 hexadecimal digits for SHA-256, or 32 for MD5", text));
  return (is_md5 ? "md5:" : "sha256:") + hex;
}

// The parts of an address that ends with "linux-64/zlib-1.3.1-h1_0.conda".
struct Address {
  std::string_view subdir;
  std::string_view name;  // the package's name
};

Result<Address> read_address(std::string_view url) {
  const auto bad = [&](std::string_view why) { return wrong(fmt::format("'{}': {}", url, why)); };
  if (url.size() > kMaxEnvironmentLineBytes)
    return wrong(fmt::format("an address has {} bytes; at most {} are possible", url.size(),
                             kMaxEnvironmentLineBytes));
  TRY(check_no_secret(url, kNoPasswordOfConda));
  if (url.find("://") == std::string_view::npos) return bad("is not the address of a package");
  TRY(check_address(url));
  const auto slash = url.rfind('/');
  std::string_view file = url.substr(slash + 1);
  const std::string_view before = url.substr(0, slash);
  Address address{before.substr(before.rfind('/') + 1), {}};
  const std::string_view ending = file.ends_with(".conda") ? ".conda" : ".tar.bz2";
  if (!file.ends_with(ending))
    return bad("is not the address of a package; it must end with .conda or .tar.bz2");
  file.remove_suffix(ending.size());
  for (int part = 0; part < 2; ++part) {  // drops the build, then the version
    const auto dash = file.rfind('-');
    if (dash == std::string_view::npos || dash == 0)
      return bad(
          "is not the address of a package; the file name must have the form "
          "NAME-VERSION-BUILD.conda");
    file = file.substr(0, dash);
  }
  address.name = file;
  if (address.subdir == kNoarch || is_linux(address.subdir)) return address;
  return wrong(
      fmt::format(
          "'{}': is a package for '{}'; nodes run packages for linux-64, linux-aarch64 or noarch",
          url, address.subdir),
      ErrorCode::unsupported);
}

// The packages of a lock, by platform; each package once.
class Packages {
 public:
  Status add(std::string_view platform, std::string_view name, std::string_view url,
             const std::string& hash) {
    std::string entry = fmt::format("{}#{}", url, hash);
    auto& known = named_[std::string(platform)];
    const auto [found, is_new] = known.emplace(name, entry);
    if (is_new || found->second == entry) return {};
    return wrong(fmt::format("'{}' is listed twice, with different addresses or hashes", name));
  }

  // Takes the packages, sorted, because the order in a lock file has no meaning.
  std::map<std::string, std::vector<std::string>> take() const {
    std::map<std::string, std::vector<std::string>> locked;
    for (const auto& [platform, packages] : named_)
      for (const auto& [name, entry] : packages) locked[platform].push_back(entry);
    return locked;
  }

 private:
  std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> named_;
};

// ---- @EXPLICIT ---------------------------------------------------------------------------------

class ExplicitReader {
 public:
  Status read_line(std::string_view line) {
    if (line.starts_with(kPlatform)) return check_platform(trimmed(line.substr(kPlatform.size())));
    if (line.starts_with(kPip)) return add_requirement(line.substr(kPip.size()), pip_);
    if (line.empty() || line[0] == '#' || line == kExplicit) return {};
    const auto mark = line.find('#');
    const std::string_view url = line.substr(0, mark);
    TRY_ASSIGN(const Address address, read_address(url));
    if (mark == std::string_view::npos)
      return wrong(fmt::format(
          "'{}' has no hash; make the file with: conda list --explicit --md5, or --sha256", url));
    TRY_ASSIGN(const std::string hash, read_hash(line.substr(mark + 1)));
    if (address.subdir != kNoarch && !platform_.empty() && address.subdir != platform_)
      return wrong(
          fmt::format("'{}': is a package for '{}', but earlier packages are for '{}'; write one "
                      "file for each platform",
                      url, address.subdir, platform_));
    if (address.subdir != kNoarch) platform_ = address.subdir;
    return packages_.add("", address.name, url, hash);
  }

  Result<CondaEnvironment> finish() {
    CondaEnvironment conda;
    auto locked = packages_.take();
    if (locked.empty()) return wrong("names no package");
    conda.locked[platform_] = std::move(locked[""]);
    conda.options = std::move(pip_.options);
    conda.requirements = std::move(pip_.requirements);
    return conda;
  }

 private:
  static Status check_platform(std::string_view platform) {
    if (is_linux(platform) || platform == kNoarch) return {};
    return wrong(fmt::format("is a lock for '{}'; nodes run linux-64 or linux-aarch64", platform),
                 ErrorCode::unsupported);
  }

  std::string platform_;  // "" while all packages are noarch
  Packages packages_;
  VenvEnvironment pip_;
};

// ---- conda-lock.yml ----------------------------------------------------------------------------

class LockReader {
 public:
  LockReader(const Source& source, const YamlNode& root, const std::string& section)
      : source_(source), root_(root), section_(section) {}

  Result<CondaEnvironment> read(Notes& notes) {
    TRY(check_keys());
    TRY_ASSIGN(const YamlEntry* found, find_packages());
    const YamlEntry& packages = *found;
    for (const YamlNode& package : packages.value.items) TRY(read_package(package));
    if (platforms_.empty() && !left_out_.empty())
      return error(
          packages.place,
          fmt::format("'{}package' has packages for Linux only in other categories than 'main', "
                      "and those are not installed: {}; move them to 'main' and lock again",
                      section_, fmt::join(left_out_, ", ")),
          ErrorCode::unsupported);
    if (platforms_.empty())
      return error(packages.place,
                   fmt::format("'{}package' has no packages for Linux; make the lock file with: "
                               "conda-lock -p linux-64",
                               section_),
                   ErrorCode::unsupported);
    if (!left_out_.empty())
      notes.push_back(
          fmt::format("{}: packages of other categories than 'main' are not installed: {}",
                      source_.where(packages.place), fmt::join(left_out_, ", ")));
    CondaEnvironment conda;
    conda.locked = packages_.take();
    TRY(add_pip(conda));
    return conda;
  }

 private:
  Error error(const Place& place, const std::string& message,
              ErrorCode code = ErrorCode::invalid_argument) const {
    return source_.error(place, message, code);
  }

  Status check_keys() const {
    for (const YamlEntry& entry : root_.entries)
      if (entry.key != "version" && entry.key != "metadata" && entry.key != "package")
        return error(entry.place, fmt::format("unknown key '{}{}' in a lock file of conda-lock; "
                                              "the known keys are version, metadata and package",
                                              section_, entry.key));
    const YamlEntry* version = root_.find("version");
    if (version == nullptr)
      return error(root_.place,
                   fmt::format("a lock file of conda-lock needs '{}version'", section_));
    if (version->value.text != "1")
      return error(
          version->value.place,
          fmt::format(
              "'{}version': lock files of version '{}' are not supported, only of version 1",
              section_, version->value.text),
          ErrorCode::unsupported);
    return {};
  }

  Result<const YamlEntry*> find_packages() const {
    const YamlEntry* packages = root_.find("package");
    if (packages != nullptr && packages->value.kind == YamlNode::Kind::sequence) return packages;
    return error(packages == nullptr ? root_.place : packages->place,
                 fmt::format("a lock file of conda-lock needs a list '{}package'; make the file "
                             "with: conda-lock -p linux-64",
                             section_));
  }

  // "": missing; a value that is not a text counts as missing.
  static std::string text(const YamlNode& package, std::string_view key) {
    const YamlEntry* entry = package.find(key);
    return entry == nullptr ? "" : entry->value.text;
  }

  Status read_package(const YamlNode& package) {
    if (package.kind != YamlNode::Kind::mapping)
      return error(package.place,
                   fmt::format("a package must be a mapping, not {}", describe(package.kind)));
    const std::string platform = text(package, "platform");
    const std::string name = text(package, "name");
    for (std::string_view key : {"name", "manager", "platform", "url"})
      if (text(package, key).empty())
        return error(package.place, fmt::format("this package has no '{}'", key));
    if (!is_linux(platform)) return {};
    const std::string category = text(package, "category");
    if (!category.empty() && category != "main") {
      left_out_.insert(name);
      return {};
    }
    platforms_.insert(platform);
    const std::string manager = text(package, "manager");
    const Status added = manager == "conda" ? add_conda(package, platform, name)
                         : manager == "pip"
                             ? read_pip_package(package, platform, name)
                             : wrong(fmt::format("the manager '{}' is not conda or pip", manager));
    return added ? Status() : error(package.place, added.error().message, added.error().code);
  }

  Status add_conda(const YamlNode& package, const std::string& platform, const std::string& name) {
    const std::string url = text(package, "url");
    TRY_ASSIGN(const Address address, read_address(url));
    if (address.subdir != kNoarch && address.subdir != platform)
      return wrong(
          fmt::format("'{}': this address is not for the package's platform, '{}'", url, platform));
    TRY_ASSIGN(const std::string hash, hash_of(package, name, true));
    return packages_.add(platform, name, url, hash);
  }

  Status read_pip_package(const YamlNode& package, const std::string& platform,
                          const std::string& name) {
    TRY_ASSIGN(const std::string hash, hash_of(package, name, false));
    const std::string at = fmt::format("{} @ {}", name, text(package, "url"));
    VenvEnvironment checked;
    TRY(add_requirement(at, checked));
    pip_[{at, " --hash=" + hash}].insert(platform);
    return {};
  }

  static Result<std::string> hash_of(const YamlNode& package, const std::string& name,
                                     bool md5_will_do) {
    const YamlEntry* hashes = package.find("hash");
    const YamlEntry* sha256 = hashes == nullptr ? nullptr : hashes->value.find("sha256");
    if (sha256 != nullptr && !sha256->value.text.empty())
      return read_hash("sha256:" + sha256->value.text);
    const YamlEntry* md5 = hashes == nullptr ? nullptr : hashes->value.find("md5");
    if (md5_will_do && md5 != nullptr && !md5->value.text.empty())
      return read_hash("md5:" + md5->value.text);
    return wrong(
        fmt::format("'{}' has no hash.sha256{}", name, md5_will_do ? ", and no hash.md5" : ""));
  }

  // Packages of one platform get a marker: the requirements are one text for all platforms.
  Status add_pip(CondaEnvironment& conda) const {
    VenvEnvironment venv;
    for (const auto& [requirement, platforms] : pip_) {
      std::string marker;
      for (const std::string& platform : platforms) {
        std::string machine = platform.substr(platform.find('-') + 1);
        if (machine == "64") machine = "x86_64";
        marker += fmt::format("{}platform_machine == '{}'", marker.empty() ? "" : " or ", machine);
      }
      if (platforms.size() == platforms_.size()) marker.clear();
      venv.requirements.push_back(requirement.first + (marker.empty() ? "" : " ; " + marker) +
                                  requirement.second);
    }
    conda.requirements = std::move(venv.requirements);
    return {};
  }

  const Source& source_;
  const YamlNode& root_;
  const std::string& section_;
  Packages packages_;
  std::set<std::string> platforms_;  // the platforms of Linux in the lock
  std::set<std::string> left_out_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> pip_;
};

}  // namespace

bool is_explicit_lock(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line[0] != '#') return line == kExplicit;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return false;
}

bool is_conda_lock(const YamlNode& root) {
  const YamlEntry* packages = root.find("package");
  if (packages != nullptr && packages->value.kind == YamlNode::Kind::sequence) return true;
  return root.find("version") != nullptr &&
         (packages != nullptr || root.find("metadata") != nullptr);
}

Status refuse_pixi_lock(const Source& source, const YamlNode& root) {
  if (root.find("environments") == nullptr || root.find("packages") == nullptr) return {};
  return source.error(root.place,
                      "is a lock file of pixi, which is not supported; make a lock file that "
                      "begins with @EXPLICIT: pixi workspace export conda-explicit-spec DIRECTORY",
                      ErrorCode::unsupported);
}

Result<CondaEnvironment> read_explicit_lock(const Source& source) {
  if (source.text.size() > kMaxCondaBytes)
    return source.error(Place{}, fmt::format("has {} bytes; a lock file has at most {}",
                                             source.text.size(), kMaxCondaBytes));
  TRY(check_text(source));
  ExplicitReader reader;
  std::string_view text = source.text;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const Status read = reader.read_line(trimmed(text.substr(0, end)));
    if (!read)
      return source.error(Place{number, 1, 0, {}}, read.error().message, read.error().code);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  auto conda = reader.finish();
  if (!conda) return source.error(Place{}, conda.error().message, conda.error().code);
  return conda;
}

Result<CondaEnvironment> read_conda_lock(const Source& source, const YamlNode& root,
                                         const std::string& section, Notes& notes) {
  return LockReader(source, root, section).read(notes);
}

}  // namespace lockstep::spec
