#include "runner/attach/core_files.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/base/utf8.h"
#include "common/domain/job/spec.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/ranks/native_stack.h"
#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/ranks.h"
#include "runner/steps/not_started.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kMostSaid = 1u << 20;
constexpr std::size_t kMostOfFrame = 200;  // the most bytes of a frame's function, and of its file
// How often one turn reads at most, if a tool writes without end.
constexpr int kMostReadsOfCore = 128;
constexpr char kToolFolders[] = "/usr/local/bin:/usr/bin:/bin";

// Whether a signal is of a failing program. Others are sent by somebody, or write no core file
// (signal(7)).
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

// The signal of a status; a shell ends with 128 + the signal of its program.
int signal_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status);
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) > 128 ? WEXITSTATUS(wait_status) - 128
                                                                  : 0;
}

// Makes the tool's process write no core file, and removes settings that are for the rank's program
// only.
void make_tool(const std::string& tools, spawn::RankProcess& process) {
  process.path = (tools.empty() ? "" : tools + ":") + process.path + ":" + kToolFolders;
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "DEBUGINFOD_URLS"})
    process.environment.erase(name);
  process.environment["PATH"] = process.path;
  for (spawn::RlimitEntry& limit : process.rlimits)
    if (limit.resource == static_cast<std::uint32_t>(RLIMIT_CORE))
      limit.soft = 1;  // a limit of 1: see rlimits.cc
}

}  // namespace

CoreFiles::CoreFiles(io::EventLoop& loop, Callbacks callbacks, CorePlace place, bool keeps,
                     std::string tools, std::int64_t since)
    : loop_(loop),
      callbacks_(std::move(callbacks)),
      place_(std::move(place)),
      keeps_(keeps),
      tools_(std::move(tools)),
      since_(since) {}

CoreFiles::~CoreFiles() { give_up(); }

void CoreFiles::exited_rank(int rank, int wait_status, Instant now) {
  const bool dumped = WIFSIGNALED(wait_status) && WCOREDUMP(wait_status);
  if (!dumped && !is_crash(signal_of(wait_status))) return;
  if (place_.kind == CorePlace::Kind::nowhere) {
    results_[rank].note = NoCoreFile{rank, place_.taken};
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
      results_[next.rank].note = NoCoreFile{next.rank, told(started.error().message)};
  }
}

Status CoreFiles::start(const Waiting& of, Instant now) {
  const spawn::RankProcess* rank = callbacks_.rank(of.rank);
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
  TRY(callbacks_.start(id, process, stdio));
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

// Streams stay readable after their ends. They are polled again only when the keeper reports that
// no process is left.
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
  finish(CoreToolNotStarted{start_failure_of("/bin/sh", error, stage)}, now);
}

void CoreFiles::exited(int id, int, Instant now) {
  if (!running_ || running_->id != id) return;
  take();
  const bool is_late = running_->kill_at == Instant::never();
  finish(is_late ? Why(CoreWasNotRead{kCoreTimeout, true}) : Why(), now);
}

Why CoreFiles::note_of(const Run& run, const CoreSaid& said, const Why& problem,
                       bool has_stack) const {
  const int rank = run.of.rank;
  if (said.is_kept) return CoreFileIsKept{rank, kept_core(rank), said.size};
  if (problem) return NoCoreFile{rank, problem};
  if (!said.found) return CoreFileNotFound{rank, run.of.dumped};
  if (said.too_large) return CoreFileIsTooLarge{rank, said.size, kMostCoreFile};
  if (keeps_) return CoreFileNotWritten{rank, said.size, kept_core(rank)};
  return said.tool.empty() && !has_stack ? Why(NoStackTool{rank}) : Why();
}

void CoreFiles::finish(const Why& problem, Instant now) {
  const Run run = *std::exchange(running_, std::nullopt);
  for (const io::Fd* fd : {&run.stdio.output, &run.stdio.error})
    if (*fd) loop_.unwatch(fd->get(), io::EventLoop::Interest::read);
  CoreResult& result = results_[run.of.rank];
  const CoreSaid said = parse_core_said(run.output);
  if (const auto threads = threads_from_text(said.text); !threads.empty()) {
    result.backtrace = backtrace_lines(threads.front(), kBacktraceBytes);
    if (const auto frame = frame_of_failure(threads.front()))
      result.place = CrashedIn{std::string(head(frame->function, kMostOfFrame)),
                               std::string(head(frame->file, kMostOfFrame)), frame->line};
  }
  result.note = note_of(run, said, problem, !result.backtrace.empty());
  spdlog::info("core file of rank {}: {} bytes, {}", run.of.rank, said.size.count,
               result.place ? log_text(result.place) : "no stack");
  start_next(now);
}

void CoreFiles::expire(Instant now) {
  if (any() && now >= give_up_at_) return give_up();
  if (running_ && now >= running_->kill_at) {
    running_->kill_at = Instant::never();
    callbacks_.kill(running_->id);
  }
}

Instant CoreFiles::next_deadline() const {
  if (!any()) return Instant::never();
  return std::min(give_up_at_, running_ ? running_->kill_at : Instant::never());
}

void CoreFiles::give_up() {
  for (const Waiting& one : waiting_)
    results_[one.rank].note = NoCoreFile{one.rank, CoreWasNotRead{std::nullopt, false}};
  waiting_.clear();
  if (!running_) return;
  unwatch();
  results_[running_->of.rank].note =
      NoCoreFile{running_->of.rank, CoreWasNotRead{std::nullopt, true}};
  callbacks_.kill(running_->id);
  running_.reset();
}

}  // namespace lockstep::runner
