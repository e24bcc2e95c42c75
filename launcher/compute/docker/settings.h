#pragma once
// The settings of a target whose machines are containers. Every value that becomes an argument of
// the engine's command line is checked here.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::compute::docker {

struct Settings {
  std::string image;
  std::optional<double> cpus;           // absent: all of this machine
  std::optional<std::uint64_t> memory;  // bytes; the same
  std::uint64_t shm_size = 0;           // bytes of /dev/shm
  std::string gpus;                     // "": none
  std::string network = "host";
  std::vector<std::string> args;  // arguments of `docker run`
  // The resources of the target's size that this machine lacks, as text for people.
  std::vector<std::string> beyond_host;
};

// The cpus and the memory that there are to give.
struct Host {
  int cpus = 0;
  std::uint64_t memory = 0;
};
Host this_host();

// Reads {"image": "…", "cpus": 2, "memory": 4294967296, …}. /dev/shm gets half of the memory unless
// the settings say otherwise. "size" ({"name": "…", "cpus": 4, "memory": 8589934592}) gives the
// values that are missing in the settings, as far as this machine has that much. Returns
// invalid_argument with the key.
Result<Settings> settings_from(const std::string& settings_json, const Host& host);
// The resources that the settings ask for and this machine lacks; "": it has all of them.
std::string missing_on(const Host& host, const Settings& settings);

}  // namespace lockstep::compute::docker
