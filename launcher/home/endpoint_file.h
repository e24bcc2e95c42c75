#pragma once
// endpoint.json: this launcher's addresses and identity. A copy of the file lets other machines
// reach it. The file outlives the daemon, so readers on its machine check that the process lives.

#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep::launcher {

struct EndpointFile {
  int pid = 0;
  std::uint64_t start_ticks = 0;
  std::string control, bulk, join;  // addresses for other machines
  PublicKey public_key;
  std::string boot;  // the boot id of the machine on which it runs
  std::string local_control = {}, local_bulk = {}, local_join = {};  // addresses on that machine
};

Status write_endpoint_file(const std::string& path, const EndpointFile& endpoint);  // 0600, atomic
Result<EndpointFile> read_endpoint_file(const std::string& path);

}  // namespace lockstep::launcher
