#include "runner/runner_server.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/wire/runners/runner_codec.h"

namespace lockstep::runner {
namespace {

// More than all windows of a part together, so only an agent that does not read can reach it.
constexpr std::size_t kMaxAttachBacklog = 64u << 20;

}  // namespace

Result<std::unique_ptr<RunnerServer>> RunnerServer::listen(io::EventLoop& loop,
                                                           const std::string& directory,
                                                           const std::string& name, Events events) {
  TRY_ASSIGN(io::Fd listener, io::listen_unix(directory, name));
  return std::unique_ptr<RunnerServer>(
      new RunnerServer(loop, std::move(listener), directory + "/" + name, std::move(events)));
}

RunnerServer::RunnerServer(io::EventLoop& loop, io::Fd listener, std::string path, Events events)
    : loop_(loop),
      listener_(std::move(listener)),
      path_(std::move(path)),
      events_(std::move(events)) {
  loop_.watch(listener_.get(), io::EventLoop::Interest::read, [this] { accept(); });
}

RunnerServer::~RunnerServer() {
  loop_.unwatch(listener_.get(), io::EventLoop::Interest::read);
  unlink(path_.c_str());
}

void RunnerServer::accept() {
  auto fd = io::accept_unix(listener_.get());
  if (!fd) return;
  const std::uint64_t id = ++last_connection_;
  spdlog::debug("an agent connected");
  connections_[id] = std::make_unique<io::FramedSocket>(
      loop_, *std::move(fd), kMaxRunnerFrameBytes,
      [this, id](std::string frame) { receive(id, frame); },
      [this, id] { connections_.erase(id); });
  connections_[id]->send(wire::encode(RunnerControl(RunnerStatus{events_.current()})));
}

void RunnerServer::receive(std::uint64_t connection, const std::string& frame) {
  auto message = wire::decode_runner_control(frame);
  if (auto* update = message ? std::get_if<UpdateAssignment>(&*message) : nullptr)
    return events_.on_assignment(std::move(update->assignment));
  if (const auto* taken = message ? std::get_if<LogsTaken>(&*message) : nullptr)
    return events_.on_logs_taken(*taken);
  if (const auto* end = message ? std::get_if<EndPart>(&*message) : nullptr)
    return events_.on_end(*end);
  if (const auto* attach = message ? std::get_if<AttachFrame>(&*message) : nullptr)
    return events_.on_attach(*attach);
  spdlog::warn("connection {} sent an unexpected message: {}", connection,
               message ? "a status" : message.error().message);
}

void RunnerServer::tell(const PartReport& report) {
  const std::string frame = wire::encode(RunnerControl(RunnerStatus{report}));
  for (const auto& [id, connection] : connections_) connection->send(frame);
}

// Sends the use. An agent that does not read needs no old samples.
void RunnerServer::tell(const PartUse& use) {
  const std::string frame = wire::encode(RunnerControl(RanksUse{use}));
  for (const auto& [id, connection] : connections_)
    if (connection->backlog_bytes() == 0) connection->send(frame);
}

void RunnerServer::tell(const AttachFrame& attach) {
  const std::string frame = wire::encode(RunnerControl(attach));
  for (const auto& [id, connection] : connections_)
    if (connection->backlog_bytes() < kMaxAttachBacklog) connection->send(frame);
}

std::size_t RunnerServer::backlog_bytes() const {
  std::size_t total = 0;
  for (const auto& [id, connection] : connections_) total += connection->backlog_bytes();
  return total;
}

}  // namespace lockstep::runner
