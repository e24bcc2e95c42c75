// What the ranks' PMIx clients ask: the library calls us on its own thread, and the loop hears of
// it.

#include <pmix.h>

#include <cstdlib>
#include <cstring>

#include "common/base/check.h"
#include "runner/bootstrap/pmix_server_impl.h"

namespace lockstep::runner {
namespace {

void free_blob(void* blob) { std::free(blob); }

// The library reads the blob after we returned, and frees it through free_blob.
PmixServer::Answer answer_with(pmix_modex_cbfunc_t callback, void* data) {
  return [callback, data](bool ok, const std::string& bytes) {
    if (!ok) {
      callback(PMIX_ERR_NOT_FOUND, nullptr, 0, data, nullptr, nullptr);
      return;
    }
    char* blob = bytes.empty() ? nullptr : static_cast<char*>(std::malloc(bytes.size()));
    CHECK(blob || bytes.empty(), "out of memory");
    if (blob) std::memcpy(blob, bytes.data(), bytes.size());
    callback(PMIX_SUCCESS, blob, bytes.size(), data, free_blob, blob);
  };
}

pmix_status_t on_connected(const pmix_proc_t* proc, void*, pmix_info_t*, std::size_t,
                           pmix_op_cbfunc_t, void*) {
  the_pmix_server().hand_over([rank = static_cast<int>(proc->rank)](PmixServer::Impl& self) {
    self.requests.connected(rank);
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  the_pmix_server().hand_over([rank = static_cast<int>(proc->rank)](PmixServer::Impl& self) {
    self.requests.finalized(rank);
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* proc, void*, int status, const char message[],
                       pmix_proc_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  the_pmix_server().hand_over([rank = static_cast<int>(proc->rank), status,
                               text = std::string(message ? message : "")](PmixServer::Impl& self) {
    self.requests.aborted(rank, status, text);
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_fence(const pmix_proc_t procs[], std::size_t count, const pmix_info_t[],
                       std::size_t, char* data, std::size_t bytes, pmix_modex_cbfunc_t callback,
                       void* callback_data) {
  std::set<int> ranks;
  bool whole_job = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (the_pmix_server().options.name != procs[i].nspace) return PMIX_ERR_NOT_SUPPORTED;
    if (procs[i].rank == PMIX_RANK_WILDCARD) {
      whole_job = true;
    } else {
      ranks.insert(static_cast<int>(procs[i].rank));
    }
  }
  the_pmix_server().hand_over(
      [ranks = std::move(ranks), whole_job, blob = bytes ? std::string(data, bytes) : std::string(),
       answer = answer_with(callback, callback_data)](PmixServer::Impl& self) {
        self.requests.fence(ranks, whole_job, blob, answer);
      });
  return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                       pmix_modex_cbfunc_t callback, void* data) {
  if (the_pmix_server().options.name != proc->nspace) return PMIX_ERR_NOT_FOUND;
  the_pmix_server().hand_over([rank = static_cast<int>(proc->rank),
                               answer = answer_with(callback, data)](PmixServer::Impl& self) {
    self.requests.modex(rank, answer);
  });
  return PMIX_SUCCESS;
}

constexpr char kNames[] = "publishing of names (MPI_Publish_name, MPI_Lookup_name, MPI_Open_port)";

pmix_status_t refuse(const pmix_proc_t* proc, const char* what) {
  the_pmix_server().hand_over([rank = static_cast<int>(proc->rank), text = std::string(what)](
                                  PmixServer::Impl& self) { self.requests.refused(rank, text); });
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t on_spawn(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                       const pmix_app_t[], std::size_t, pmix_spawn_cbfunc_t, void*) {
  return refuse(proc, "MPI_Comm_spawn");
}
pmix_status_t on_publish(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                         pmix_op_cbfunc_t, void*) {
  return refuse(proc, kNames);
}
pmix_status_t on_lookup(const pmix_proc_t* proc, char**, const pmix_info_t[], std::size_t,
                        pmix_lookup_cbfunc_t, void*) {
  return refuse(proc, kNames);
}
pmix_status_t on_unpublish(const pmix_proc_t* proc, char**, const pmix_info_t[], std::size_t,
                           pmix_op_cbfunc_t, void*) {
  return refuse(proc, kNames);
}
pmix_status_t on_connect(const pmix_proc_t procs[], std::size_t, const pmix_info_t[], std::size_t,
                         pmix_op_cbfunc_t, void*) {
  return refuse(&procs[0], "MPI_Comm_connect");
}

}  // namespace

pmix_server_module_t make_pmix_module() {
  pmix_server_module_t module;
  std::memset(&module, 0, sizeof module);
  module.client_connected2 = on_connected;
  module.client_finalized = on_finalized;
  module.abort = on_abort;
  module.fence_nb = on_fence;
  module.direct_modex = on_modex;
  module.spawn = on_spawn;
  module.publish = on_publish;
  module.lookup = on_lookup;
  module.unpublish = on_unpublish;
  module.connect = on_connect;
  return module;
}

}  // namespace lockstep::runner
