// A PMIx library that stalls, for one process: LD_PRELOAD this, and say in LOCKSTEP_TEST_PMIX how:
//   silent_job   takes the registration of a job, and never says that it is done
//   hanging_job  never returns from it
//   hanging_rank never returns from the registration of a rank
// The file that LOCKSTEP_TEST_PMIX_STALLED names is made when it does.

#include <dlfcn.h>
#include <fcntl.h>
#include <pmix_server.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

bool stalls(std::string_view how) {
  const char* ordered = std::getenv("LOCKSTEP_TEST_PMIX");
  if (ordered == nullptr || how != ordered) return false;
  const char* told = std::getenv("LOCKSTEP_TEST_PMIX_STALLED");
  if (told != nullptr) close(open(told, O_WRONLY | O_CREAT, 0600));
  return true;
}

void hang() {
  while (true) pause();
}

template <typename F>
F next(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t name, int local_ranks,
                                          pmix_info_t info[], size_t count,
                                          pmix_op_cbfunc_t callback, void* data) {
  if (stalls("silent_job")) return PMIX_SUCCESS;
  if (stalls("hanging_job")) hang();
  return next(&PMIx_server_register_nspace, "PMIx_server_register_nspace")(name, local_ranks, info,
                                                                           count, callback, data);
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t* rank, uid_t uid, gid_t gid,
                                          void* object, pmix_op_cbfunc_t callback, void* data) {
  if (stalls("hanging_rank")) hang();
  return next(&PMIx_server_register_client, "PMIx_server_register_client")(rank, uid, gid, object,
                                                                           callback, data);
}
}
