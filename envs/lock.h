#pragma once
// The result of solving an environment: each package to install, with its required SHA-256. A lock
// is a blob in the launcher's store; every node installs exactly this. As JSON, sorted, so that the
// same packages have the same digest.

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
  std::vector<std::string> sha256;  // one of them must hold; 64 lower-case characters each
  std::string url;                  // of the one file that was chosen; empty: any with such a hash
  std::uint64_t size = 0;           // bytes; 0: not known
  bool direct = false;              // asked for by its address: no index is to be asked for it
  friend bool operator==(const LockedPackage&, const LockedPackage&) = default;
};

// A package of a conda channel.
struct LockedCondaPackage {
  std::string name, version, build;
  std::string url;
  std::string sha256;
  std::uint64_t size = 0;  // bytes; 0: not known
  std::string record;      // JSON, as the channel's index has it: what it needs, where it goes
  friend bool operator==(const LockedCondaPackage&, const LockedCondaPackage&) = default;
};

// A container's image.
struct LockedImage {
  std::string id;        // "sha256:…", as engines say it: of its configuration
  std::string name;      // as it was asked for; for people
  std::string digest;    // "debian@sha256:…", by which a registry has it; "" = none does
  std::string node;      // where it was found or built; for people
  bool in_tree = false;  // the lock's tree has it, in kImageFolder
  // Of packages that were put into it: what they give to ranks.
  std::string interpreter, version;
  std::vector<std::string> path;
  std::map<std::string, std::string> variables;
  friend bool operator==(const LockedImage&, const LockedImage&) = default;
};
inline constexpr std::string_view kImageFolder = "image";  // as `docker save` writes it, unpacked

struct Lock {
  std::string provider;                        // "venv", "conda", "docker"
  std::string platform;                        // what it was solved for: see platform.h
  std::string solver;                          // "uv 0.13.9", "pip 23.0.1"; for people
  std::vector<LockedPackage> packages;         // sorted by name
  std::vector<LockedCondaPackage> conda = {};  // below them; sorted by name
  std::optional<LockedImage> image = {};       // that has all of them
  friend bool operator==(const Lock&, const Lock&) = default;
};

inline constexpr std::size_t kMaxLockBytes = 16 << 20;

std::string to_json(const Lock& lock);
// corrupt: the text is not a lock; the message says why.
Result<Lock> lock_from_json(std::string_view text);

// "Foo_Bar.baz" -> "foo-bar-baz" (PEP 503).
std::string normalised_name(std::string_view name);

// A requirements file that holds pip and uv to it: "name==version --hash=sha256:…".
// `kept`: what was asked for by its address is fetched from there, "name @ address --hash=…".
enum class Addresses { kept, left_out };
std::string hashed_requirements(const Lock& lock, Addresses addresses = Addresses::kept);

}  // namespace lockstep::envs
