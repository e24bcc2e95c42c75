#pragma once
// What the library is told of its server and of the job. It only computes.

#include "common/base/result.h"
#include "runner/pmix/directories.h"
#include "runner/pmix/protocol.h"

namespace lockstep::pmix {

class PmixInfo;

// For PMIx_server_init: no tools, nobody from other machines.
void describe_server(const Start& order, PmixInfo* info);
// For PMIx_server_register_nspace.
Status describe_job(const Job& job, const Directories& directories, PmixInfo* info);

}  // namespace lockstep::pmix
