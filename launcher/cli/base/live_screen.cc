#include "launcher/cli/base/live_screen.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "common/base/time.h"
#include "launcher/cli/base/verb_context.h"

namespace lockstep::cli {

namespace {

constexpr Duration kRefresh = seconds(2);
constexpr Duration kAnswersWithin = seconds(6);

}  // namespace

LiveScreen::LiveScreen(Connection& connection, std::string title)
    : connection_(connection), title_(std::move(title)) {}

LiveScreen::~LiveScreen() {
  connection_.stop_listening();
  connection_.loop().unwatch(STDIN_FILENO, io::EventLoop::Interest::read);
}

Result<int> LiveScreen::run() {
  TRY(connection_.loop().watch_signals({SIGINT, SIGTERM, SIGHUP},
                                       [this](int signal) { on_signal(signal); }));
  Connection::Listener listener;
  listener.on_control = [this](const Envelope<ClientReply>& envelope) { hear(envelope.body); };
  listener.on_bulk = [](const BulkEnvelope&) {};
  listener.on_control_up = [this] { ask_now(); };
  listener.on_bulk_up = [] {};
  TRY(connection_.listen(std::move(listener)));
  if (screen_.reads_keys())
    connection_.loop().watch(STDIN_FILENO, io::EventLoop::Interest::read, [this] { on_keys(); });
  ask_now();
  while (!code_ && !failure_) {
    const Instant now = clock_.now();
    if (now >= ask_at_) ask_now();
    draw();
    connection_.loop().turn(ask_at_ - now);
  }
  if (failure_) return *failure_;
  return *code_;
}

void LiveScreen::ask_now() {
  ask_at_ = clock_.now() + kRefresh;
  ask();
}

void LiveScreen::hear(const ClientReply& reply) {
  if (const auto* refused = std::get_if<Refused>(&reply))
    failure_ = make_error(refused->code, refused->message);
  else if (take(reply))
    heard_ = clock_.now();
}

void LiveScreen::on_signal(int signal) {
  if (signal == SIGINT) code_ = kExitInterrupted;
  if (signal == SIGTERM || signal == SIGHUP) code_ = 128 + signal;
}

void LiveScreen::on_keys() {
  const std::string keys = screen_.typed();
  if (keys.find_first_of("qQ") != keys.npos) code_ = 0;
  if (keys.empty()) code_ = 0;  // the terminal is closed
}

void LiveScreen::draw() {
  const Instant now = clock_.now();
  std::string head = fmt::format("{}  {}", title_, to_string(now).substr(11, 8) + "Z");
  if (!heard_)
    head += "  waiting for the launcher";
  else if (now - *heard_ > kAnswersWithin)
    head += fmt::format("  the launcher has not answered for {}",
                        format_duration(std::chrono::floor<seconds>(now - *heard_)));
  head += screen_.reads_keys() ? "  (q: quit)\n\n" : "  (Ctrl-C: quit)\n\n";
  if (!screen_.draw(head + (heard_ ? text(screen_.size()) : ""))) code_ = kExitOutputClosed;
}

}  // namespace lockstep::cli
