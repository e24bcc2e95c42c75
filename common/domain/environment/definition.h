#pragma once
// The definition of a job's interpreter and packages, as content and not as paths. The whole
// definition is in the job's spec, so that every node and every retry uses the same one.
// launcher/files makes it from files, or it is registered under a name. Its digest is the digest of
// its canonical form, which leaves out names, versions and descriptions
// (docs/decisions/019-environments.md). Nothing here solves or installs packages.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/why/why.h"

namespace lockstep {

// Limits.
inline constexpr std::size_t kMaxEnvironmentNameBytes = 240;
inline constexpr std::size_t kMaxEnvironmentLines = 10'000;
inline constexpr std::size_t kMaxEnvironmentLineBytes = 64 << 10;
inline constexpr std::size_t kMaxEnvironmentDefinitionBytes = 1 << 20;
inline constexpr std::size_t kMaxEnvironmentTags = 1'000;
inline constexpr std::size_t kMaxEnvironmentPlatforms = 64;  // the most locks of one definition
inline constexpr std::size_t kMaxVirtualPackages = 16;
inline constexpr std::size_t kMaxActivationEntries = 10'000;
inline constexpr std::size_t kMaxNotSolvedBytes = 1'000;  // the most bytes of a text in
                                                          // EnvironmentReport::why

// A user-managed environment: nothing is installed; every node only checks that it can be used.
struct HostEnvironment {
  std::string interpreter;  // absolute, or a name on PATH; empty: PATH as it is
  static void table(auto& s, auto&& see) { see(field<1>, "interpreter", s.interpreter); }
  friend bool operator==(const HostEnvironment&, const HostEnvironment&) = default;
};

// Packages from an index of Python packages, in a virtual environment. All lists keep the order of
// the file.
struct VenvEnvironment {
  std::string python = "python3";         // absolute, or a name on PATH
  std::vector<std::string> options;       // the options of a requirements file: "--index-url …",
                                          // one per item
  std::vector<std::string> requirements;  // PEP 508, with --hash options where the file has them
  std::vector<std::string> constraints;
  static void table(auto& s, auto&& see) {
    see(field<1>, "python", s.python);
    see(field<2>, "options", s.options, {.count = kMaxEnvironmentLines});
    see(field<3>, "requirements", s.requirements, {.count = kMaxEnvironmentLines});
    see(field<4>, "constraints", s.constraints, {.count = kMaxEnvironmentLines});
  }
  friend bool operator==(const VenvEnvironment&, const VenvEnvironment&) = default;
};

// Packages from conda channels, and on top of them from an index of Python packages. The sections
// of a conda file keep the file's order. If the file is a lock, `locked` is set and `dependencies`
// is empty.
struct CondaEnvironment {
  std::vector<std::string> channels;      // names or addresses, highest priority first
  bool strict_priority = true;            // a package comes from the first channel that has it
  std::vector<std::string> dependencies;  // match specs: "numpy=1.26", "conda-forge::zlib"
  // The packages of a lock file: platform ("linux-64"; "" = all) -> "URL#sha256:HEX" or
  // "URL#md5:HEX".
  std::map<std::string, std::vector<std::string>> locked;
  std::vector<std::string> options;  // the options of the pip section; it and the next two fields
                                     // are as in VenvEnvironment
  std::vector<std::string> requirements;
  std::vector<std::string> constraints;
  std::map<std::string, std::string> variables;  // set when the environment is active
  static void table(auto& s, auto&& see) {
    see(field<1>, "channels", s.channels, {.count = kMaxEnvironmentLines});
    see(field<2>, "strict_priority", s.strict_priority);
    see(field<3>, "dependencies", s.dependencies, {.count = kMaxEnvironmentLines});
    see(field<4>, "locked", s.locked,
        {.bytes = kMaxEnvironmentLineBytes,
         .count = kMaxEnvironmentPlatforms,
         .each = kMaxEnvironmentLines,
         .doubles = true});
    see(field<5>, "options", s.options, {.count = kMaxEnvironmentLines});
    see(field<6>, "requirements", s.requirements, {.count = kMaxEnvironmentLines});
    see(field<7>, "constraints", s.constraints, {.count = kMaxEnvironmentLines});
    see(field<8>, "variables", s.variables, {.count = kMaxActivationEntries});
  }
  friend bool operator==(const CondaEnvironment&, const CondaEnvironment&) = default;
};

// How to build an image: the build context, a tree in the launcher's store, and a Dockerfile in it.
struct ImageBuild {
  Digest context;  // all zero until it is captured; launchers refuse it before that
  std::string dockerfile = "Dockerfile";
  static void table(auto& s, auto&& see) {
    see(field<1>, "context", s.context);
    see(field<2>, "dockerfile", s.dockerfile);
  }
  friend bool operator==(const ImageBuild&, const ImageBuild&) = default;
};

// A container's image, named or built, and optionally conda packages in it.
struct DockerEnvironment {
  std::string image;  // "debian:12", "registry:5000/team/train@sha256:…"; "" = it is built
  std::optional<ImageBuild> build;
  std::optional<CondaEnvironment> conda;
  static void table(auto& s, auto&& see) {
    see(field<1>, "image", s.image);
    see(field<2>, "build", s.build);
    see(field<3>, "conda", s.conda);
  }
  friend bool operator==(const DockerEnvironment&, const DockerEnvironment&) = default;
};

using EnvironmentDefinition =
    std::variant<HostEnvironment, VenvEnvironment, CondaEnvironment, DockerEnvironment>;

struct EnvironmentSpec {
  std::string name;     // the registered name, or the name in the file; for people
  std::string version;  // the registered version, or the version in the file
  EnvironmentDefinition definition;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "version", s.version);
    see(one_of<3, 4, 5, 6>, "definition", s.definition);
  }
  friend bool operator==(const EnvironmentSpec&, const EnvironmentSpec&) = default;
};

