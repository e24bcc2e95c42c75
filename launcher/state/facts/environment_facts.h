#pragma once
// The facts about environments: their versions, and locks that nodes solve. See fact.h.

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"
#include "launcher/state/people/names.h"

namespace lockstep::launcher {

// Registers an environment's name and version. They never refer to another definition later.
struct EnvironmentRegistered {
  static constexpr int kBody = 30;
  RegisteredEnvironment environment;
  std::string by;
  // the project of the name, set by its first version; "": the default one
  std::string project = {};
  std::string owner = {};           // the owner of the name; "": from before names had owners
  bool foreign = false;             // from before owners, by a user whom the owner had not let
  std::optional<Bytes> files = {};  // the bytes of its build folder; see AssetRegistered
  static void table(auto& s, auto&& see) {
    see(field<1>, "environment", s.environment);
    see(field<2>, "by", s.by);
    see(field<3>, "project", s.project);
    see(field<53>, "owner", s.owner);
    see(field<54>, "foreign", s.foreign);
    see(field<77>, "files", s.files);
  }
  static void mend(EnvironmentRegistered& s) {
    if (s.files) s.files = counted_files(*s.files);
  }
  friend bool operator==(const EnvironmentRegistered&, const EnvironmentRegistered&) = default;
};
// Sets the archived flag of a version. Compaction writes this fact anew, in place of all that it
// dropped.
struct EnvironmentArchived {
  static constexpr int kBody = 36;
  std::string name;
  std::string version;  // "": all versions that the name has now
  bool archived = true;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "version", s.version);
    see(field<3>, "archived", s.archived);
  }
  friend bool operator==(const EnvironmentArchived&, const EnvironmentArchived&) = default;
};
// The node asked for a lock, because its plan had none for its platform.
struct EnvironmentWanted {
  static constexpr int kBody = 31;
  AttemptId attempt;
  NodeId node;
  std::string platform;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "platform", s.platform);
  }
  friend bool operator==(const EnvironmentWanted&, const EnvironmentWanted&) = default;
};
// The node had the order to solve and failed, for a reason that may not apply to other nodes.
struct EnvironmentNotSolved {
  static constexpr int kBody = 35;
  AttemptId attempt;
  NodeId node;
  std::uint64_t generation = 0;
  std::string platform;
  Why why;  // the node's reason, bounded by kMaxNotSolvedBytes
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "generation", s.generation);
    see(field<4>, "platform", s.platform);
    see(reason_fields<5, 800>, "why", s.why);
  }
  friend bool operator==(const EnvironmentNotSolved&, const EnvironmentNotSolved&) = default;
};
// The definition is solved for the jobs of one account that have it, or of one family of the
// account. The lock is in the blob store.
struct EnvironmentLocked {
  static constexpr int kBody = 32;
  Digest definition;
  std::uint64_t generation = 0;
  EnvironmentLock lock;
  AttemptId attempt;  // the attempt for which it was solved
  NodeId node;        // the node that solved it
  // The account of these jobs. nullopt: a fact of an earlier version, whose locks were everybody's.
  std::optional<std::string> account = {};
  // Job::family of these jobs. nullopt: a fact of an earlier version, whose families had the
  // account's locks.
  std::optional<std::uint64_t> family = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "definition", s.definition);
    see(field<2>, "generation", s.generation);
    see(field<3>, "lock", s.lock);
    see(field<4>, "attempt", s.attempt);
    see(field<5>, "node", s.node);
    see(field<25>, "account", s.account);
    see(field<26>, "family", s.family);
  }
  friend bool operator==(const EnvironmentLocked&, const EnvironmentLocked&) = default;
};
// A user asked for a rebuild, or a node that had solved was revoked: the account's or the family's
// locks of earlier generations are no longer used.
struct EnvironmentReset {
  static constexpr int kBody = 33;
  Digest definition;
  std::uint64_t generation = 0;
  std::string by;
  std::optional<std::string> account = {};  // nullopt: a fact of an earlier version, for all
  std::uint64_t family = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "definition", s.definition);
    see(field<2>, "generation", s.generation);
    see(field<3>, "by", s.by);
    see(field<23>, "account", s.account);
    see(field<24>, "family", s.family);
  }
  friend bool operator==(const EnvironmentReset&, const EnvironmentReset&) = default;
};
// Nodes must delete the environments that they have not used since `unused_since`.
struct EnvironmentsPruned {
  static constexpr int kBody = 34;
  Instant unused_since;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "unused_since", s.unused_since);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const EnvironmentsPruned&, const EnvironmentsPruned&) = default;
};

}  // namespace lockstep::launcher
