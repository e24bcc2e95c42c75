#pragma once
// The names of environments, data, models and components: who owns each, who else may add versions,
// and what the versions of each user and project come to. The versions themselves are in State
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
AssetKind asset_kind_of(NameKind kind);    // of an environment: any

// The owner lets a user, or all submitters of the name's project, add versions; or no longer.
struct NameShared {
  static constexpr int kBody = 560;
  NameKind kind = NameKind::environment;
  std::string name;
  std::string user;  // "": all of the project
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
  std::string version;  // "": all, and the name: whoever registers it next owns it
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "version", s.version);
    see(field<4>, "by", s.by);
  }
  friend bool operator==(const VersionsDeleted&, const VersionsDeleted&) = default;
};
// Sets all that is known of a name beside its versions. Compaction writes this fact in place of
// those that it dropped.
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

// All that people note about a version from now on. Compaction writes it into the fact that
// registered the version.
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

// A name stays its owner's when its last version is deleted: jobs and files of theirs may still
// name it. It then counts as one version.
struct OwnedName {
  std::string owner;    // a user, who registered the first version
  std::string project;  // set by the first version
  NameGrants grants;
  std::uint64_t last_number = 0;  // the highest that a version had, deleted ones too
  std::size_t versions = 0;
  friend bool operator==(const OwnedName&, const OwnedName&) = default;
};

// The number that the version is; 0: it is a word, or too long to count on from.
std::uint64_t number_of_version(const std::string& version);

// What of it the launcher keeps in memory and in its journal.
std::int64_t version_bytes(const RegisteredEnvironment& environment);
std::int64_t version_bytes(const RegisteredAsset& asset);

// A tree may name one file so often that its size exceeds every sum. No quota allows so much.
inline Bytes counted_files(Bytes size) { return {std::min(size.count, kMaxQuotaValue + 1)}; }

inline constexpr std::size_t kMaxVersions = 1'000'000;  // of all names of a launcher

class Names {
 public:
  // A version that is registered or deleted.
  struct Version {
    NameKey key;
    std::string version, by;
    std::int64_t bytes = 0;  // version_bytes()
    Bytes files;
  };

  const std::map<NameKey, OwnedName>& all() const { return names_; }
  const OwnedName* find(NameKind kind, const std::string& name) const;  // null: it is nobody's
  std::size_t versions() const { return versions_; }                    // of all names

  // `owner`: of the name when the fact was made; "": before names had owners. True: the version is
  // by somebody who had no right to it, as such facts may be.
  bool registered(const Version& version, const std::string& owner, const std::string& project,
                  bool foreign, UsageTable& usage);
  void deleted(const Version& version, UsageTable& usage);
  // A version of `by` has so many more bytes.
  void grown(const NameKey& key, const std::string& by, std::int64_t bytes, UsageTable& usage);
  void released(const NameKey& key, UsageTable& usage);  // it has no versions, and is nobody's now
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

// True if @latest may be this version: its maker had the right to add it, or has been given it
// since.
inline bool counts(bool foreign, const std::string& by, const OwnedName& name) {
  return !foreign || name.grants.has(by);
}

}  // namespace lockstep::launcher
