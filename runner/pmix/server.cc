#include "runner/pmix/server.h"

#include <fmt/format.h>
#include <pmix.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "runner/pmix/accept_guard.h"
#include "runner/pmix/describe.h"
#include "runner/pmix/info.h"

namespace lockstep::pmix {
namespace {

Server* the_only_server = nullptr;  // set before the library's threads exist

Error pmix_error(pmix_status_t status, const std::string& what) {
  return make_error(ErrorCode::internal,
                    fmt::format("{}: PMIx says {} ({})", what, PMIx_Error_string(status), status));
}

struct Operation {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  pmix_status_t status = PMIX_SUCCESS;
};

void operation_done(pmix_status_t status, void* data) {
  auto& operation = *static_cast<Operation*>(data);
  const std::lock_guard lock(operation.mutex);
  operation.done = true;
  operation.status = status;
  operation.changed.notify_all();
}

// Starts an operation by `call(cbfunc, cbdata)`.
template <typename F>
pmix_status_t run_operation(F call) {
  Operation operation;
  const pmix_status_t begun = call(operation_done, static_cast<void*>(&operation));
  if (begun == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
  if (begun != PMIX_SUCCESS) return begun;  // there will be no callback
  std::unique_lock lock(operation.mutex);
  operation.changed.wait(lock, [&] { return operation.done; });
  return operation.status;
}

void free_blob(void* blob) { std::free(blob); }

// Answers a call. The library reads the blob after this function has returned, and frees it through
// free_blob.
void answer(const OpenCalls::Call& call, const Answer& order) {
  const std::string& bytes = order.data;
  char* blob =
      order.found && !bytes.empty() ? static_cast<char*>(std::malloc(bytes.size())) : nullptr;
  if (!order.found || (blob == nullptr && !bytes.empty()))
    return call.callback(PMIX_ERR_NOT_FOUND, nullptr, 0, call.data, nullptr, nullptr);
  if (blob != nullptr) std::memcpy(blob, bytes.data(), bytes.size());
  call.callback(PMIX_SUCCESS, blob, bytes.size(), call.data, free_blob, blob);
}

void fetched(pmix_status_t status, char* bytes, std::size_t size, void* data) {
  const std::unique_ptr<std::uint64_t> id(static_cast<std::uint64_t*>(data));
  const bool found = status == PMIX_SUCCESS;
  the_server().runner().send(
      Fetched{*id, found, found && bytes != nullptr ? std::string(bytes, size) : std::string()});
}

}  // namespace

Server& the_server() { return *the_only_server; }

std::string library_version() {
  // "OpenPMIx 4.2.2rc2 (PMIx Standard: 4.2, …)"
  const std::string text = PMIx_Get_version();
  return text.substr(0, text.find(" ("));
}

std::uint64_t OpenCalls::keep(Call call) {
  const std::lock_guard lock(mutex_);
  open_[++last_] = call;
  return last_;
}

std::optional<OpenCalls::Call> OpenCalls::take(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.extract(id);
  return found ? std::optional(found.mapped()) : std::nullopt;
}

void Server::serve() {
  the_only_server = this;
  runner_.send(Hello{kProtocol, library_version()});
  while (true) std::visit([this](const auto& order) { carry_out(order); }, runner_.next());
}

void Server::carry_out(const Start& order) {
  const Status started = start(order);
  runner_.send(Done{order.id, started ? "" : started.error().message, {}});
}

void Server::carry_out(const RegisterRank& order) {
  auto variables = register_rank(order);
  if (!variables) return runner_.send(Done{order.id, variables.error().message, {}});
  runner_.send(Done{order.id, "", *std::move(variables)});
}

void Server::carry_out(const Fetch& order) {
  const pmix_proc_t proc = proc_of(order.rank);
  auto* id = new std::uint64_t(order.id);
  if (PMIx_server_dmodex_request(&proc, fetched, id) == PMIX_SUCCESS) return;
  delete id;
  runner_.send(Fetched{order.id, false, ""});
}

void Server::carry_out(const Answer& order) {
  if (const auto call = calls_.take(order.id)) answer(*call, order);
}

Status Server::start(const Start& order) {
  job_ = order.job.name;
  TRY(guard_accept([this](std::uint64_t count, const std::string& why) {
    runner_.send(TurnedAway{count, why});
  }));
  PmixInfo info;
  describe_server(order, &info);
  static pmix_server_module_t module = make_module();  // the library keeps the pointer
  const pmix_status_t status = PMIx_server_init(&module, info.data(), info.size());
  if (status != PMIX_SUCCESS)
    return pmix_error(status, "start the PMIx server in " + order.directory);
  TRY(prove_accept());
  return order.job.ranks_per_node > 0 ? register_job(order.job, order.directory) : Status();
}

Status Server::register_job(const Job& job, const std::string& directory) {
  PmixInfo info;
  TRY(describe_job(job, {directory}, &info));
  const pmix_status_t status = run_operation([&](pmix_op_cbfunc_t callback, void* data) {
    return PMIx_server_register_nspace(job.name.c_str(), job.ranks_per_node, info.data(),
                                       info.size(), callback, data);
  });
  if (status != PMIX_SUCCESS) return pmix_error(status, "register job " + job.name);
  return {};
}

Result<Variables> Server::register_rank(const RegisterRank& order) const {
  const pmix_proc_t proc = proc_of(order.rank);
  pmix_status_t status = run_operation([&](pmix_op_cbfunc_t callback, void* data) {
    return PMIx_server_register_client(&proc, order.uid, order.gid, nullptr, callback, data);
  });
  if (status != PMIX_SUCCESS)
    return pmix_error(status, fmt::format("register rank {}", order.rank));
  char** variables = nullptr;
  status = PMIx_server_setup_fork(&proc, &variables);
  Variables result;
  for (char** entry = variables; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::size_t equals = variable.find('=');
    if (equals != variable.npos)
      result[std::string(variable.substr(0, equals))] = variable.substr(equals + 1);
    std::free(*entry);
  }
  std::free(variables);
  if (status != PMIX_SUCCESS) return pmix_error(status, fmt::format("set up rank {}", order.rank));
  return result;
}

pmix_proc_t Server::proc_of(int rank) const {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, job_.c_str(), static_cast<pmix_rank_t>(rank));
  return proc;
}

}  // namespace lockstep::pmix
