#include "runner/attach/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace lockstep::runner {
namespace {

// Names of variables; those that end with '_' are beginnings of names.
constexpr std::string_view kRankVariables[] = {
    "PMIX_RANK", "PMIX_NAMESPACE", "PMIX_ID",  "PMIX_SERVER_", "PMI_FD",
    "PMI_PORT",  "PMI_ID",         "PMI_RANK", "PMI_SIZE",     "PMI_SPAWNED",
};

bool makes_a_rank(std::string_view name) {
  for (const std::string_view one : kRankVariables)
    if (one.ends_with('_') ? name.starts_with(one) : name == one) return true;
  return false;
}

// Whether a path is the shell of an account that nobody logs in to.
bool is_no_shell(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name == "nologin" || name == "false" || name == "true" || name == "sync";
}

Status give(int fd, std::uint32_t uid) {
  if (uid == geteuid() || fchown(fd, uid, static_cast<gid_t>(-1)) == 0) return {};
  return errno_error(errno, fmt::format("giving a stream of an attachment to uid {}", uid));
}

// Opens a pipe. `ours` is the end that this process reads or writes.
Status open_pipe(bool we_read, std::uint32_t uid, io::Fd* theirs, io::Fd* ours) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return errno_error(errno, "a pipe for an attachment");
  ours->reset(fds[we_read ? 0 : 1]);
  theirs->reset(fds[we_read ? 1 : 0]);
  fcntl(ours->get(), F_SETFL, O_NONBLOCK);
  return give(theirs->get(), uid);
}

}  // namespace

Result<spawn::RankProcess> attached_process(const AttachProgram& order,
                                            const spawn::RankProcess& rank,
                                            const std::string& shell) {
  spawn::RankProcess process = rank;
  process.argv = order.argv;
  if (process.argv.empty() && shell.empty())
    return make_error(ErrorCode::unsupported,
                      "the image has no shell (/bin/bash, /bin/sh): name a program after --");
  if (process.argv.empty()) process.argv = {shell};
  process.program = process.argv[0];
  std::erase_if(process.environment, [](const auto& entry) { return makes_a_rank(entry.first); });
  process.environment.erase("TERM");
  if (!order.term.empty()) process.environment["TERM"] = order.term;
  return process;
}

std::string shell_of_account(const std::string& shell) {
  for (const std::string& candidate : {shell, std::string("/bin/bash")})
    if (!candidate.empty() && candidate[0] == '/' && !is_no_shell(candidate) &&
        access(candidate.c_str(), X_OK) == 0)
      return candidate;
  return "/bin/sh";
}

Result<Stdio> open_terminal(TerminalSize size, std::uint32_t uid) {
  Stdio stdio;
  stdio.is_terminal = true;
  stdio.output.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!stdio.output) return errno_error(errno, "a pseudo-terminal (/dev/ptmx)");
  if (unlockpt(stdio.output.get()) != 0) return errno_error(errno, "unlocking a pseudo-terminal");
  // Opens the terminal by its master, since /dev/pts may be another file system here.
  stdio.theirs[0].reset(ioctl(stdio.output.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!stdio.theirs[0]) return errno_error(errno, "the other side of a pseudo-terminal");
  for (int i = 1; i < 3; ++i) {
    stdio.theirs[i].reset(fcntl(stdio.theirs[0].get(), F_DUPFD_CLOEXEC, 0));
    if (!stdio.theirs[i]) return errno_error(errno, "the other side of a pseudo-terminal");
  }
  TRY(give(stdio.theirs[0].get(), uid));
  set_size(stdio.output.get(), size);
  termios settings{};
  if (tcgetattr(stdio.theirs[0].get(), &settings) == 0) {
    settings.c_iflag |= IUTF8;  // a backspace then removes a whole character
    tcsetattr(stdio.theirs[0].get(), TCSANOW, &settings);
  }
  return stdio;
}

Result<Stdio> open_pipes(bool takes_input, std::uint32_t uid) {
  Stdio stdio;
  if (takes_input) {
    TRY(open_pipe(false, uid, &stdio.theirs[0], &stdio.input));
  } else {
    TRY_ASSIGN(stdio.theirs[0], io::open_file("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  TRY(open_pipe(true, uid, &stdio.theirs[1], &stdio.output));
  TRY(open_pipe(true, uid, &stdio.theirs[2], &stdio.error));
  return stdio;
}

void set_size(int terminal, TerminalSize size) {
  const winsize value{size.rows, size.columns, 0, 0};
  ioctl(terminal, TIOCSWINSZ, &value);  // the kernel then signals the foreground process group
}

// The end of input on a terminal. In the middle of a line, the first end-of-file character only
// delivers the line so far; the second one ends the input.
std::string end_of_input(int terminal, bool within_line) {
  termios settings{};
  if (tcgetattr(terminal, &settings) != 0 || (settings.c_lflag & ICANON) == 0) return "";
  const cc_t character = settings.c_cc[VEOF];
  if (character == _POSIX_VDISABLE) return "";
  return std::string(within_line ? 2 : 1, static_cast<char>(character));
}

}  // namespace lockstep::runner
