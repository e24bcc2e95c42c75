// `lockstep`: the command line.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/command_line.h"
#include "launcher/cli/last_job.h"

namespace {

using namespace lockstep::cli;

// Opens standard input if it is closed: the first file that this program opens would get its
// number.
void open_standard_input() {
  if (::fcntl(STDIN_FILENO, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) > STDIN_FILENO)
    std::abort();  // open(2) returns the lowest free number
}

// The exit code with the output's state: output that could not be written is a failure.
int with_output(Terminal& terminal, int exit_code) {
  const auto& lost = terminal.lost_output();
  if (!lost) return exit_code;
  if (lost->closed) return exit_code == 0 ? kExitOutputClosed : exit_code;
  terminal.print_line("the output of this command is not complete: " + lost->why);
  return exit_code == 0 ? kExitFailure : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_input();
  ::signal(SIGPIPE, SIG_IGN);  // write(2) then reports a closed output
  Terminal terminal;
  const auto output = default_output(LocalHome::from_environment());
  if (!output) terminal.print_line(output.error().message);
  const std::vector<std::string> words(argv + 1, argv + argc);
  CommandLine line = parse_command_line(words, output.value_or(""));
  terminal.out(line.out);
  terminal.err(line.err);
  if (!line.action) return with_output(terminal, line.exit_code);
  const char* launcher = std::getenv("LOCKSTEP_LAUNCHER");
  Context context{LocalHome::from_environment(), launcher == nullptr ? "" : launcher, terminal};
  if (line.names_last_job) {
    const auto name = last_job(context);
    if (!name) return fail(terminal, name.error());
    line = parse_command_line(words, output.value_or(""), *name);
    if (!line.action) {
      terminal.err(line.err);
      return with_output(terminal, line.exit_code);
    }
  }
  context.query = line.query;
  // Ends the process without destructors: closing connections in order would cost half a
  // millisecond per command, and no data is left to be written.
  const int exit_code = with_output(terminal, line.action(context));
  terminal.clear_status();
  std::_Exit(exit_code);
}
