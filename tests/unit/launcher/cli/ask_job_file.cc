// Asks the local launcher of LOCKSTEP_HOME to check a job file that was not looked at here, and
// prints its errors: ask_job_file FILE [K.L=V …]. tests/e2e/test_bad_input.py compares them with
// those of `lockstep job create`.

#include <cstdlib>
#include <iostream>

#include "common/io/file_system.h"
#include "launcher/cli/base/verb_context.h"

int main(int argc, char** argv) {
  using namespace lockstep;
  const char* home = std::getenv("LOCKSTEP_HOME");
  if (argc < 2 || home == nullptr) return 2;
  cli::Terminal terminal;
  const cli::Context context{cli::LocalHome(home), "", terminal};
  const auto text = io::read_file(argv[1], mebibytes(2));
  if (!text) return cli::fail(terminal, text.error());
  const auto connection = context.connect(cli::Context::Need::launcher);
  if (!connection) return cli::fail(terminal, connection.error());
  const auto checked = (*connection)
                           ->ask_for<JobFileChecked>(CheckJobFile{
                               argv[1], *text, std::vector<std::string>(argv + 2, argv + argc)});
  if (!checked) return cli::fail(terminal, checked.error());
  for (const std::string& error : checked->errors) std::cout << error << '\n';
  return checked->errors.empty() ? 0 : 2;
}
