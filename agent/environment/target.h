#pragma once
// What an assignment asks of this node, as names and digests: which environment, for which
// platform, and whether it is to be solved, built, or waited for. Values only.

#include <optional>
#include <string>

#include "common/domain/assignment.h"
#include "common/io/process.h"

namespace lockstep::agent {

// What the definition's interpreter said of itself. Both empty: PATH as it is.
struct Interpreter {
  std::string path;     // absolute
  std::string version;  // "3.11.2"
  friend bool operator==(const Interpreter&, const Interpreter&) = default;
};

// Solvers and installers need this, however little the ranks ask for.
inline constexpr Bytes kLeastBuildMemory = gibibytes(1);

struct EnvironmentTarget {
  enum class What {
    build,  // there is a lock, or none is needed
    solve,  // this node shall find the lock
    wait,   // another one does
  };
  What what = What::wait;
  EnvironmentDefinition definition;
  std::uint64_t generation = 0;
  std::string platform;        // of locks; with the whole version where none is needed. Conda's:
                               // "linux-64 __cuda=12.4 __glibc=2.36"
  std::optional<Digest> lock;  // its tree, to build
  Digest key;                  // of the environment, or of the solving
  bool share = false;          // nodes on other hosts need what this one fetches or makes
  io::User user;               // whose it is
  // The memory limit of the job that needs it, if it has one: also the limit of its builds, but at
  // least kLeastBuildMemory.
  std::optional<Bytes> memory;
  int pids = kDefaultPidsLimit;  // as each of the job's ranks may have
  int cpus = 1;
  std::string run_as;  // of the job that asks; "" = the agent's user
  std::string job;     // that asks, for people
};

EnvironmentTarget target_of(const Assignment& assignment, const Interpreter& interpreter,
                            const io::User& user);

// The interpreter that a definition names; "" = none.
std::string interpreter_of(const EnvironmentDefinition& definition);

// "environment 1a2b3c4d5e6f (venv, linux-x86_64-python3.11)", for people.
std::string described(const EnvironmentTarget& target);

}  // namespace lockstep::agent
