#include "runner/attach/stack_run.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "runner/spawn/start_failure.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kAtOnce = 4;
constexpr std::size_t kMaxWaiting = 1u << 20;  // the most bytes of complete lines
constexpr std::size_t kMaxErrors = 4096;
constexpr int kMostReads = 128;  // how often one turn reads at most; more than a pipe holds
constexpr char kMoreTools[] = "/usr/local/bin:/usr/bin:/bin";

// Reads what is available now, and keeps `most` bytes of it. False: nothing was available. A tool
// on the job's PATH may write without end, so the loop is bounded.
bool read_all(int fd, std::string* into, std::size_t most) {
  char buffer[16384];
  bool any = false;
  for (int i = 0; i < kMostReads && fd >= 0; ++i) {
    const ssize_t length = read(fd, buffer, sizeof buffer);
    if (length <= 0) break;
    any = true;
    into->append(buffer, std::min(static_cast<std::size_t>(length), most - into->size()));
  }
  return any;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("it was killed by signal {}", WTERMSIG(status));
  return fmt::format("it ended with code {}", WEXITSTATUS(status));
}

}  // namespace

StackRun::StackRun(io::EventLoop& loop, Callbacks callbacks, std::vector<TracedProcess> processes,
                   bool native, const AttachFacts& facts)
    : loop_(loop),
      callbacks_(std::move(callbacks)),
      native_(native),
      tools_(facts.tools),
      no_tracing_(why_no_tracing(facts.ptrace_scope, facts.uid == 0)),
      left_(processes.begin(), processes.end()) {}

StackRun::~StackRun() {
  for (const Run& run : running_) {
    unwatch(run);
    callbacks_.kill(run.id);
  }
}

void StackRun::unwatch(const Run& run) {
  for (const io::Fd* fd : {&run.stdio.output, &run.stdio.error})
    if (*fd) loop_.unwatch(fd->get(), io::EventLoop::Interest::read);
}

void StackRun::go_on(Instant now) {
  while (!left_.empty() && running_.size() < kAtOnce && lines.size() < kMaxWaiting) {
    TracedProcess process = std::move(left_.front());
    left_.pop_front();
    if (!no_tracing_.empty()) {
      lines += stack_line({std::move(process), "", "", no_tracing_});
      continue;
    }
    auto tools = stack_tools(process, native_);
    start({std::move(process), std::move(tools)}, now);
  }
}

void StackRun::start(Run run, Instant now) {
  const spawn::RankProcess* rank = callbacks_.rank(run.process.rank);
  if (rank == nullptr) return;  // the rank has ended, and so have its processes
  spawn::RankProcess process = *rank;
  process.argv = run.tools.front().words;
  process.program = process.argv[0];
  process.path = (tools_.empty() ? "" : tools_ + ":") + process.path + ":" + kMoreTools;
  // Variables for the rank's program would break tools, which bring their own Python. The last one
  // would make them download debug information.
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "DEBUGINFOD_URLS"})
    process.environment.erase(name);
  auto stdio = open_pipes(false, rank->set_ids ? rank->uid : geteuid());
  auto started = stdio ? callbacks_.start(run.process.rank, process, *stdio) : stdio.error();
  if (!started) {
    lines += stack_line({run.process, "", "", started.error().message});
    return;
  }
  run.id = *started;
  run.stdio = *std::move(stdio);
  run.kill_at = now + kStackTimeout;
  const int id = run.id;
  for (const io::Fd* fd : {&run.stdio.output, &run.stdio.error})
    loop_.watch(fd->get(), io::EventLoop::Interest::read, [this, id] {
      if (const std::size_t i = index_of(id); i < running_.size()) take(running_[i]);
    });
  running_.push_back(std::move(run));
}

// Streams stay readable after their ends. They are polled again only when the keeper reports that
// no process is left.
void StackRun::take(Run& run) {
  const bool any_output = read_all(run.stdio.output.get(), &run.output, kMaxStackText);
  const bool any_errors = read_all(run.stdio.error.get(), &run.errors, kMaxErrors);
  if (!any_output && !any_errors) unwatch(run);
}

std::size_t StackRun::index_of(int id) const {
  const auto found =
      std::find_if(running_.begin(), running_.end(), [id](const Run& run) { return run.id == id; });
  return static_cast<std::size_t>(found - running_.begin());
}

void StackRun::finish(std::size_t index, std::string tool, std::string error) {
  Run& run = running_[index];
  unwatch(run);
  lines += stack_line({run.process, std::move(tool), std::move(run.output), std::move(error)});
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
}

void StackRun::failed(int id, int error, spawn::SpawnStage stage) {
  const std::size_t i = index_of(id);
  if (i == running_.size()) return;
  // The tool was not found. One of the folders may also be unreadable for the rank's user.
  const bool is_missing = stage == spawn::SpawnStage::exec;
  const std::string tool = running_[i].tools.front().name;
  if (!is_missing) return finish(i, "", spawn::why_not_started(tool, error, stage));
  if (running_[i].tools.size() == 1) return finish(i, "", no_tool_words(running_[i].process));
  Run next = std::move(running_[i]);
  const Instant began = next.kill_at - kStackTimeout;
  unwatch(next);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  next.tools.erase(next.tools.begin());
  start(std::move(next), began);
}

void StackRun::exited(int id, int wait_status) {
  const std::size_t i = index_of(id);
  if (i == running_.size()) return;
  Run& run = running_[i];
  take(run);
  const std::string tool = run.tools.front().name;
  std::string error;
  if (run.is_late)
    error = fmt::format("{} did not end within {}", tool, format_duration(kStackTimeout));
  else if (wait_status != 0)
    error = fmt::format(
        "{}: {}{}", tool,
        run.errors.empty() ? how_it_ended(wait_status) : std::string(tail(run.errors, kMaxErrors)),
        run.process.is_rank ? ""
                            : " (where kernel.yama.ptrace_scope is 1, only a "
                              "rank's own process can be read)");
  else if (run.process.is_python && tool != "py-spy")
    error = "py-spy is not on this node or in the job's environment: these are native frames only";
  finish(i, tool, std::move(error));
}

void StackRun::expire(Instant now) {
  for (Run& run : running_) {
    if (now < run.kill_at) continue;
    run.kill_at = Instant::never();
    run.is_late = true;
    callbacks_.kill(run.id);
  }
}

Instant StackRun::next_deadline() const {
  Instant next = Instant::never();
  for (const Run& run : running_) next = std::min(next, run.kill_at);
  return next;
}

}  // namespace lockstep::runner
