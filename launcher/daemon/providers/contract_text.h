#pragma once
// The launcher's half of the contract in docs/decisions/038-providers.md: writes a request and
// reads an event. No process, no file.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/targets/compute.h"
#include "common/domain/targets/size.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

inline constexpr std::size_t kMaxPasswordBytes = 1'024;
inline constexpr std::size_t kMaxEventTextBytes = 2'048;  // the limit for a message or a finding

// The values that are equal in all requests of this launcher.
struct ProviderIdentity {
  struct Endpoints {
    std::string control, bulk, join;  // tcp://HOST:PORT
  };
  std::string tag;             // tag_of()
  Endpoints endpoints, local;  // the addresses that nodes dial, and those that this machine dials
};
// The tag of everything that a launcher with this key has made: 12 characters of a-z and 0-9.
std::string tag_of(const PublicKey& launcher);

struct ProviderRequest {
  struct Machine {
    SshHost host;
    std::string token;     // "": this verb needs none
    std::string password;  // "": none
  };
  const ComputeSpec& spec;
  std::string state;   // the target's directory
  std::string bundle;  // "": there is no bundle
  std::vector<Machine> machines;
  const Size* size = nullptr;           // the target's size; null: it has none
  std::set<std::string> accounts = {};  // the accounts of users who may submit jobs
};
// Makes one JSON object without a newline.
std::string to_json(const ProviderIdentity& identity, const ProviderRequest& request);
// Checks a password, which becomes a line of ssh's input and a text of JSON.
Status check_password(const std::string& password);

// Reads an event. Returns invalid_argument if this launcher does not know it. Texts are cut to the
// length that facts may hold. `stopped` counts as an error, because the launcher asks for machines
// that run.
Result<ProviderEvent> read_event(std::string_view line);

}  // namespace lockstep::launcher
