#pragma once
// A view that refreshes itself on the whole terminal, as `top` has it: asks the launcher, draws
// what is known, and repeats until `q` or Ctrl-C.

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/domain/messages/client_protocol.h"
#include "common/io/clock.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/terminal/screen.h"

namespace lockstep::cli {

class LiveScreen {
 public:
  virtual ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Returns the exit code, or the error that ended it. SIGINT, SIGTERM and SIGHUP must be blocked
  // in all threads (hold_interrupts).
  Result<int> run();

 protected:
  // `title` stands in the first line, with the time.
  LiveScreen(Connection& connection, std::string title);
  // Every kRefresh, and after a new connection: sends what is to be answered.
  virtual void ask() = 0;
  // An answer that is no refusal. True: it is new data for text().
  virtual bool take(const ClientReply& reply) = 0;
  virtual std::string text(const Screen::Size& size) = 0;

  Connection& connection() { return connection_; }
  void end(int code) { code_ = code; }

 private:
  void ask_now();
  void hear(const ClientReply& reply);
  void on_signal(int signal);
  void on_keys();
  void draw();

  Connection& connection_;
  const std::string title_;
  io::SystemClock clock_;
  Screen screen_;
  std::optional<Instant> heard_;
  Instant ask_at_;
  std::optional<int> code_;
  std::optional<Error> failure_;
};

}  // namespace lockstep::cli
