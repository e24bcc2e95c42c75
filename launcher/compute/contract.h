#pragma once
// The requests to a provider and its events: one JSON object in, one on each line out. The contract
// is docs/decisions/038-providers.md; the programs of sites keep it too.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/domain/targets/machine_fault.h"
#include "launcher/compute/endpoints.h"

namespace lockstep::compute {

inline constexpr int kContractVersion = 1;
inline constexpr std::size_t kMaxRequestBytes = 16u << 20;
inline constexpr std::size_t kMaxMachines = 10'000;  // the most machines of one request
inline constexpr std::size_t kMaxAccounts = 100'000;

enum class Verb { check, create, list, remove, hold };
std::optional<Verb> verb_from(std::string_view word);

struct Machine {
  std::string name;   // check_machine_name
  std::string token;  // the output of `lockstep node token`; only for `create`
};

struct Request {
  std::string launcher;  // together with `target`, the tag of everything that is made
  std::string target;
  std::string state;   // an absolute path: the files kept between the calls for this target
  std::string bundle;  // the archive of scripts/bundle; "" where the kind needs none
  std::string settings = "{}";         // JSON object; the kind reads it
  std::optional<Endpoints> endpoints;  // the addresses at which nodes dial the launcher
  // The addresses at which this machine dials it; set if `endpoints` is.
  std::optional<Endpoints> local;
  std::vector<Machine> machines;
  std::vector<std::string> accounts = {};  // the accounts as which jobs of the launcher's users run
};
// Reads a request. Returns invalid_argument with the key and the values that are allowed.
Result<Request> request_from(const std::string& json_text, Verb verb);

// The message of a failure is for people.
using Failure = MachineFault;

struct Failed {
  std::string step;
  Failure code = Failure::failed;
  std::string message;
};

// Facts about a machine: name and value, as the contract lists them.
using Fact = std::variant<std::string, bool>;
using About = std::vector<std::pair<std::string, Fact>>;

// Writes events, each as one line at once; from any thread.
class Events {
 public:
  explicit Events(int fd) : fd_(fd) {}
  void step(const std::string& machine, std::string_view step);
  void machine(const std::string& name, std::string_view state, const About& about);
  void warning(const std::string& machine, std::string_view step, const std::string& message);
  void error(const std::string& machine, const Failed& failed);

 private:
  void write(const nlohmann::ordered_json& event);

  int fd_;
  std::mutex mutex_;
};

}  // namespace lockstep::compute
