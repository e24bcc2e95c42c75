#pragma once
// The environment that an assignment asks of this node, as names and digests: its definition and
// platform, and whether this node solves it, builds it or waits for a lock. Values only.

#include <optional>
#include <string>

#include "common/domain/runners/assignment.h"
#include "common/io/process.h"

namespace lockstep::agent {

// The path and version that the definition's interpreter reported. Both empty: the definition names
// no interpreter.
struct Interpreter {
  std::string path;     // absolute
  std::string version;  // "3.11.2"
  friend bool operator==(const Interpreter&, const Interpreter&) = default;
};

// Solvers and installers get at least this much memory, even if the ranks ask for less.
inline constexpr Bytes kLeastBuildMemory = gibibytes(1);

struct EnvironmentTarget {
  enum class What {
    build,  // there is a lock, or none is needed
    solve,  // this node finds the lock
    wait,   // wait until another node finds it
  };
  What what = What::wait;
  EnvironmentDefinition definition;
  std::uint64_t generation = 0;
  // The platform of the lock; without a lock, it includes the interpreter's full version.
  std::string platform;
  std::optional<Digest> lock;  // the tree of the lock to build
  Digest key;                  // the key of the environment, or of the solve; it differs by account
  bool share = false;          // nodes on other hosts need files that this one fetches or makes
  io::User user;               // the owner
  // The memory limit of builds: the job's own if it asked for one, at least kLeastBuildMemory.
  std::optional<Bytes> memory;
  int pids = kDefaultPidsLimit;  // the limit that each of the job's ranks has
  int cpus = 1;
  std::string run_as;  // the job's user; "" = the agent's user
  std::string job;     // the job that asks, for messages
};

EnvironmentTarget target_of(const Assignment& assignment, const Interpreter& interpreter,
                            const io::User& user);

// The interpreter that a definition names; "" = none.
std::string interpreter_of(const EnvironmentDefinition& definition);

// "environment 1a2b3c4d5e6f (venv, linux-x86_64-python3.11)", for people.
std::string described(const EnvironmentTarget& target);

}  // namespace lockstep::agent
