// Requests of the ranks' PMIx clients. The library calls these functions on its own thread, and the
// runner gets a report.

#include <pmix.h>

#include <cstring>
#include <set>
#include <string>

#include "runner/pmix/server.h"

namespace lockstep::pmix {
namespace {

int rank_of(const pmix_proc_t& proc) { return static_cast<int>(proc.rank); }

pmix_status_t on_connected(const pmix_proc_t* proc, void*, pmix_info_t*, std::size_t,
                           pmix_op_cbfunc_t, void*) {
  if (!the_server().is_of_job(*proc)) return PMIX_ERR_NOT_SUPPORTED;
  the_server().runner().send(Connected{rank_of(*proc)});
  return PMIX_OPERATION_SUCCEEDED;
}

// The client gets its answer when this returns, so the runner has the report before the rank can
// end.
pmix_status_t on_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  the_server().runner().send(Finalized{rank_of(*proc)});
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* proc, void*, int status, const char message[],
                       pmix_proc_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  the_server().runner().send(Aborted{rank_of(*proc), status, message != nullptr ? message : ""});
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_fence(const pmix_proc_t procs[], std::size_t count, const pmix_info_t[],
                       std::size_t, char* data, std::size_t bytes, pmix_modex_cbfunc_t callback,
                       void* callback_data) {
  Fence fence;
  for (std::size_t i = 0; i < count; ++i) {
    if (!the_server().is_of_job(procs[i])) return PMIX_ERR_NOT_SUPPORTED;
    if (procs[i].rank == PMIX_RANK_WILDCARD)
      fence.whole_job = true;
    else
      fence.ranks.insert(rank_of(procs[i]));
  }
  if (fence.whole_job) fence.ranks.clear();
  if (bytes > 0) fence.data.assign(data, bytes);
  fence.id = the_server().calls().keep({callback, callback_data});
  the_server().runner().send(std::move(fence));
  return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                       pmix_modex_cbfunc_t callback, void* data) {
  if (!the_server().is_of_job(*proc)) return PMIX_ERR_NOT_FOUND;
  the_server().runner().send(Modex{the_server().calls().keep({callback, data}), rank_of(*proc)});
  return PMIX_SUCCESS;
}

constexpr char kNames[] = "publishing of names (MPI_Publish_name, MPI_Lookup_name, MPI_Open_port)";

pmix_status_t refuse(const pmix_proc_t* proc, const char* what) {
  the_server().runner().send(Refused{rank_of(*proc), what});
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

pmix_server_module_t make_module() {
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

}  // namespace lockstep::pmix
