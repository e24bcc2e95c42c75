#pragma once
// One container of a docker target: how it is started, found again and removed.

#include <mutex>
#include <string>
#include <vector>

#include "launcher/compute/contract.h"
#include "launcher/compute/docker/engine.h"
#include "launcher/compute/docker/settings.h"

namespace lockstep::compute::docker {

// The values that are equal for all machines of a call.
struct Call {
  const Request& request;
  const Settings& settings;
  const Host& host;
  const Engine& engine;
  std::string bundle_digest;   // used only for `create`
  std::mutex* pull = nullptr;  // held while the image is fetched: once for all machines
};

std::string container_name(const Request& request, const std::string& machine);
// The arguments of the engine that start the machine's container. `cpus`: the numbers of the cpus
// that its agent offers; "": all that it finds.
std::vector<std::string> run_words(const Request& request, const Settings& settings,
                                   const std::string& bundle_digest, const std::string& machine,
                                   const std::string& cpus);

// A container of a machine. Each step is reported before it begins.
class Machine {
 public:
  // `containers`: all of this machine; there is one at most, unless a person made another.
  Machine(const Call& call, compute::Machine machine, std::vector<Container> containers,
          std::string cpus, Events& events);

  Attempt<void> create();
  Attempt<void> remove();

 private:
  Attempt<void> start_anew();
  Attempt<bool> is_up_again(const Container& container);
  Attempt<bool> start_again(const Container& container);
  Attempt<bool> has_joined(const Container& container) const;
  void say_where_launcher_is(const Container& container);
  void add_accounts(const Container& container);
  Attempt<void> run();
  Attempt<void> fetch_image();
  Attempt<void> remove_all(Duration grace);
  Failed why(int exit_code, const std::string& text) const;
  tl::unexpected<Failed> failed(const std::string& step, Failure code, std::string why) const;

  const Call& call_;
  const compute::Machine machine_;
  std::vector<Container> containers_;
  const std::string cpus_;
  Events& events_;
};

// Reports a container's state: running or stopped.
void tell(const Call& call, const Container& container, Events& events);

}  // namespace lockstep::compute::docker
