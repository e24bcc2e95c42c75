#include "runner/attach/kept_stacks.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "common/domain/data/outputs.h"
#include "common/domain/ranks/found.h"
#include "runner/spawn/start_failure.h"

namespace lockstep::runner {
namespace {

constexpr char kWrite[] = R"(mkdir -p "$1" && exec cat > "$1/$2")";

}  // namespace

KeptStacks::KeptStacks(io::EventLoop& loop, io::Clock& clock, AttachPlace& place, AttachFacts facts)
    : loop_(loop), clock_(clock), place_(place), facts_(std::move(facts)) {}

KeptStacks::~KeptStacks() { end(); }

std::vector<TracedProcess> KeptStacks::processes_here() const {
  std::map<int, int> live;
  for (int rank = facts_.first_rank; rank < facts_.first_rank + facts_.ranks_here; ++rank)
    if (const RankHere* const here = place_.rank(rank); here != nullptr && here->lives)
      live[rank] = here->pid;
  return processes_of_ranks(live, place_.spawn_pid());
}

Result<int> KeptStacks::start(const spawn::RankProcess& process, Stdio& stdio) {
  spawn::Client* const spawn = place_.spawn();
  if (spawn == nullptr)
    return make_error(ErrorCode::unavailable, "the ranks of this node are being ended");
  const int id = next_id_++;
  TRY(spawn->start(id, process, stdio.theirs[0].get(), stdio.theirs[1].get(), stdio.theirs[2].get(),
                   -1, spawn::kKept));
  for (io::Fd& theirs : stdio.theirs) theirs.reset();
  return id;
}

Status KeptStacks::open_file(const spawn::RankProcess& rank) {
  AttachProgram order;
  order.argv = {"/bin/sh",
                "-c",
                kWrite,
                "sh",
                std::string(kLogsFolder),
                stacks_file(facts_.attempt.number, facts_.node_rank)};
  TRY_ASSIGN(const spawn::RankProcess process, attached_process(order, rank, "/bin/sh"));
  TRY_ASSIGN(stdio_, open_pipes(true, facts_.uid));
  TRY_ASSIGN(writer_, start(process, stdio_));
  return {};
}

void KeptStacks::begin() {
  if (std::exchange(is_begun_, true)) return;
  std::vector<TracedProcess> processes = processes_here();
  const RankHere* const first = processes.empty() ? nullptr : place_.rank(processes.front().rank);
  if (first == nullptr) return;
  if (const Status opened = open_file(first->process); !opened) {
    spdlog::warn("the stacks of the ranks are not kept: {}", opened.error().message);
    return;
  }
  StackRun::Callbacks callbacks;
  callbacks.start = [this](int, const spawn::RankProcess& process, Stdio& stdio) {
    return start(process, stdio);
  };
  callbacks.kill = [this](int id) {
    if (spawn::Client* const spawn = place_.spawn()) spawn->end(id);
  };
  callbacks.rank = [this](int rank) -> const spawn::RankProcess* {
    const RankHere* const here = place_.rank(rank);
    return here != nullptr && here->lives ? &here->process : nullptr;
  };
  run_ =
      std::make_unique<StackRun>(loop_, std::move(callbacks), std::move(processes), false, facts_);
  go_on();
}

// Starts the tools that may run now, and reads the output of those that run.
void KeptStacks::go_on() {
  if (!run_) return;
  run_->go_on(clock_.now());
  std::string lines = std::exchange(run_->lines, {});
  const bool fits = written_ + lines.size() <= kMaxKeptStacks;
  if (fits) {
    written_ += lines.size();
    unwritten_ += lines;
  }
  if (run_->is_over() || !fits) run_.reset();
  write();
}

void KeptStacks::write() {
  const int fd = stdio_.input.get();
  if (fd < 0) return;
  while (!unwritten_.empty()) {
    const ssize_t length = ::write(fd, unwritten_.data(), unwritten_.size());
    if (length > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(length));
      continue;
    }
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN)
      return loop_.watch(fd, io::EventLoop::Interest::write, [this] { write(); });
    return close_file();
  }
  loop_.unwatch(fd, io::EventLoop::Interest::write);
  if (!run_) close_file();
}

void KeptStacks::close_file() {
  unwritten_.clear();
  if (!stdio_.input) return;
  loop_.unwatch(stdio_.input.get(), io::EventLoop::Interest::write);
  stdio_.input.reset();
}

void KeptStacks::failed(int id, int error, spawn::SpawnStage stage) {
  if (id != writer_) {
    if (run_) run_->failed(id, error, stage);
    return go_on();
  }
  spdlog::warn("the stacks of the ranks are not kept: {}",
               spawn::why_not_started("/bin/sh", error, stage));
  writer_ = -1;
  end();
}

void KeptStacks::exited(int id, int wait_status) {
  if (id != writer_) {
    if (run_) run_->exited(id, wait_status);
    return go_on();
  }
  if (wait_status != 0)
    spdlog::warn("the stacks of the ranks are not kept: their writer ended with status {}",
                 wait_status);
  else
    spdlog::info("the stacks of the ranks are kept in {}/", kLogsFolder);
  writer_ = -1;
  end();
}

void KeptStacks::end() {
  run_.reset();
  close_file();
}

Instant KeptStacks::next_deadline() const {
  return run_ ? run_->next_deadline() : Instant::never();
}

void KeptStacks::expire(Instant now) {
  if (!run_) return;
  run_->expire(now);
  go_on();
}

}  // namespace lockstep::runner
