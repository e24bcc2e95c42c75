#include "launcher/cli/attach/session_loop.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/printable.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"

namespace lockstep::cli {

namespace {

constexpr Duration kTick = seconds(1);
// The time without a frame after which the connection is lost.
constexpr Duration kLostAfter = kAttachAskAfter + seconds(2);
// How long messages may take to leave this process.
constexpr Duration kForTheClose = milliseconds(100);
constexpr Duration kForTheLastClose = milliseconds(5);  // the same time, if nothing runs any more

class AttachLoop {
 public:
  AttachLoop(Connection& connection, Terminal& terminal,
             const std::function<std::optional<Endpoint>()>& find_endpoint, AttachOptions options)
      : connection_(connection),
        terminal_(terminal),
        find_endpoint_(find_endpoint),
        is_terminal_(options.is_terminal),
        endpoint_(find_endpoint()),
        options_(std::move(options)) {}
  ~AttachLoop() { connection_.stop_listening(); }

  Result<AttachOutcome> run() {
    TRY(listen());
    client_.emplace(connection_, terminal_, options_);
    Instant next_tick = clock_.now() + kTick;
    while (!client_->outcome()) {
      const Instant now = clock_.now();
      if (now >= next_tick) {
        next_tick = now + kTick;
        look_for_launcher(now);
      }
      client_->tick(now);
      if (client_->outcome()) break;
      const Instant next = std::min(next_tick, client_->next_deadline());
      connection_.loop().turn(std::max(Duration{}, next - clock_.now()));
    }
    let_close_leave();
    return *client_->outcome();
  }

 private:
  Status listen() {
    std::vector<int> signals{SIGINT, SIGTERM, SIGQUIT, SIGWINCH, SIGCONT};
    struct sigaction hangup {};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
      signals.push_back(SIGHUP);
    TRY(connection_.loop().watch_signals(signals, [this](int signal) { on_signal(signal); }));
    Connection::Listener listener;
    listener.on_bulk = [this](const BulkEnvelope& envelope) {
      if (client_ && client_->on_bulk(envelope)) say_if_back();
    };
    listener.on_bulk_up = [this] {
      if (client_) client_->on_bulk_up();
    };
    listener.on_control_up = [this] { is_down_ = false; };
    listener.on_control_down = [this] { is_down_ = true; };
    return connection_.listen(std::move(listener));
  }

  void on_signal(int signal) {
    if (!client_) return;
    if (signal == SIGWINCH) {
      if (is_terminal_) client_->resize();
    } else if (signal == SIGCONT) {
      client_->continued();
    } else if (is_terminal_ || signal == SIGHUP || ++interrupts_ > 1 || !client_->is_opened()) {
      client_->leave(signal);
    } else {
      client_->notify(signal);
    }
  }

  // Looks for a launcher at another endpoint; ZeroMQ redials the same one by itself.
  void look_for_launcher(Instant now) {
    if (!is_down_ && client_->silent_for(now) < kLostAfter) return say_what_it_waits_for();
    const auto endpoint = find_endpoint_();
    if (client_->is_opened() && !is_lost_said_) say_lost(endpoint.has_value());
    is_lost_said_ = is_lost_said_ || client_->is_opened();
    if (!endpoint || endpoint == endpoint_ || !connection_.reopen(*endpoint)) return;
    endpoint_ = endpoint;
    client_->on_bulk_up();
  }

  // Tells that the launcher is lost. One on this machine may have ended for good: only the user can
  // start another.
  void say_lost(bool is_there) {
    const std::string start =
        is_there || !options_.how_to_start ? "" : options_.how_to_start() + "; ";
    terminal_.print_line(
        fmt::format("the launcher {}; waiting for {} ({}the program goes on for {}; "
                    "{} leaves)",
                    is_there ? "does not answer" : "has ended", is_there ? "it" : "a launcher",
                    start, format_duration(kAttachSilence), is_terminal_ ? "~." : "Ctrl-C twice"));
  }

  void say_what_it_waits_for() {
    const std::string& why = client_->is_opened() ? client_->waits_for() : "";
    if (!why.empty() && why != said_) terminal_.print_line(in_one_line(why) + "; waiting");
    said_ = why;
  }

  void say_if_back() {
    if (is_lost_said_) terminal_.print_line("the launcher is back");
    is_lost_said_ = false;
  }

  // This process ends without destructors, so a message may still be in its memory; this waits
  // until it has left.
  void let_close_leave() {
    const bool runs = client_->outcome()->how != AttachOutcome::How::ended;
    const Instant end = clock_.now() + (runs ? kForTheClose : kForTheLastClose);
    for (Instant now = clock_.now(); now < end; now = clock_.now())
      connection_.loop().turn(end - now);
  }

  Connection& connection_;
  Terminal& terminal_;
  const std::function<std::optional<Endpoint>()>& find_endpoint_;
  const bool is_terminal_;
  std::optional<Endpoint> endpoint_;
  AttachOptions options_;
  io::SystemClock clock_;
  std::optional<AttachClient> client_;
  int interrupts_ = 0;
  bool is_down_ = false;
  bool is_lost_said_ = false;
  std::string said_;
};

}  // namespace

Result<AttachOutcome> attach(Connection& connection, Terminal& terminal,
                             const std::function<std::optional<Endpoint>()>& find_endpoint,
                             AttachOptions options) {
  return AttachLoop(connection, terminal, find_endpoint, std::move(options)).run();
}

}  // namespace lockstep::cli
