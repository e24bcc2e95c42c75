#include "runner/attach/core_files.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/domain/exit_report.h"
#include "common/domain/job_spec.h"
#include "common/domain/native_stack.h"
#include "runner/spawn/start_failure.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kMostSaid = 1u << 20;
constexpr int kMostReadsOfCore = 128;  // at once, for a tool that writes without end
constexpr char kToolFolders[] = "/usr/local/bin:/usr/bin:/bin";

// A program that fails has one of these; others are sent, or have no core file (signal(7)).
bool is_crash(int signal) {
  switch (signal) {
    case SIGQUIT:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGSYS: return true;
    default: return false;
  }
}

// A shell ends with 128 + the signal of its program.
int signal_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status);
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) > 128 ? WEXITSTATUS(wait_status) - 128
                                                                  : 0;
}

// Without a core file of its own, and without what is meant for the rank's program alone.
void make_tool(const std::string& tools, spawn::RankProcess& process) {
  process.path = (tools.empty() ? "" : tools + ":") + process.path + ":" + kToolFolders;
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "DEBUGINFOD_URLS"})
    process.environment.erase(name);
  process.environment["PATH"] = process.path;
  for (spawn::RlimitEntry& limit : process.rlimits)
    if (limit.resource == static_cast<std::uint32_t>(RLIMIT_CORE))
      limit.soft = 1;  // see rlimits.cc
}

}  // namespace

CoreFiles::CoreFiles(io::EventLoop& loop, Doors doors, CorePlace place, bool keeps,
                     std::string tools, std::int64_t since)
    : loop_(loop),
      doors_(std::move(doors)),
      place_(std::move(place)),
      keeps_(keeps),
      tools_(std::move(tools)),
      since_(since) {}

CoreFiles::~CoreFiles() { give_up(); }

void CoreFiles::exited_rank(int rank, int wait_status, Instant now) {
  const bool dumped = WIFSIGNALED(wait_status) && WCOREDUMP(wait_status);
  if (!dumped && !is_crash(signal_of(wait_status))) return;
  if (place_.kind == CorePlace::Kind::nowhere) {
    results_[rank].note = fmt::format("no core file of rank {}: {}", rank, place_.why);
    return;
  }
  if (give_up_at_ == Instant::never()) give_up_at_ = now + kAllCoresTimeout;
  waiting_.push_back({rank, dumped});
  if (!running_) start_next(now);
}

void CoreFiles::start_next(Instant now) {
  while (!running_ && !waiting_.empty()) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    if (const Status started = start(next, now); !started)
      results_[next.rank].note =
          fmt::format("no core file of rank {}: {}", next.rank, started.error().message);
  }
}

Status CoreFiles::start(const Waiting& of, Instant now) {
  const spawn::RankProcess* rank = doors_.rank(of.rank);
  if (rank == nullptr) return make_error(ErrorCode::not_found, "it was not started");
  CoreOrder order;
  order.rank = of.rank;
  order.reads = read_ < kMostCoresRead;
  order.keeps = keeps_;
  order.since = since_;
  order.most = kMostCoreFile;
  spawn::RankProcess process = *rank;
  process.argv = core_command(place_, order);
  process.program = process.argv[0];
  make_tool(tools_, process);
  TRY_ASSIGN(Stdio stdio, open_pipes(false, rank->set_ids ? rank->uid : geteuid()));
  const int id = next_id_++;
  TRY(doors_.start(id, process, stdio));
  for (io::Fd& fd : stdio.theirs) fd.reset();
  if (order.reads) ++read_;
  running_.emplace(Run{of, id, std::move(stdio), {}, now + kCoreTimeout});
  for (const io::Fd* fd : {&running_->stdio.output, &running_->stdio.error})
    loop_.watch(fd->get(), io::EventLoop::Interest::read, [this, id] {
      if (running_ && running_->id == id) take();
    });
  return {};
}

void CoreFiles::unwatch() {
  for (const io::Fd* fd : {&running_->stdio.output, &running_->stdio.error})
    if (*fd) loop_.unwatch(fd->get(), io::EventLoop::Interest::read);
}

