#pragma once
// The names of environments, data, models and components: who owns each, who else may add versions,
// and how much the versions of each user and project take. The versions themselves are in State
// (environments) and Assets. Part of State, and so the fold of facts.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/base/bytes.h"
#include "common/base/table.h"
#include "common/domain/data/name_grants.h"
#include "common/domain/data/shared_name.h"
#include "common/domain/environment/definition.h"
#include "launcher/state/people/usage.h"

namespace lockstep::launcher {

struct NameKey {
  NameKind kind = NameKind::environment;
  std::string name;
  friend auto operator<=>(const NameKey&, const NameKey&) = default;
};
std::string describe(const NameKey& key);  // "environment 'team'"
AssetKind asset_kind_of(NameKind kind);    // for an environment: a meaningless value

// The owner allows a user, or all submitters of the name's project, to add versions; or no longer.
struct NameShared {
  static constexpr int kBody = 560;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string user;  // "": all submitters of the project
  bool shared = true;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "user", s.user);
    see(field<4>, "shared", s.shared);
    see(field<5>, "by", s.by);
  }
  friend bool operator==(const NameShared&, const NameShared&) = default;
};
struct VersionsDeleted {
  static constexpr int kBody = 561;
  NameKind kind = NameKind::environment;
  std::string name;
  // "": all versions, and the name itself: the next user who registers it owns it
  std::string version;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
    see(field<4>, "by", s.by);
  }
  friend bool operator==(const VersionsDeleted&, const VersionsDeleted&) = default;
};
// Sets everything that is known about a name beside its versions. Compaction writes this fact in
// place of those that it dropped.
struct NameSettled {
  static constexpr int kBody = 562;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string owner, project;
  NameGrants grants;
  std::uint64_t last_number = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "owner", s.owner);
    see(field<4>, "project", s.project);
    see(field<5>, "grants", s.grants);
    see(field<6>, "last_number", s.last_number);
  }
  friend bool operator==(const NameSettled&, const NameSettled&) = default;
};

inline constexpr std::size_t kMostVersionTags = 1'000;  // an environment may have so many

// Replaces the texts of a version. Compaction writes them into the fact that registered the
// version.
struct VersionAnnotated {
  static constexpr int kBody = 563;
  NameKind kind = NameKind::environment;
  std::string name, version;
  std::string description;
  std::map<std::string, std::string> tags;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
    see(field<4>, "description", s.description);
    see(field<5>, "tags", s.tags, {.count = kMostVersionTags});
    see(field<6>, "by", s.by);
  }
  friend bool operator==(const VersionAnnotated&, const VersionAnnotated&) = default;
};

// A name whose last version was deleted stays its owner's, because their jobs and files may still
// use it. It then counts as one version.
struct OwnedName {
  std::string owner;    // the user who registered the first version
  std::string project;  // set by the first version
  NameGrants grants;
  // The highest number that a version has had, deleted ones included.
  std::uint64_t last_number = 0;
  std::size_t versions = 0;
  friend bool operator==(const OwnedName&, const OwnedName&) = default;
};

// The version as a number; 0: it is not a number, or too long to continue from.
std::uint64_t number_of_version(const std::string& version);

// The bytes that the launcher keeps for the version in memory and in its journal.
std::int64_t version_bytes(const RegisteredEnvironment& environment);
std::int64_t version_bytes(const RegisteredAsset& asset);

// A tree may contain one file so often that its size overflows sums. So sizes are limited to more
// than any quota allows.
inline Bytes counted_files(Bytes size) { return {std::min(size.count, kMaxQuotaValue + 1)}; }

inline constexpr std::size_t kMaxVersions = 1'000'000;  // for all names of a launcher together

class Names {
 public:
  // A version that is being registered or deleted.
  struct Version {
    NameKey key;
    std::string version, by;
    std::int64_t bytes = 0;  // version_bytes()
    Bytes files;
  };

  const std::map<NameKey, OwnedName>& all() const { return names_; }
  // null: the name has no owner
  const OwnedName* find(NameKind kind, const std::string& name) const;
  std::size_t versions() const { return versions_; }  // the number of versions of all names

  // Adds a version. `owner`: the name's owner when the fact was made; "": before names had owners.
  // True: the maker had no right to add the version, which facts of earlier versions may have.
  bool registered(const Version& version, const std::string& owner, const std::string& project,
                  bool foreign, UsageTable& usage);
  void deleted(const Version& version, UsageTable& usage);
  // Notes that the version of `by` now takes this many more bytes.
  void grown(const NameKey& key, const std::string& by, std::int64_t bytes, UsageTable& usage);
  // Removes a name that has no versions; it has no owner then.
  void released(const NameKey& key, UsageTable& usage);
  void apply(const NameShared& fact);
  void apply(const NameSettled& fact, UsageTable& usage);

  friend bool operator==(const Names&, const Names&) = default;

 private:
  std::map<NameKey, OwnedName> names_;
  std::size_t versions_ = 0;
};

// Calls `take` with each registered version that the job, or a step of it, names, as
// "NAME:VERSION".
void each_named_version(const JobSpec& spec,
                        const std::function<void(NameKind kind, std::string version)>& take);

// Whether @latest may be this version: its maker had the right to add it, or has got it since.
inline bool counts(bool foreign, const std::string& by, const OwnedName& name) {
  return !foreign || name.grants.has(by);
}

}  // namespace lockstep::launcher
