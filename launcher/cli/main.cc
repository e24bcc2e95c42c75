// `lockstep`: the command line.

#include <signal.h>

#include <cstdlib>

#include "launcher/cli/command_line.h"

int main(int argc, char** argv) {
  using namespace lockstep::cli;
  ::signal(SIGPIPE, SIG_IGN);  // a closed output is an answer of write(2), and said
  const CommandLine line = parse_command_line(std::vector<std::string>(argv + 1, argv + argc));
  Terminal terminal;
  terminal.out(line.out);
  terminal.err(line.err);
  if (!line.action) return line.exit_code;
  const char* launcher = std::getenv("LOCKSTEP_LAUNCHER");
  Context context{Home::from_environment(), launcher == nullptr ? "" : launcher, terminal};
  return line.action(context);
}
