#include "runner/watch/stack_ask.h"

#include <algorithm>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::size_t kMostWaitingStacks = 1'024;  // the most processes that wait for a stack

}  // namespace

void StackAsk::ask(std::vector<TracedProcess> processes) {
  if (is_over_) return;
  for (TracedProcess& process : processes)
    if (waiting_.size() < kMostWaitingStacks) waiting_.push_back(std::move(process));
  if (run_ == nullptr) begin();
}

void StackAsk::begin() {
  if (is_over_ || waiting_.empty() || place_.spawn() == nullptr) return;
  asked_.clear();
  for (const TracedProcess& process : std::exchange(waiting_, {}))
    asked_[process.pid] = {process, {}};
  run(Way::python_and_native);
}

std::optional<StackAsk::Way> StackAsk::after(Way way) {
  switch (way) {
    case Way::python_and_native: return Way::python;
    case Way::python: return Way::native;
    case Way::native: break;
  }
  return std::nullopt;
}

void StackAsk::run(Way way) {
  std::vector<TracedProcess> processes;
  for (const auto& [pid, asked] : asked_) {
    processes.push_back(asked.process);
    if (way == Way::native) processes.back().is_python = false;
  }
  lines_.clear();
  way_ = way;
  run_at_ = clock_.now();
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
  run_ = std::make_unique<StackRun>(loop_, std::move(callbacks), std::move(processes),
                                    way == Way::python_and_native, facts_);
  go_on();
}

Result<int> StackAsk::start(const spawn::RankProcess& process, Stdio& stdio) {
  spawn::Client* const spawn = is_over_ ? nullptr : place_.spawn();
  if (spawn == nullptr)
    return make_error(ErrorCode::unavailable, "the ranks of this node are being ended");
  const int id = next_id_;
  next_id_ = next_id_ + 1 == kFirstKeptId ? kFirstWatchId : next_id_ + 1;
  TRY(spawn->start(id, process, stdio.theirs[0].get(), stdio.theirs[1].get(), stdio.theirs[2].get(),
                   -1, spawn::kKept));
  for (io::Fd& theirs : stdio.theirs) theirs.reset();
  return id;
}

// Starts the tools that may run now, and reads the output of those that run.
void StackAsk::go_on() {
  if (run_ == nullptr) return;
  run_->go_on(clock_.now());
  lines_ += std::exchange(run_->lines, {});
  take_lines();
  if (run_->is_over()) finish();
}

void StackAsk::take_lines() {
  std::size_t from = 0;
  for (std::size_t end = lines_.find('\n'); end != lines_.npos; end = lines_.find('\n', from)) {
    const auto top = parse_stack_line(std::string_view(lines_).substr(from, end - from));
    from = end + 1;
    const auto asked = top ? asked_.find(top->pid) : asked_.end();
    if (asked != asked_.end()) asked->second.top = top;
  }
  lines_.erase(0, from);
}

// Finishes the run of a tool. Some systems give no native frames, others none of Python.
void StackAsk::finish() {
  run_.reset();
  const std::optional<Way> next = after(way_);
  std::vector<Asked> done;
  for (auto each = asked_.begin(); each != asked_.end();) {
    const Asked& asked = each->second;
    if (next && !asked.top && asked.process.is_python) {
      ++each;
      continue;
    }
    done.push_back(asked);
    each = asked_.erase(each);
  }
  for (const Asked& asked : done) told_(asked.process.rank, asked.top, run_at_);
  asked_.empty() ? begin() : run(next.value_or(Way::native));
}

void StackAsk::end() {
  is_over_ = true;
  run_.reset();
  waiting_.clear();
  asked_.clear();
}

void StackAsk::failed(int id, int error, spawn::SpawnStage stage) {
  if (run_) run_->failed(id, error, stage);
  go_on();
}

void StackAsk::exited(int id, int wait_status) {
  if (run_) run_->exited(id, wait_status);
  go_on();
}

Instant StackAsk::next_deadline() const {
  if (is_over_ && run_) return Instant{};
  return run_ ? run_->next_deadline() : Instant::never();
}

void StackAsk::expire(Instant now) {
  if (is_over_) return end();
  if (!run_) return begin();
  run_->expire(now);
  go_on();
}

}  // namespace lockstep::runner
