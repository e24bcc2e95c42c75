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
#include "runner/bootstrap/pmix_server_impl.h"

extern char** environ;

namespace lockstep::runner {

namespace {

std::atomic<PmixServer::Impl*> the_server{nullptr};

Error pmix_error(pmix_status_t status, const std::string& what) {
  return make_error(ErrorCode::internal,
                    fmt::format("{}: PMIx says {} ({})", what, PMIx_Error_string(status), status));
}

// ---- one operation, on the library's thread
// -------------------------------------------------------------------

// Shared with the callback, which may come after we stopped waiting.
struct Operation {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  pmix_status_t status = PMIX_SUCCESS;
};

void operation_done(pmix_status_t status, void* data) {
  const std::unique_ptr<std::shared_ptr<Operation>> operation(
      static_cast<std::shared_ptr<Operation>*>(data));
  const std::lock_guard lock((*operation)->mutex);
  (*operation)->done = true;
  (*operation)->status = status;
  (*operation)->changed.notify_all();
}

// `call(cbfunc, cbdata)` starts the operation. Waits on the library's thread, where nobody else
// does; the loop has given it up by the time that this does.
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
  const bool in_time = operation->changed.wait_for(
      lock, std::chrono::nanoseconds(kOperationTimeout), [&] { return operation->done; });
  return in_time ? operation->status : PMIX_ERR_TIMEOUT;
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

PmixServer::Impl& the_pmix_server() { return *the_server.load(); }

std::string pmix_version() {
  // "OpenPMIx 4.2.2rc2 (PMIx Standard: 4.2, …)"
  const std::string text = PMIx_Get_version();
  return text.substr(0, text.find(" ("));
}

namespace {

// ---- on the library's thread
// ---------------------------------------------------------------------

using Library = PmixServer::Impl::Library;

Status start_library(PmixServer::Impl& self) {
  PmixInfo info;
  info.text(PMIX_SERVER_NSPACE, self.options.server_name);
  info.rank(PMIX_SERVER_RANK, static_cast<pmix_rank_t>(self.options.server_rank));
  info.text(PMIX_SERVER_TMPDIR, self.options.directory);
  info.text(PMIX_SYSTEM_TMPDIR, self.options.directory);
  info.text(PMIX_HOSTNAME, self.options.host);
  info.flag(PMIX_SERVER_TOOL_SUPPORT, false);
  info.flag(PMIX_SERVER_REMOTE_CONNECTIONS, false);
  static pmix_server_module_t module = make_pmix_module();  // the library keeps the pointer
  const pmix_status_t status = PMIx_server_init(&module, info.data(), info.size());
  if (status != PMIX_SUCCESS)
    return pmix_error(status, "start the PMIx server in " + self.options.directory);
  self.state = Library::on;
  return {};
}

Status register_job(PmixServer::Impl& self, const PmixServer::Job& job) {
  PmixInfo info;
  TRY(job.describe(&info));
  const pmix_status_t status = run_operation([&](pmix_op_cbfunc_t callback, void* data) {
    return PMIx_server_register_nspace(self.options.name.c_str(), job.local_ranks, info.data(),
                                       info.size(), callback, data);
  });
  if (status != PMIX_SUCCESS) return pmix_error(status, "register job " + self.options.name);
  self.state = Library::has_job;
  return {};
}

Result<PmixServer::Variables> register_client(PmixServer::Impl& self, int rank, std::uint32_t uid,
                                              std::uint32_t gid) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, self.options.name.c_str(), static_cast<pmix_rank_t>(rank));
  pmix_status_t status = run_operation([&](pmix_op_cbfunc_t callback, void* data) {
    return PMIx_server_register_client(&proc, uid, gid, nullptr, callback, data);
  });
  if (status != PMIX_SUCCESS) return pmix_error(status, fmt::format("register rank {}", rank));
  char** variables = nullptr;
  status = PMIx_server_setup_fork(&proc, &variables);
  PmixServer::Variables result;
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

void request_data(PmixServer::Impl& self, int rank, PmixServer::Answer answer) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, self.options.name.c_str(), static_cast<pmix_rank_t>(rank));
  auto* owned = new PmixServer::Answer(std::move(answer));
  const pmix_status_t status = PMIx_server_dmodex_request(
      &proc,
      [](pmix_status_t found, char* data, std::size_t bytes, void* callback_data) {
        const std::unique_ptr<PmixServer::Answer> reply(
            static_cast<PmixServer::Answer*>(callback_data));
        the_pmix_server().hand_over([ok = found == PMIX_SUCCESS,
                                     blob = data ? std::string(data, bytes) : std::string(),
                                     reply = *reply](PmixServer::Impl&) { reply(ok, blob); });
      },
      owned);
  if (status == PMIX_SUCCESS) return;
  self.hand_over([reply = std::move(*owned)](PmixServer::Impl&) { reply(false, ""); });
  delete owned;
}

void end_library(PmixServer::Impl& self) {
  if (self.state == Library::has_job)
    run_operation([&](pmix_op_cbfunc_t callback, void* data) {
      PMIx_server_deregister_nspace(self.options.name.c_str(), callback, data);
      return static_cast<pmix_status_t>(PMIX_SUCCESS);
    });
  if (self.state != Library::off) PMIx_server_finalize();
  the_server = nullptr;
}

}  // namespace

// ---- on the loop's thread
// ------------------------------------------------------------------------

PmixServer::PmixServer(io::EventLoop& loop, Options options, Requests requests)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(requests))) {
  Impl* none = nullptr;
  CHECK(the_server.compare_exchange_strong(none, impl_.get()), "one PMIx server per process");
}

PmixServer::~PmixServer() {
  Impl& impl = *impl_;
  impl.library.run([&impl] { end_library(impl); });
}

void PmixServer::start(std::optional<Job> job, Started started) {
  prepare_environment();  // here: no other thread may read variables meanwhile
  Impl& impl = *impl_;
  impl.operate<Status>(
      "start the PMIx server in " + impl.options.directory,
      [&impl, job = std::move(job)]() -> Status {
        TRY(start_library(impl));
        return job ? register_job(impl, *job) : Status();
      },
      std::move(started));
}

void PmixServer::register_rank(int rank, std::uint32_t uid, std::uint32_t gid,
                               Registered registered) {
  Impl& impl = *impl_;
  impl.operate<Result<Variables>>(
      fmt::format("register rank {}", rank),
      [&impl, rank, uid, gid] { return register_client(impl, rank, uid, gid); },
      std::move(registered));
}

void PmixServer::fetch(int rank, Answer answer) {
  Impl& impl = *impl_;
  impl.library.run([&impl, rank, answer = std::move(answer)] { request_data(impl, rank, answer); });
}

Instant PmixServer::next_deadline() const {
  const auto& operations = impl_->operations;
  return operations.empty() ? Instant::never() : operations.begin()->second.until;
}

void PmixServer::expire(Instant now) {
  auto& operations = impl_->operations;
  while (!operations.empty() && now >= operations.begin()->second.until) {
    const auto late = operations.extract(operations.begin());
    late.mapped().fail(make_error(
        ErrorCode::unavailable, fmt::format("{}: PMIx did not answer within {}", late.mapped().what,
                                            format_duration(kOperationTimeout))));
  }
}

}  // namespace lockstep::runner
