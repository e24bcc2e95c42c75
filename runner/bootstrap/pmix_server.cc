#include "runner/bootstrap/pmix_server.h"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/io/process.h"
#include "runner/bootstrap/pmix_info.h"

extern char** environ;

namespace lockstep::runner {

struct PmixServer::Impl : std::enable_shared_from_this<PmixServer::Impl> {
  Impl(io::EventLoop& l, Options o, Requests r)
      : loop(l), options(std::move(o)), requests(std::move(r)) {}

  // From the library's thread to the loop's; dropped when the server is gone by then.
  template <typename F>
  void hand_over(F work) {
    loop.post([weak = weak_from_this(), work = std::move(work)]() mutable {
      if (const auto self = weak.lock()) work(*self);
    });
  }

  io::EventLoop& loop;
  Options options;
  Requests requests;
  bool registered = false;
};

namespace {

// The library's callbacks carry no pointer of ours, so its only instance must be found here. Set
// before PMIx_server_init and cleared after PMIx_server_finalize: no callback sees it change.
std::atomic<PmixServer::Impl*> the_server{nullptr};

PmixServer::Impl& server() { return *the_server.load(); }

Error pmix_error(pmix_status_t status, const std::string& what) {
  return make_error(ErrorCode::internal,
                    fmt::format("{}: PMIx says {} ({})", what, PMIx_Error_string(status), status));
}

// ---- waiting for one operation
// -------------------------------------------------------------------

// Shared with the callback, which may come after we stopped waiting.
struct Operation {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  pmix_status_t status = PMIX_SUCCESS;
};
constexpr auto kOperationPatience = std::chrono::seconds(10);

void operation_done(pmix_status_t status, void* data) {
  const std::unique_ptr<std::shared_ptr<Operation>> operation(
      static_cast<std::shared_ptr<Operation>*>(data));
  const std::lock_guard lock((*operation)->mutex);
  (*operation)->done = true;
  (*operation)->status = status;
  (*operation)->changed.notify_all();
}

// `call(cbfunc, cbdata)` starts the operation.
template <typename F>
pmix_status_t run_operation(F call) {
  const auto operation = std::make_shared<Operation>();
  auto* data = new std::shared_ptr<Operation>(operation);
  const pmix_status_t begun = call(operation_done, static_cast<void*>(data));
  if (begun != PMIX_SUCCESS) {  // also OPERATION_SUCCEEDED: no callback comes
    delete data;
    return begun == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : begun;
  }
  std::unique_lock lock(operation->mutex);
  const bool in_time =
      operation->changed.wait_for(lock, kOperationPatience, [&] { return operation->done; });
  return in_time ? operation->status : PMIX_ERR_TIMEOUT;
}

// ---- what clients ask
// ----------------------------------------------------------------------------

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
  server().hand_over([rank = static_cast<int>(proc->rank)](PmixServer::Impl& self) {
    self.requests.connected(rank);
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  server().hand_over([rank = static_cast<int>(proc->rank)](PmixServer::Impl& self) {
    self.requests.finalized(rank);
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t* proc, void*, int status, const char message[],
                       pmix_proc_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  server().hand_over([rank = static_cast<int>(proc->rank), status,
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
    if (server().options.name != procs[i].nspace) return PMIX_ERR_NOT_SUPPORTED;
    if (procs[i].rank == PMIX_RANK_WILDCARD) {
      whole_job = true;
    } else {
      ranks.insert(static_cast<int>(procs[i].rank));
    }
  }
  server().hand_over([ranks = std::move(ranks), whole_job,
                      blob = bytes ? std::string(data, bytes) : std::string(),
                      answer = answer_with(callback, callback_data)](PmixServer::Impl& self) {
    self.requests.fence(ranks, whole_job, blob, answer);
  });
  return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                       pmix_modex_cbfunc_t callback, void* data) {
  if (server().options.name != proc->nspace) return PMIX_ERR_NOT_FOUND;
  server().hand_over([rank = static_cast<int>(proc->rank), answer = answer_with(callback, data)](
                         PmixServer::Impl& self) { self.requests.modex(rank, answer); });
  return PMIX_SUCCESS;
}

constexpr char kNames[] = "publishing of names (MPI_Publish_name, MPI_Lookup_name, MPI_Open_port)";

pmix_status_t refuse(const pmix_proc_t* proc, const char* what) {
  server().hand_over([rank = static_cast<int>(proc->rank), text = std::string(what)](
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

// A runner may itself have been started under another PMIx server (a Slurm step): its variables
// would make the library take us for that server's client.
void prepare_environment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry; ++entry) {
    if (std::strncmp(*entry, "PMIX_", 5) == 0) {
      names.emplace_back(*entry, std::strcspn(*entry, "="));
    }
  }
  for (const std::string& name : names) unsetenv(name.c_str());
  // A bundle brings the library's plug-ins and messages; where they were built for lies elsewhere.
  if (const auto bundle = io::bundle_directory()) {
    setenv("PMIX_PREFIX", bundle->c_str(), 1);
    setenv("PMIX_LIBDIR", (*bundle + "/lib").c_str(), 1);
    setenv("PMIX_DATADIR", (*bundle + "/share").c_str(), 1);
    setenv("PMIX_SYSCONFDIR", (*bundle + "/etc").c_str(), 1);
  }
  // The store in shared memory prints lock errors when the ranks have another uid.
  setenv("PMIX_MCA_gds", "hash", 1);
  // The library looks at the machine through hwloc, whose plugins would bring OpenCL, CUDA and X11
  // into this process and try to reach X displays. Nothing that they find is used here.
  setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
}

}  // namespace

std::string pmix_version() {
  // "OpenPMIx 4.2.2rc2 (PMIx Standard: 4.2, …)"
  const std::string text = PMIx_Get_version();
  return text.substr(0, text.find(" ("));
}

Result<std::unique_ptr<PmixServer>> PmixServer::start(io::EventLoop& loop, Options options,
                                                      Requests requests) {
  auto impl = std::make_shared<Impl>(loop, std::move(options), std::move(requests));
  Impl* none = nullptr;
  CHECK(the_server.compare_exchange_strong(none, impl.get()), "one PMIx server per process");
  prepare_environment();
  PmixInfo info;
  info.text(PMIX_SERVER_NSPACE, impl->options.server_name);
  info.rank(PMIX_SERVER_RANK, static_cast<pmix_rank_t>(impl->options.server_rank));
  info.text(PMIX_SERVER_TMPDIR, impl->options.directory);
  info.text(PMIX_SYSTEM_TMPDIR, impl->options.directory);
  info.text(PMIX_HOSTNAME, impl->options.host);
  info.flag(PMIX_SERVER_TOOL_SUPPORT, false);
  info.flag(PMIX_SERVER_REMOTE_CONNECTIONS, false);
  static pmix_server_module_t module = make_module();  // the library keeps the pointer
  const pmix_status_t status = PMIx_server_init(&module, info.data(), info.size());
  if (status != PMIX_SUCCESS) {
    the_server = nullptr;
    return pmix_error(status, "start the PMIx server in " + impl->options.directory);
  }
  return std::unique_ptr<PmixServer>(new PmixServer(std::move(impl)));
}

PmixServer::~PmixServer() {
  if (impl_->registered) {
    run_operation([this](pmix_op_cbfunc_t callback, void* data) {
      PMIx_server_deregister_nspace(impl_->options.name.c_str(), callback, data);
      return static_cast<pmix_status_t>(PMIX_SUCCESS);
    });
  }
  PMIx_server_finalize();
  the_server = nullptr;
}

Status PmixServer::register_job(int local_ranks, PmixInfo& info) {
  const pmix_status_t status = run_operation([&](pmix_op_cbfunc_t callback, void* data) {
    return PMIx_server_register_nspace(impl_->options.name.c_str(), local_ranks, info.data(),
                                       info.size(), callback, data);
  });
  if (status != PMIX_SUCCESS) return pmix_error(status, "register job " + impl_->options.name);
  impl_->registered = true;
  return {};
}

Result<std::map<std::string, std::string>> PmixServer::register_rank(int rank, std::uint32_t uid,
                                                                     std::uint32_t gid) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, impl_->options.name.c_str(), static_cast<pmix_rank_t>(rank));
  pmix_status_t status = run_operation([&](pmix_op_cbfunc_t callback, void* data) {
    return PMIx_server_register_client(&proc, uid, gid, nullptr, callback, data);
  });
  if (status != PMIX_SUCCESS) return pmix_error(status, fmt::format("register rank {}", rank));
  char** variables = nullptr;
  status = PMIx_server_setup_fork(&proc, &variables);
  std::map<std::string, std::string> result;
  for (char** entry = variables; entry && *entry; ++entry) {
    const std::string_view variable = *entry;
    const std::size_t equals = variable.find('=');
    if (equals != variable.npos) {
      result[std::string(variable.substr(0, equals))] = variable.substr(equals + 1);
    }
    std::free(*entry);
  }
  std::free(variables);
  if (status != PMIX_SUCCESS) return pmix_error(status, fmt::format("set up rank {}", rank));
  return result;
}

void PmixServer::fetch(int rank, Answer answer) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, impl_->options.name.c_str(), static_cast<pmix_rank_t>(rank));
  auto* owned = new Answer(std::move(answer));
  const pmix_status_t status = PMIx_server_dmodex_request(
      &proc,
      [](pmix_status_t found, char* data, std::size_t bytes, void* callback_data) {
        const std::unique_ptr<Answer> reply(static_cast<Answer*>(callback_data));
        server().hand_over([ok = found == PMIX_SUCCESS,
                            blob = data ? std::string(data, bytes) : std::string(),
                            reply = *reply](PmixServer::Impl&) { reply(ok, blob); });
      },
      owned);
  if (status == PMIX_SUCCESS) return;
  const std::unique_ptr<Answer> reply(owned);
  (*reply)(false, "");
}

}  // namespace lockstep::runner
