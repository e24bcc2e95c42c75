#pragma once
// endpoint.json: where this launcher listens and who it is, for the command line on this machine.
// Its presence says nothing: readers check that the process lives.

#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep::launcher {

struct EndpointFile {
  int pid = 0;
  std::uint64_t start_ticks = 0;
  std::string control, bulk, join;
  PublicKey public_key;
};

Status write_endpoint_file(const std::string& path, const EndpointFile& endpoint);  // 0600, atomic
Result<EndpointFile> read_endpoint_file(const std::string& path);

}  // namespace lockstep::launcher
