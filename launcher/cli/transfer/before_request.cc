#include "launcher/cli/transfer/before_request.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

namespace lockstep::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// The text to print, global because a signal handler has no other access. Null: none is set.
std::atomic<const char*> last_words = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

extern "C" void say_and_end(int signal) {
  const char* words = last_words;
  if (words != nullptr && ::write(STDERR_FILENO, words, std::strlen(words)) < 0) {
    // Nobody can read it.
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// The text; on a terminal it follows the status line and the ^C.
const char* words_of(const Terminal& terminal, BeforeRequest::Kind kind) {
  const bool is_submission = kind == BeforeRequest::Kind::submission;
  if (terminal.has_status_line())
    return is_submission ? "\nlockstep: interrupted; nothing was submitted\n"
                         : "\nlockstep: interrupted; nothing was registered\n";
  return is_submission ? "lockstep: interrupted; nothing was submitted\n"
                       : "lockstep: interrupted; nothing was registered\n";
}

// Sets a handler. A signal that the parent process ignores stays ignored.
void set_handler(int signal, void (*from)(int), void (*to)(int)) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != from) return;
  action = {};
  action.sa_handler = to;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

BeforeRequest::BeforeRequest(const Terminal& terminal, Kind kind) : kind_(kind) {
  last_words = words_of(terminal, kind);
  for (const int signal : kSignals) set_handler(signal, SIG_DFL, say_and_end);
}

BeforeRequest::~BeforeRequest() {
  for (const int signal : kSignals) set_handler(signal, say_and_end, SIG_DFL);
  last_words = nullptr;
}

Error BeforeRequest::explained(Error error) const {
  if (error.code != ErrorCode::unavailable) return error;
  error.message += kind_ == Kind::submission ? "; nothing was submitted: run the command again"
                                             : "; nothing was registered: run the command again";
  return error;
}

}  // namespace lockstep::cli
