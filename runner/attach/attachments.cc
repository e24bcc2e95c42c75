#include "runner/attach/attachments.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "runner/spawn/start_failure.h"

namespace lockstep::runner {
namespace {

constexpr Duration kHangUpGrace = seconds(1);  // the time between SIGHUP and SIGKILL
// How long streams of an ended program stay open.
constexpr Duration kCloseAfter = milliseconds(500);
// How long rank 0 waits for a client that is silent.
constexpr Duration kMainWaitsFor = 2 * kAttachAskAfter;
constexpr std::size_t kMostGone = 4096;

// The exit code as shells count it.
int code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

Attachments::Attachments(io::EventLoop& loop, io::Clock& clock, AttachPlace& place,
                         AttachFacts facts)
    : loop_(loop), clock_(clock), place_(place), facts_(std::move(facts)) {}

Attachments::~Attachments() {
  if (main_ != nullptr) main_->detach();
}

Attachments::One* Attachments::find(const AttachId& id) {
  const auto found = ones_.find(id);
  return found == ones_.end() ? nullptr : found->second.get();
}

Attachments::One* Attachments::owner(int spawned, AttachId* id) {
  const auto found = by_spawned_.find(spawned);
  if (found == by_spawned_.end()) return nullptr;
  *id = found->second;
  return find(*id);
}

void Attachments::refuse(const AttachId& id, std::string message, bool for_now) {
  place_.send({id, AttachRefused{std::move(message), for_now}});
}

// ---- frames -------------------------------------------------------------------------------------

// Takes a frame. If its id is not open, the frame came before its opening, or late.
void Attachments::take(const AttachFrame& frame) {
  const AttachId& id = frame.attachment;
  if (const auto* order = std::get_if<AttachOpen>(&frame.body)) return open(id, *order);
  if (std::holds_alternative<AttachClose>(frame.body)) return close(id);
  One* const one = find(id);
  if (one == nullptr) return;
  hear(*one);
  take(*one, frame.body);
  go_on(id);
}

void Attachments::hear(One& one) {
  one.heard = clock_.now();
  if (std::holds_alternative<Main>(one.what) && main_ != nullptr) main_->wait_for_client(true);
}

void Attachments::take(One& one, const AttachBody& body) {
  if (const auto* data = std::get_if<AttachData>(&body)) return one.talk.take(*data);
  if (const auto* taken = std::get_if<AttachTaken>(&body)) return one.talk.take(*taken);
  if (const auto* resized = std::get_if<AttachResize>(&body)) return resize(one, resized->size);
  if (const auto* note = std::get_if<AttachNotify>(&body)) return notify(one, note->number);
  if (std::holds_alternative<AttachAlive>(body)) one.talk.hear();
}

void Attachments::resize(One& one, TerminalSize size) {
  if (auto* program = std::get_if<Program>(&one.what); program != nullptr && program->streams)
    program->streams->resize(size);
  if (std::holds_alternative<Main>(one.what) && main_ != nullptr) main_->resize(size);
}

void Attachments::notify(One& one, int number) {
  if (number < 1 || number > kLastSignal) return;
  if (const auto* program = std::get_if<Program>(&one.what); program != nullptr && program->id > 0)
    signal(program->id, number);
  if (std::holds_alternative<Main>(one.what)) signal(facts_.first_rank, number);
}

// Sends everything that can be sent, after any change.
void Attachments::go_on(const AttachId& id) {
  One* const one = find(id);
  if (one == nullptr) return;
  if (auto* program = std::get_if<Program>(&one->what)) {
    if (program->streams) program->streams->go_on();
  } else if (std::holds_alternative<Main>(one->what)) {
    if (main_ != nullptr) main_->go_on();
  } else if (auto* stacks = std::get_if<std::unique_ptr<StackRun>>(&one->what)) {
    if (*stacks) go_on_stacks(*one, **stacks);
  }
  while (auto body = one->talk.next()) place_.send({id, *std::move(body)});
}

void Attachments::go_on_stacks(One& one, StackRun& run) {
  run.go_on(clock_.now());
  const std::size_t fits = std::min(one.talk.room(AttachStream::output), run.lines.size());
  one.talk.add(AttachStream::output, std::string_view(run.lines).substr(0, fits));
  run.lines.erase(0, fits);
  if (!run.is_over() || !run.lines.empty()) return;
  one.talk.close(AttachStream::output);
  one.talk.end(0, "");
}

// ---- their end ----------------------------------------------------------------------------------

// Gives an order. If it fails, lockstep-spawn is gone, and the client would report it at once. That
// report waits until this call is done.
void Attachments::order(const std::function<void(spawn::Client&)>& what) {
  spawn::Client* const spawn = place_.spawn();
  if (spawn == nullptr) return;
  const bool before = std::exchange(is_ordering_, true);
  what(*spawn);
  is_ordering_ = before;
}

void Attachments::kill(int id) {
  order([id](spawn::Client& spawn) { spawn.end(id); });
}

void Attachments::signal(int id, int number) {
  if (number == SIGKILL && id < kFirstAttachedId) killed_.insert(id);
  order([id, number](spawn::Client& spawn) { spawn.signal(id, number); });
}

void Attachments::close(const AttachId& id) {
  if (gone_.insert(id).second) gone_order_.push_back(id);
  if (gone_order_.size() > kMostGone) {
    gone_.erase(gone_order_.front());
    gone_order_.pop_front();
  }
  One* const one = find(id);
  if (one == nullptr) return;
  leave(*one);
  ones_.erase(id);
}

// Handles a client that is gone. The program that it started is ended, and killed a moment later.
void Attachments::leave(One& one) {
  if (std::holds_alternative<Main>(one.what) && main_ != nullptr) main_->detach();
  auto* const program = std::get_if<Program>(&one.what);
  if (program == nullptr || program->is_left) return;
  signal(program->id, SIGHUP);
  program->streams.reset();  // closing a terminal sends SIGHUP
  dying_[program->id] = clock_.now() + kHangUpGrace;
}

void Attachments::end_all(const std::string& why) {
  if (!over_.empty()) return;
  over_ = why;
  std::vector<AttachId> ids;
  for (const auto& [id, one] : ones_) ids.push_back(id);
  for (const auto& [id, when] : dying_) kill(id);
  for (const AttachId& id : ids) {
    One& one = *find(id);
    if (auto* stacks = std::get_if<std::unique_ptr<StackRun>>(&one.what)) {
      stacks->reset();  // ends the tools that take stacks
      one.talk.close(AttachStream::output);
    }
    if (const auto* program = std::get_if<Program>(&one.what); program && !program->is_left)
      kill(program->id);
    if (!std::holds_alternative<Main>(one.what)) one.talk.end(kAttachFailed, why);
    go_on(id);
  }
}

void Attachments::spawn_lost() {
  is_lost_ = is_ordering_;
  if (is_lost_) return;
  end_all("the processes of this node have ended: lockstep-spawn is gone");
  for (const auto& [spawned, id] : std::exchange(by_spawned_, {})) {
    One* const one = find(id);
    auto* const program = one == nullptr ? nullptr : std::get_if<Program>(&one->what);
    if (program == nullptr) continue;
    program->is_left = true;
    if (program->streams) program->streams->finish(true);
    go_on(id);
  }
  dying_.clear();
}

void Attachments::main_drained() {
  for (const auto& [id, one] : ones_)
    if (std::holds_alternative<Main>(one->what)) {
      one->talk.end(kAttachFailed, "the ranks of this node have ended");
      while (auto body = one->talk.next()) place_.send({id, *std::move(body)});
    }
}

// ---- lockstep-spawn's words ---------------------------------------------------------------------

void Attachments::started(int id, int pid) {
  AttachId owner_id;
  const One* const one = owner(id, &owner_id);
  const auto* const program = one == nullptr ? nullptr : std::get_if<Program>(&one->what);
  if (program != nullptr && pid > 0) place_.started(program->rank, pid);
}

void Attachments::failed(int id, int error, spawn::SpawnStage stage) {
  AttachId owner_id;
  One* const one = owner(id, &owner_id);
  by_spawned_.erase(id);
  dying_.erase(id);
  if (one == nullptr) return;
  if (auto* program = std::get_if<Program>(&one->what)) {
    program->is_left = true;
    one->talk.end(spawn::exit_code_of(error, stage),
                  spawn::why_not_started(program->name, error, stage));
    if (program->streams) program->streams->finish(true);
  } else if (auto* stacks = std::get_if<std::unique_ptr<StackRun>>(&one->what)) {
    if (*stacks) (*stacks)->failed(id, error, stage);
  }
  go_on(owner_id);
}

void Attachments::exited(int id, int wait_status) {
  AttachId owner_id;
  One* const one = owner(id, &owner_id);
  by_spawned_.erase(id);
  dying_.erase(id);
  if (one == nullptr) return;
  if (auto* program = std::get_if<Program>(&one->what)) {
    program->is_left = true;
    place_.ended(program->rank);
    one->talk.end(code_of(wait_status), "");
    if (program->streams && !program->streams->finish(false))
      program->close_at = clock_.now() + kCloseAfter;
  } else if (auto* stacks = std::get_if<std::unique_ptr<StackRun>>(&one->what)) {
    if (*stacks) (*stacks)->exited(id, wait_status);
  }
  go_on(owner_id);
}

void Attachments::rank_exited(int rank, int wait_status) {
  if (rank != 0) return;
  main_code_ = code_of(wait_status);
  std::vector<AttachId> ids;
  for (const auto& [id, one] : ones_)
    if (std::holds_alternative<Main>(one->what)) ids.push_back(id);
  for (const AttachId& id : ids) {
    find(id)->talk.end(*main_code_, "");
    go_on(id);
  }
}

// ---- time ---------------------------------------------------------------------------------------

Instant Attachments::next_deadline() const {
  Instant next = is_lost_ ? Instant{} : Instant::never();
  for (const auto& [id, one] : ones_) {
    next = std::min(next, one->heard + kAttachSilence);
    if (std::holds_alternative<Main>(one->what) && main_ != nullptr && main_->waits_for_client())
      next = std::min(next, one->heard + kMainWaitsFor);
    if (const auto* program = std::get_if<Program>(&one->what))
      next = std::min(next, program->close_at);
    const auto* stacks = std::get_if<std::unique_ptr<StackRun>>(&one->what);
    if (stacks != nullptr && *stacks) next = std::min(next, (*stacks)->next_deadline());
  }
  for (const auto& [id, when] : dying_) next = std::min(next, when);
  return next;
}

void Attachments::expire(Instant now) {
  if (is_lost_) spawn_lost();
  for (auto& [id, when] : dying_)
    if (now >= when) {
      kill(id);
      when = now + kHangUpGrace;
    }
  std::vector<AttachId> silent, moved;
  for (const auto& [id, one] : ones_) {
    if (now >= one->heard + kAttachSilence) silent.push_back(id);
    if (std::holds_alternative<Main>(one->what) && main_ != nullptr &&
        now >= one->heard + kMainWaitsFor)
      main_->wait_for_client(false);
    if (auto* program = std::get_if<Program>(&one->what); program && now >= program->close_at) {
      program->close_at = Instant::never();
      if (program->streams && !program->streams->finish(true))
        program->close_at = now + kCloseAfter;
      moved.push_back(id);
    }
    auto* stacks = std::get_if<std::unique_ptr<StackRun>>(&one->what);
    if (stacks != nullptr && *stacks) (*stacks)->expire(now);
  }
  for (const AttachId& id : moved) go_on(id);
  for (const AttachId& id : silent) {
    spdlog::warn("nothing was heard of an attachment for {}: it is ended",
                 format_duration(kAttachSilence));
    close(id);
  }
}

}  // namespace lockstep::runner
