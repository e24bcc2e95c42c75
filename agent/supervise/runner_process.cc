#include "agent/supervise/runner_process.h"

#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <variant>

#include "common/wire/runners/runner_codec.h"

namespace lockstep::agent {
namespace {

constexpr Duration kFirstPause = milliseconds(2);
constexpr Duration kLongestPause = milliseconds(100);
// More than all windows of a part together, so only a runner that does not read can reach it.
constexpr std::size_t kMaxAttachBacklog = 64u << 20;

}  // namespace

RunnerProcess::RunnerProcess(io::EventLoop& loop, io::AttemptDir directory,
                             io::ProcessIdentity identity, Events events)
    : loop_(loop),
      directory_(std::move(directory)),
      identity_(identity),
      events_(std::move(events)),
      dial_pause_(kFirstPause) {
  auto process = io::open_process(identity_);
  if (!process) {
    // The runner is dead already. The loop reports it, as it does any death.
    if (process.error().code != ErrorCode::not_found) spdlog::error("{}", process.error().message);
    next_dial_ = Instant::never();
    loop_.post([on_death = events_.on_death] { on_death(); });
    return;
  }
  process_ = *std::move(process);
  loop_.watch(process_.get(), io::EventLoop::Interest::read, [this] {
    loop_.unwatch(process_.get(), io::EventLoop::Interest::read);
    const auto on_death = events_.on_death;
    on_death();
  });
}

RunnerProcess::~RunnerProcess() {
  if (process_) loop_.unwatch(process_.get(), io::EventLoop::Interest::read);
}

void RunnerProcess::update(const Assignment& assignment) {
  assignment_ = wire::encode(RunnerControl(UpdateAssignment{assignment}));
  if (socket_) socket_->send(assignment_);
}

void RunnerProcess::logs_taken(const std::vector<LogSize>& logs) {
  for (const LogSize& size : logs) logs_taken_[size.rank] = size;
  if (socket_) socket_->send(wire::encode(RunnerControl(LogsTaken{logs})));
}

void RunnerProcess::end(const EndPart& order) {
  if (!end_.empty()) return;
  end_ = wire::encode(RunnerControl(order));
  if (socket_) socket_->send(end_);
}

void RunnerProcess::attach(const AttachFrame& frame) {
  if (socket_ && socket_->backlog_bytes() < kMaxAttachBacklog)
    socket_->send(wire::encode(RunnerControl(frame)));
}

Status RunnerProcess::kill() { return io::signal_process(identity_, SIGKILL); }

void RunnerProcess::dial(Instant now) {
  if (socket_ || !process_) return;
  auto fd = io::connect_unix(directory_.path(), directory_.control_socket_name());
  if (fd) return connected(*std::move(fd));
  next_dial_ = now + dial_pause_;
  dial_pause_ = std::min(dial_pause_ * 2, kLongestPause);
}

void RunnerProcess::connected(io::Fd fd) {
  next_dial_ = Instant::never();
  dial_pause_ = kFirstPause;
  socket_ = std::make_unique<io::FramedSocket>(
      loop_, std::move(fd), kMaxRunnerFrameBytes, [this](std::string frame) { receive(frame); },
      [this] {
        socket_.reset();
        // The pidfd shows whether the runner died; until then the agent dials again.
        next_dial_ = {};
      });
  if (!assignment_.empty()) socket_->send(assignment_);
  if (!end_.empty()) socket_->send(end_);
  LogsTaken taken;
  for (const auto& [rank, size] : logs_taken_) taken.logs.push_back(size);
  if (!taken.logs.empty()) socket_->send(wire::encode(RunnerControl(std::move(taken))));
}

void RunnerProcess::receive(const std::string& frame) {
  auto message = wire::decode_runner_control(frame);
  if (auto* use = message ? std::get_if<RanksUse>(&*message) : nullptr)
    return events_.on_use(std::move(use->use));
  if (const auto* attach = message ? std::get_if<AttachFrame>(&*message) : nullptr) {
    if (events_.on_attach) events_.on_attach(*attach);
    return;
  }
  auto* status = message ? std::get_if<RunnerStatus>(&*message) : nullptr;
  if (!status) {
    spdlog::error("the runner of {} sent an unexpected message: {}", directory_.path(),
                  message ? "an assignment" : message.error().message);
    return;
  }
  events_.on_report(std::move(status->report));
}

}  // namespace lockstep::agent
