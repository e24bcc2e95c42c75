// Joins a job as one of its ranks, by the variables of that rank, whatever account it runs as: it
// claims the ids that it is told, which is all that PMIx's clients send.
//   pmix_intruder VARIABLES UID GID abort|stay
// VARIABLES: a file as /proc/PID/environ. "abort" ends the job with code 99; "stay" leaves at once.
// Prints "joined", or "refused: " and why, and exits 0 in both cases.

#include <pmix.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace {

uid_t claimed_uid = 0;
gid_t claimed_gid = 0;

}  // namespace

// They stand before the C library's, for libpmix too.
extern "C" {
uid_t geteuid() noexcept { return claimed_uid; }
uid_t getuid() noexcept { return claimed_uid; }
gid_t getegid() noexcept { return claimed_gid; }
gid_t getgid() noexcept { return claimed_gid; }
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::ifstream variables(argv[1]);
  for (std::string line; std::getline(variables, line, '\0');) {
    const std::size_t equals = line.find('=');
    if (equals != line.npos && line.starts_with("PMIX_"))
      setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
  }
  claimed_uid = static_cast<uid_t>(std::atoi(argv[2]));
  claimed_gid = static_cast<gid_t>(std::atoi(argv[3]));
  alarm(20);
  pmix_proc_t self;
  const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
  if (status != PMIX_SUCCESS) {
    std::printf("refused: %s\n", PMIx_Error_string(status));
    return 0;
  }
  std::printf("joined\n");
  std::fflush(stdout);
  if (std::string_view(argv[4]) == "abort") PMIx_Abort(99, "by an intruder", nullptr, 0);
  _exit(0);
}
