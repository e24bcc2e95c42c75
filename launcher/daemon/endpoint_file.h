#pragma once
// endpoint.json: where this launcher is reached and who it is; a copy serves other machines. Its
// presence says nothing: readers check that the process lives.

#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep::launcher {

struct EndpointFile {
  int pid = 0;
  std::uint64_t start_ticks = 0;
  std::string control, bulk, join;  // as other machines dial them
  PublicKey public_key;
  std::string boot;                                                  // of the machine it runs on
  std::string local_control = {}, local_bulk = {}, local_join = {};  // as dialled from there
};

Status write_endpoint_file(const std::string& path, const EndpointFile& endpoint);  // 0600, atomic
Result<EndpointFile> read_endpoint_file(const std::string& path);

}  // namespace lockstep::launcher