// The result of solving an environment. The launcher's blob store has it as a tree with one file,
// kLockFile. All nodes of this platform ("linux-x86_64-python3.11"; conda's
// "linux-64 __glibc=2.36") can use it.
struct EnvironmentLock {
  std::string platform;
  Digest tree;
  static void table(auto& s, auto&& see) {
    see(field<1>, "platform", s.platform);
    see(field<2>, "tree", s.tree);
  }
  friend bool operator==(const EnvironmentLock&, const EnvironmentLock&) = default;
};
inline constexpr std::string_view kLockFile = "lock.json";

// The environment of a job, as the launcher sends it to a node.
struct EnvironmentPlan {
  std::uint64_t generation = 0;        // grows with each --rebuild; a part of the key
  std::vector<EnvironmentLock> locks;  // the locks, at most one per platform
  bool solve = false;                  // this node solves; the others wait for its lock
  // conda's virtual packages, sorted: "__cuda=12.4", "__glibc=2.36". Each has the lowest version
  // of all the attempt's nodes; a package that one of them does not have is left out.
  std::vector<std::string> virtual_packages;
  // True when the attempt has nodes on other machines: nodes then fetch packages from each other,
  // and the launcher's store keeps images that no registry has.
  bool share = false;
  // With `solve`, true when another node of the attempt may solve if this one fails for a reason
  // that may be specific to it: this node then reports `not_solved` and waits. False: the attempt
  // fails.
  bool others_may_solve = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "generation", s.generation);
    see(field<2>, "locks", s.locks, {.count = kMaxEnvironmentPlatforms});
    see(field<3>, "solve", s.solve);
    see(field<4>, "virtual_packages", s.virtual_packages, {.count = kMaxVirtualPackages});
    see(field<5>, "share", s.share);
    see(field<6>, "others_may_solve", s.others_may_solve);
  }
  friend bool operator==(const EnvironmentPlan&, const EnvironmentPlan&) = default;
};

// How far a node is with preparing the job's environment.
struct EnvironmentReport {
  enum class Step {
    wants_lock,  // no lock exists for the node's platform
    solved,      // the node solved it: `lock` is in the launcher's store
    ready,
    not_solved,  // solving failed, as `why` says; the node waits for another node to solve it
  };
  Step step = Step::wants_lock;
  std::uint64_t generation = 0;  // the generation of the plan that the node follows
  std::string platform;
  std::optional<Digest> lock;  // the tree; absent for a definition that needs none
  Digest key;                  // when ready: digest of definition, generation, lock and platform
  // For people; when ready: "built in 12.3 s", "was ready since 2026-11-22 …".
  std::string how;
  Why why = {};  // why solving failed, for not_solved
  static void table(auto& s, auto&& see) {
    see(field<1>, "step", s.step);
    see(field<2>, "platform", s.platform);
    see(field<3>, "lock", s.lock);
    see(field<4>, "key", s.key);
    see(field<5>, "how", s.how, kCutText);
    see(field<6>, "generation", s.generation);
    see(field<810>, "why_data", s.why);
  }
  // Fills the field from `how`, in which earlier nodes report it.
  static void mend(EnvironmentReport& s) {
    if (!s.why && s.step == Step::not_solved) s.why = told(s.how);
  }
  friend bool operator==(const EnvironmentReport&, const EnvironmentReport&) = default;
};
Word describe(EnvironmentReport::Step step);

