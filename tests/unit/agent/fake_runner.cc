// A runner without ranks, for tests of the agent: does what BEHAVIOUR of its assignment says.
//   finish   reports running, writes one line of log, then its final report, and ends
//   wait     the same, but only when it is told to stop
//   deaf     never answers and never ends
//   crash    says why in its own log, and ends without a final report
//   secret   writes no pid file and waits (as one that was just started)
// It is a template, too.

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/event_loop.h"
#include "common/io/net/framed_socket.h"
#include "common/io/process.h"
#include "common/io/programs/fork_server.h"
#include "common/wire/runners/runner_codec.h"

namespace lockstep {
namespace {

class FakeRunner {
 public:
  FakeRunner(io::AttemptDir directory, Assignment assignment)
      : directory_(std::move(directory)), assignment_(std::move(assignment)) {}

  int run() {
    const std::string behaviour = assignment_.spec.environment_variables["BEHAVIOUR"];
    if (behaviour == "crash") {
      (void)io::write_all(STDERR_FILENO, "an older line\nfirst\nsecond\nno more memory\n");
      return 1;
    }
    if (behaviour != "secret") {
      (void)io::write_file_atomically(directory_.runner_pid(), io::to_text(*io::identify(getpid())),
                                      0644, false);
    }
    listener_ = *io::listen_unix(directory_.path(), directory_.control_socket_name());
    loop_.watch(listener_.get(), io::EventLoop::Interest::read, [this] { accept(); });
    write_log("hello from the rank\n");
    if (behaviour == "finish") finish();
    deaf_ = behaviour == "deaf";
    while (!done_) loop_.turn(Duration::max());
    return 0;
  }

 private:
  PartReport report() const {
    PartReport report;
    report.attempt = assignment_.attempt;
    report.state = exit_ ? PartState::finished : PartState::running;
    report.started = Instant{1};
    report.exit = exit_;
    return report;
  }
  void accept() {
    auto fd = io::accept_unix(listener_.get());
    if (!fd || deaf_) return;
    socket_ = std::make_unique<io::FramedSocket>(
        loop_, *std::move(fd), kMaxRunnerFrameBytes,
        [this](std::string frame) {
          const auto message = wire::decode_runner_control(frame);
          const auto* update = message ? std::get_if<UpdateAssignment>(&*message) : nullptr;
          if (update && update->assignment.phase == WantedPhase::stop) finish();
          if (const auto* attach = message ? std::get_if<AttachFrame>(&*message) : nullptr)
            answer(*attach);
        },
        [] {});
    socket_->send(wire::encode(RunnerControl(RunnerStatus{report()})));
  }
  // Whatever is attached is an echo.
  void answer(const AttachFrame& frame) {
    std::optional<AttachBody> body;
    if (std::holds_alternative<AttachOpen>(frame.body))
      body = AttachOpened{assignment_.attempt, 0, 0, "", 0};
    if (const auto* data = std::get_if<AttachData>(&frame.body))
      body = AttachData{AttachStream::output, data->offset, data->bytes, data->end};
    if (body) socket_->send(wire::encode(RunnerControl(AttachFrame{frame.attachment, *body})));
  }
  void finish() {
    write_log("last line");
    exit_.emplace();
    exit_->ended = Instant{2};
    (void)io::write_file_atomically(directory_.final_report(), wire::encode(*exit_));
    if (socket_) socket_->send(wire::encode(RunnerControl(RunnerStatus{report()})));
    done_ = true;
  }
  void write_log(const std::string& text) {
    const auto file =
        io::open_file(directory_.log(0, LogStream::out), O_WRONLY | O_CREAT | O_APPEND);
    (void)io::write_all(file->get(), text);
  }

  io::AttemptDir directory_;
  Assignment assignment_;
  io::EventLoop loop_;
  io::Fd listener_;
  std::unique_ptr<io::FramedSocket> socket_;
  std::optional<NodeExitReport> exit_;
  bool deaf_ = false, done_ = false;
};

}  // namespace
}  // namespace lockstep

int main(int, char** argv) {
  using namespace lockstep;
  std::string path = argv[2];
  if (argv[1] == std::string("--template")) {
    const auto words =
        io::serve_forks(STDIN_FILENO, argv, {[](const io::ForkOrder&) { return Status(); }});
    if (!words) return 0;
    path = (*words)[2];
  }
  const io::AttemptDir directory(path);
  const auto bytes = io::read_file(directory.assignment());
  const auto assignment = wire::decode_assignment(bytes.value());
  return FakeRunner(directory, assignment.value()).run();
}
