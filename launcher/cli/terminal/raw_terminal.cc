#include "launcher/cli/terminal/raw_terminal.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lockstep::cli {

namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Global, because the handler of faults has no other access.
volatile sig_atomic_t raw_fd = -1;
termios modes_before;

void on_fault(int signal) {
  if (raw_fd >= 0) ::tcsetattr(raw_fd, TCSANOW, &modes_before);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Sets the modes. A background process that changes them is stopped, unless the signal is blocked.
void set_modes(int fd, int when, const termios& modes) {
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &stop, &before);
  ::tcsetattr(fd, when, &modes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

RawTerminal::RawTerminal(int fd) : fd_(fd) {
  termios modes{};
  if (::tcgetattr(fd, &modes) != 0) return;
  before_ = modes_before = modes;
  raw_fd = fd;
  for (const int fault : kFaults) ::signal(fault, on_fault);
  enter();
}

RawTerminal::~RawTerminal() {
  if (!before_) return;
  set_modes(fd_, TCSADRAIN, *before_);
  raw_fd = -1;
  for (const int fault : kFaults) ::signal(fault, SIG_DFL);
}

void RawTerminal::enter() {
  if (!before_) return;
  termios raw = *before_;
  ::cfmakeraw(&raw);
  set_modes(fd_, TCSADRAIN, raw);
}

TerminalSize terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

}  // namespace lockstep::cli
