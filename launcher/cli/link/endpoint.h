#pragma once
// A launcher's addresses and public key, read from the file that the daemon writes when it is
// ready, or from a copy that LOCKSTEP_LAUNCHER names. It opens no socket.

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/io/process.h"

namespace lockstep::cli {

struct Endpoint {
  io::ProcessIdentity process;
  std::string control;
  std::string bulk;
  std::string join;
  PublicKey public_key;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

Result<Endpoint> endpoint_from(const std::string& json_text);
// Reads the file. Returns not_found if it does not exist.
Result<Endpoint> read_endpoint(const std::string& path);
// The endpoint of a daemon that is running on this machine now; nullopt when there is none.
std::optional<Endpoint> live_endpoint(const std::string& path);

}  // namespace lockstep::cli
