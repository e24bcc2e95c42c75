#pragma once
// The result of solving an environment: each package to install, with the SHA-256 that it must
// have. A lock is a blob in the launcher's store; every node installs exactly these packages. It is
// sorted JSON, so that the same packages give the same digest.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::envs {

struct LockedPackage {
  std::string name;  // normalised: PEP 503
  std::string version;
  std::vector<std::string> sha256;  // the file must match one; 64 lower-case characters each
  std::string url;         // the URL of the chosen file; empty: any file with one of the hashes
  std::uint64_t size = 0;  // bytes; 0: unknown
  bool direct = false;     // requested by its URL: do not look for it in an index
  friend bool operator==(const LockedPackage&, const LockedPackage&) = default;
};

// A package of a conda channel.
struct LockedCondaPackage {
  std::string name, version, build;
  std::string url;
  std::string sha256;
  std::uint64_t size = 0;  // bytes; 0: unknown
  std::string record;      // the JSON record of the channel's index, with its dependencies
  friend bool operator==(const LockedCondaPackage&, const LockedCondaPackage&) = default;
};

// A container image.
struct LockedImage {
  std::string id;        // "sha256:…", the digest of its configuration, as engines show it
  std::string name;      // the image as the job names it; for messages
  std::string digest;    // the image in a registry: "debian@sha256:…"; "" = in no registry
  std::string node;      // the node that found or built it; for messages
  bool in_tree = false;  // the lock's tree has the image, in kImageFolder
  // The activation of packages that were added to the image.
  std::string interpreter, version;
  std::vector<std::string> path;
  std::map<std::string, std::string> variables;
  friend bool operator==(const LockedImage&, const LockedImage&) = default;
};
inline constexpr std::string_view kImageFolder = "image";  // an unpacked archive of `docker save`

struct Lock {
  std::string provider;                        // "venv", "conda", "docker"
  std::string platform;                        // the target: platform_of or Site::platform
  std::string solver;                          // "uv 0.13.9", "pip 23.0.1"; for messages
  std::vector<LockedPackage> packages;         // packages of Python indexes, sorted by name
  std::vector<LockedCondaPackage> conda = {};  // installed before `packages`; sorted by name
  std::optional<LockedImage> image = {};       // the image that has all the packages
  friend bool operator==(const Lock&, const Lock&) = default;
};

inline constexpr std::size_t kMaxLockBytes = 16 << 20;

std::string to_json(const Lock& lock);
// Reads a lock; returns corrupt, with the reason, if `text` is not one.
Result<Lock> lock_from_json(std::string_view text);

// "Foo_Bar.baz" -> "foo-bar-baz" (PEP 503).
std::string normalised_name(std::string_view name);

// A requirements file that makes pip and uv install exactly the lock: "name==version
// --hash=sha256:…". `kept`: a package requested by its URL is fetched from there: "name @ url
// --hash=…".
enum class Addresses { kept, left_out };
std::string hashed_requirements(const Lock& lock, Addresses addresses = Addresses::kept);

}  // namespace lockstep::envs
