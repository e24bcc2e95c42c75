#pragma once
// The container engine of this machine, docker or podman, called by its command line program. What
// it prints is bounded. What its errors mean becomes a Failure.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/io/programs/run_program.h"
#include "launcher/compute/agent_output.h"
#include "launcher/compute/at_once.h"

namespace lockstep::compute::docker {

// The labels of every container that this kind makes.
inline constexpr const char* kLauncherLabel = "lockstep.launcher";
inline constexpr const char* kTargetLabel = "lockstep.target";
inline constexpr const char* kMachineLabel = "lockstep.machine";
inline constexpr const char* kBundleLabel = "lockstep.bundle";
inline constexpr const char* kCpusLabel = "lockstep.cpus";  // the numbers that its agent offers

struct Container {
  enum class State {
    running,
    paused,
    exited,
    other
  };  // other: the container was never started, or is being removed
  std::string id;
  State state = State::other;
  std::string reason;  // why it does not run: "Exited (137)"; "" while it runs
  std::string target, machine, bundle, cpus;  // the values of its labels
};

// Reads the output of `ps` in the format of Engine::list.
std::vector<Container> containers_from(const std::string& text);

class Engine {
 public:
  // Opens the engine. While the file `chosen` exists, the engine that it names is used. Otherwise
  // it is LOCKSTEP_CONTAINER_ENGINE, or docker or podman, whichever answers first, and its name is
  // written to the file.
  static Attempt<Engine> open(const std::string& chosen);

  const std::string& program() const { return program_; }  // absolute
  const std::string& name() const { return name_; }        // docker, podman

  // All containers with this launcher's label, ended ones included.
  Attempt<std::vector<Container>> list(const std::string& launcher) const;
  // Runs the engine's program. Returns an error if it could not be run, or printed nothing for too
  // long.
  Attempt<io::ProgramOutput> run(const std::string& step, std::vector<std::string> words,
                                 Duration timeout) const;
  // Fetches an image from its registry, unless the engine has it.
  Attempt<void> pull(const std::string& image) const;
  // Whether the image is here or in its registry; fetches nothing.
  Attempt<void> find_image(const std::string& image) const;
  // Removes a container; a missing one is success.
  Attempt<void> remove(const std::string& id, Duration grace) const;

 private:
  Engine(std::string program, std::string name)
      : program_(std::move(program)), name_(std::move(name)) {}

  std::string program_, name_;
};

// The failure that the engine's error output describes. `engine`: its name.
Failed engine_failure(const std::string& step, const std::string& engine, std::string_view errors);
bool says_no_such_image(std::string_view errors);
bool says_no_such_container(std::string_view errors);

}  // namespace lockstep::compute::docker
