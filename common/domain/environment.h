#pragma once
// The definition of a job's interpreter and packages, as content and not as paths. The whole
// definition is in the job's spec, so that every node and every retry uses the same. launcher/spec
// makes it, or it is registered by name. Its digest is that of the canonical form, which leaves out
// names, versions and descriptions (docs/decisions/019-environments.md). Nothing here solves or
// installs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"

namespace lockstep {

// Managed by the user: every node checks that the interpreter is there, and installs nothing.
struct HostEnvironment {
  std::string interpreter;  // absolute, or a name on PATH; empty: PATH as it is
  friend bool operator==(const HostEnvironment&, const HostEnvironment&) = default;
};

// Packages from an index of Python packages, in a virtual environment. Options and requirements
// keep the order of the file, because pip applies an option from its line on.
struct VenvEnvironment {
  std::string python = "python3";         // absolute, or a name on PATH
  std::vector<std::string> options;       // of a requirements file: "--index-url …", one each
  std::vector<std::string> requirements;  // PEP 508, with --hash options where the file has them
  std::vector<std::string> constraints;
  friend bool operator==(const VenvEnvironment&, const VenvEnvironment&) = default;
};

// Packages of conda channels, and of an index of Python packages on top of them. Sections of a
// conda file in the order in which they stand; `locked` instead of `dependencies` where the file is
// a lock.
struct CondaEnvironment {
  std::vector<std::string> channels;      // names or addresses, the preferred one first
  bool strict_priority = true;            // a package comes from the first channel that has it
  std::vector<std::string> dependencies;  // match specs: "numpy=1.26", "conda-forge::zlib"
  // What a lock file names: platform ("linux-64"; "" = all) -> "URL#sha256:HEX" or "URL#md5:HEX".
  std::map<std::string, std::vector<std::string>> locked;
  std::vector<std::string> options;  // of its pip section; these three as in VenvEnvironment
  std::vector<std::string> requirements;
  std::vector<std::string> constraints;
  std::map<std::string, std::string> variables;  // set when it is active
  friend bool operator==(const CondaEnvironment&, const CondaEnvironment&) = default;
};

// How an image is built: the build context, a tree in the launcher's store, and the Dockerfile in
// it.
struct ImageBuild {
  Digest context;  // all zero until it is captured; the launcher refuses zero
  std::string dockerfile = "Dockerfile";
  friend bool operator==(const ImageBuild&, const ImageBuild&) = default;
};

// A container image, named or to be built, and conda packages that are installed in it.
struct DockerEnvironment {
  std::string image;  // "debian:12", "registry:5000/team/train@sha256:…"; "" = it is built
  std::optional<ImageBuild> build;
  std::optional<CondaEnvironment> conda;
  friend bool operator==(const DockerEnvironment&, const DockerEnvironment&) = default;
};

using EnvironmentDefinition =
    std::variant<HostEnvironment, VenvEnvironment, CondaEnvironment, DockerEnvironment>;

struct EnvironmentSpec {
  std::string name;     // as registered, or as the file says; for people
  std::string version;  // the same
  EnvironmentDefinition definition;
  friend bool operator==(const EnvironmentSpec&, const EnvironmentSpec&) = default;
};

// The result of solving, stored as a tree with the one file kLockFile. It is valid on all nodes of
// this platform ("linux-x86_64-python3.11"; conda's "linux-64 __glibc=2.36").
struct EnvironmentLock {
  std::string platform;
  Digest tree;
  friend bool operator==(const EnvironmentLock&, const EnvironmentLock&) = default;
};
inline constexpr std::string_view kLockFile = "lock.json";

// What the launcher knows of the environment of a job, for its nodes.
struct EnvironmentPlan {
  std::uint64_t generation = 0;        // grows with each --rebuild; a part of the key
  std::vector<EnvironmentLock> locks;  // at most one for each platform
  bool solve = false;                  // this node solves; the others wait for what it finds
  // Conda's virtual packages, sorted: "__cuda=12.4", "__glibc=2.36". The lowest versions over the
  // attempt's nodes; a package that one node lacks is left out.
  std::vector<std::string> virtual_packages;
  // The attempt has nodes on several machines: they fetch packages from each other, and an image
  // that is in no registry is kept in the launcher's store.
  bool share = false;
  // With `solve`: when this node fails for a reason that may be local to it, it reports
  // `not_solved` and waits while another node tries. False: its failure ends the attempt.
  bool others_may_solve = false;
  friend bool operator==(const EnvironmentPlan&, const EnvironmentPlan&) = default;
};

// A node's progress with the environment.
struct EnvironmentReport {
  enum class Step {
    wants_lock,  // there is none for its platform
    solved,      // it solved: `lock` is in the launcher's store
    ready,
    not_solved,  // it could not, as `how` says, and waits for another node that tries
  };
  Step step = Step::wants_lock;
  std::uint64_t generation = 0;  // of the plan that it followed
  std::string platform;
  std::optional<Digest> lock;  // the tree; absent for a definition that needs none
  Digest key;                  // when ready: of definition, generation, lock and platform
  // For people; when ready: "built in 12.3 s", "was ready since 2026-11-22 …".
  std::string how;
  friend bool operator==(const EnvironmentReport&, const EnvironmentReport&) = default;
};

// How ranks are started in a container on this node; found out once, when its image was made ready.
struct Container {
  std::string engine;  // docker or podman, an absolute path
  bool is_podman = false;
  bool is_rootless = false;        // the engine's root is the agent's user
  std::string image;               // its id in this engine, "sha256:…"
  std::string shell;               // that the image has: "/bin/bash", "/bin/sh"; "" = none
  bool limits_memory = false;      // the engine can
  bool unlimited_memlock = false;  // the same
  std::string gpus;                // "" = it passes none; "nvidia" (--gpus), "cdi" (--device)
  std::map<std::string, std::string> variables;  // all that the engine's program sees
  friend bool operator==(const Container&, const Container&) = default;
};

// What ranks get, computed once: no shell is run for each of them.
struct Activation {
  std::string interpreter;                       // of `python` and `python3`; absolute, "" = none
  std::string version;                           // what it says of itself: "3.11.2"
  std::vector<std::string> path;                 // before the rest of PATH
  std::map<std::string, std::string> variables;  // below the job's own; of an image, its own
  std::optional<Container> container = {};       // ranks run in one
  friend bool operator==(const Activation&, const Activation&) = default;
};

// A definition that has a name and a version: it never changes.
struct RegisteredEnvironment {
  EnvironmentSpec spec;
  std::string description;
  std::map<std::string, std::string> tags;
  friend bool operator==(const RegisteredEnvironment&, const RegisteredEnvironment&) = default;
};

// "host", "venv", "conda", "docker".
std::string_view provider_of(const EnvironmentDefinition& definition);
// Equal definitions have equal text. It has a format of its own, so that the digest stays the same
// when the wire format changes.
std::string canonical_form(const EnvironmentDefinition& definition);
// SHA-256 of it.
Digest digest_of(const EnvironmentDefinition& definition);
// Whether the definition must be solved to a lock before it can be built.
bool needs_lock(const EnvironmentDefinition& definition);
// The tree that its image is built from; nullptr: there is none.
const Digest* context_of(const EnvironmentDefinition& definition);

// Whether a variable of an agent is for the tools that solve and build: their own (PIP_*, UV_*, …),
// the language, proxies and certificates. Ranks get none of them.
bool is_tool_variable(std::string_view name);
// The tool variables that a container engine reads: its daemon's address, its files and logins.
bool is_engine_variable(std::string_view name);

// Named bounds.
inline constexpr std::size_t kMaxEnvironmentNameBytes = 240;
inline constexpr std::size_t kMaxEnvironmentLines = 10'000;
inline constexpr std::size_t kMaxEnvironmentLineBytes = 64 << 10;
inline constexpr std::size_t kMaxEnvironmentDefinitionBytes = 1 << 20;
inline constexpr std::size_t kMaxEnvironmentPlatforms = 64;  // locks of one definition
inline constexpr std::size_t kMaxVirtualPackages = 16;
inline constexpr std::size_t kMaxActivationEntries = 10'000;
inline constexpr std::size_t kMaxNotSolvedBytes = 1'000;  // of why

// A name is 1-240 characters of [A-Za-z0-9_.-], starting with a letter or a digit; a version too.
Status validate_environment_name(const std::string& what, const std::string& name);

// All checks that need no node. Errors name the key.
Status validate(const EnvironmentSpec& spec);

}  // namespace lockstep