// At their ends the streams stay readable: until the keeper says that nothing is left, they are
// looked at no more.
void CoreFiles::take() {
  bool any = false;
  char buffer[16384];
  for (const io::Fd* fd : {&running_->stdio.output, &running_->stdio.error})
    for (int i = 0; i < kMostReadsOfCore && *fd; ++i) {
      const ssize_t length = read(fd->get(), buffer, sizeof buffer);
      if (length <= 0) break;
      any = true;
      if (fd == &running_->stdio.error) continue;
      std::string& output = running_->output;
      output.append(buffer, std::min(static_cast<std::size_t>(length), kMostSaid - output.size()));
    }
  if (!any) unwatch();
}

void CoreFiles::failed(int id, int error, spawn::SpawnStage stage, Instant now) {
  if (!running_ || running_->id != id) return;
  finish("it could not be looked for: " + spawn::why_not_started("/bin/sh", error, stage), now);
}

void CoreFiles::exited(int id, int, Instant now) {
  if (!running_ || running_->id != id) return;
  take();
  const bool is_late = running_->kill_at == Instant::never();
  finish(is_late ? "it was not read within " + format_duration(kCoreTimeout) : "", now);
}

void CoreFiles::finish(const std::string& problem, Instant now) {
  const Run run = *std::exchange(running_, std::nullopt);
  for (const io::Fd* fd : {&run.stdio.output, &run.stdio.error})
    if (*fd) loop_.unwatch(fd->get(), io::EventLoop::Interest::read);
  const int rank = run.of.rank;
  CoreResult& result = results_[rank];
  const CoreSaid said = parse_core_said(run.output);
  if (const auto threads = threads_from_text(said.text); !threads.empty()) {
    result.backtrace = backtrace_lines(threads.front(), kBacktraceBytes);
    result.place = place_of_failure(threads.front());
  }
  if (said.is_kept)
    result.note = fmt::format("the core file of rank {} is kept: {}, {}", rank, kept_core(rank),
                              to_string(said.size));
  else if (!problem.empty())
    result.note = fmt::format("no core file of rank {}: {}", rank, problem);
  else if (!said.found)
    result.note = fmt::format(
        "no core file of rank {} was found{}", rank,
        run.of.dumped ? " where the kernel writes them (kernel.core_pattern)"
                      : ": the kernel wrote none, or a program below the rank's shell had it");
  else if (said.too_large)
    result.note = fmt::format("the core file of rank {} has {}, and at most {} are kept", rank,
                              to_string(said.size), to_string(kMostCoreFile));
  else if (keeps_)
    result.note = fmt::format(
        "the core file of rank {} is not kept: its {} could not be written to {}; is the disk "
        "full?",
        rank, to_string(said.size), kept_core(rank));
  else if (said.tool.empty() && result.backtrace.empty())
    result.note = fmt::format(
        "no stack of rank {}: neither eu-stack nor gdb is on this node or in the job's "
        "environment; install elfutils or gdb on the node",
        rank);
  spdlog::info("core file of rank {}: {} bytes, {}", rank, said.size.count,
               result.place.empty() ? "no stack" : result.place);
  start_next(now);
}

void CoreFiles::expire(Instant now) {
  if (any() && now >= give_up_at_) return give_up();
  if (running_ && now >= running_->kill_at) {
    running_->kill_at = Instant::never();
    doors_.kill(running_->id);
  }
}

Instant CoreFiles::next_deadline() const {
  if (!any()) return Instant::never();
  return std::min(give_up_at_, running_ ? running_->kill_at : Instant::never());
}

void CoreFiles::give_up() {
  for (const Waiting& one : waiting_)
    results_[one.rank].note =
        fmt::format("no core file of rank {}: there was no time to look at it", one.rank);
  waiting_.clear();
  if (!running_) return;
  unwatch();
  results_[running_->of.rank].note =
      fmt::format("no core file of rank {}: there was no time to read it", running_->of.rank);
  doors_.kill(running_->id);
  running_.reset();
}

}  // namespace lockstep::runner