// How to start ranks in a container on this node. Determined once, when the image was made ready.
struct Container {
  std::string engine;  // absolute path of docker or podman
  bool is_podman = false;
  bool is_rootless = false;  // root in its containers is the agent's user on the node
  std::string image;         // the image's id in this engine, "sha256:…"
  std::string shell;  // the shell in the image: "/bin/bash", "/bin/sh"; "" = the image has none
  bool limits_memory = false;      // the engine can limit memory
  bool unlimited_memlock = false;  // the engine can lift the memlock limit
  std::string gpus;                // how to pass GPUs: "nvidia" (--gpus), "cdi" (--device), "" = no
  std::map<std::string, std::string> variables;  // the engine program's whole environment
  bool memlock_is_unlimited = false;             // whether the engine's containers lift the limit
  static void table(auto& s, auto&& see) {
    see(field<1>, "engine", s.engine);
    see(field<2>, "is_podman", s.is_podman);
    see(field<3>, "is_rootless", s.is_rootless);
    see(field<4>, "image", s.image);
    see(field<5>, "shell", s.shell);
    see(field<6>, "limits_memory", s.limits_memory);
    see(field<7>, "unlimited_memlock", s.unlimited_memlock);
    see(field<8>, "gpus", s.gpus);
    see(field<9>, "variables", s.variables, {.count = kMaxActivationEntries});
    see(field<700>, "memlock_is_unlimited", s.memlock_is_unlimited);
  }
  friend bool operator==(const Container&, const Container&) = default;
};

// The effect of activating an environment. It is computed once, so that no shell has to run for
// each rank.
struct Activation {
  std::string interpreter;        // the absolute path of `python` and `python3`; "" = there is none
  std::string version;            // the interpreter's version, as it reports it: "3.11.2"
  std::vector<std::string> path;  // put before the rest of PATH
  std::map<std::string, std::string> variables;  // the job's own override these; or the image's
  std::optional<Container> container = {};       // set when ranks run in one
  static void table(auto& s, auto&& see) {
    see(field<1>, "interpreter", s.interpreter);
    see(field<2>, "version", s.version);
    see(field<3>, "path", s.path, {.count = kMaxActivationEntries});
    see(field<4>, "variables", s.variables, {.count = kMaxActivationEntries});
    see(field<5>, "container", s.container);
  }
  friend bool operator==(const Activation&, const Activation&) = default;
};

// An environment registered under a name and a version. It never changes.
struct RegisteredEnvironment {
  EnvironmentSpec spec;
  std::string description;
  std::map<std::string, std::string> tags;
  static void table(auto& s, auto&& see) {
    see(field<1>, "spec", s.spec);
    see(field<2>, "description", s.description);
    see(field<3>, "tags", s.tags, {.count = kMaxEnvironmentTags});
  }
  friend bool operator==(const RegisteredEnvironment&, const RegisteredEnvironment&) = default;
};

// "host", "venv", "conda", "docker".
std::string_view provider_of(const EnvironmentDefinition& definition);
// The text of a definition; equal definitions have the same text. It has a format of its own, so
// that its digest stays the same when the wire format changes.
std::string canonical_form(const EnvironmentDefinition& definition);
// SHA-256 of the canonical form.
Digest digest_of(const EnvironmentDefinition& definition);
// Whether it must be solved before it can be built.
bool needs_lock(const EnvironmentDefinition& definition);
// The tree from which the environment's image is built; nullptr: no image is built.
const Digest* context_of(const EnvironmentDefinition& definition);

// Whether a variable of the agent is passed to the tools that solve and build: their own (PIP_*,
// UV_*, …), language, proxies and certificates. Ranks do not get these variables.
bool is_tool_variable(std::string_view name);
// The subset of these that a container engine's programs read: for its daemon's address, its files
// and logins.
bool is_engine_variable(std::string_view name);

// Checks a name or version: 1-240 characters of [A-Za-z0-9_.-], starting with a letter or a digit.
Status validate_environment_name(const std::string& what, const std::string& name);

// Checks everything that is possible without a node. Errors name the key.
Status validate(const EnvironmentSpec& spec);

}  // namespace lockstep
