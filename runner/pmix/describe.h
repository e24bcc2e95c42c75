#pragma once
// Describes the server and the job to the library. It only computes.

#include "common/base/result.h"
#include "runner/pmix/directories.h"
#include "runner/pmix/protocol.h"

namespace lockstep::pmix {

class PmixInfo;

// Describes the server for PMIx_server_init: no tools, and no connections from other machines.
void describe_server(const Start& order, PmixInfo* info);
// Describes the job for PMIx_server_register_nspace.
Status describe_job(const Job& job, const Directories& directories, PmixInfo* info);

}  // namespace lockstep::pmix
