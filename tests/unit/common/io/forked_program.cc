// A program for fork_server_test.cc: "forked WHAT DIRECTORY" is what it is forked for.
//   tell             says what it finds, and ends
//   wait             waits for its end
//   refuse, die      in its preparation
//   prepare slowly   tells when it is prepared, and waits for DIRECTORY/go

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/io/programs/fork_server.h"

namespace {

using namespace lockstep;

Status prepare(const io::ForkOrder& order) {
  const std::string& what = order.words[1];
  const std::string& directory = order.words[2];
  if (what == "refuse") return make_error(ErrorCode::conflict, "refused, as ordered");
  if (what == "die") _exit(1);
  if (what == "prepare slowly") {
    TRY(io::write_file_atomically(directory + "/preparing", ""));
    while (!io::exists(directory + "/go")) usleep(2000);
  }
  return io::write_file_atomically(directory + "/prepared", io::to_text(*io::identify(getpid())));
}

// Tells that it is there, before there is an order.
void settle() {
  const char* directory = std::getenv("SETTLED_IN");
  if (directory == nullptr) return;
  const std::string text = lockstep::io::to_text(*lockstep::io::identify(getpid()));
  (void)lockstep::io::write_file_atomically(std::string(directory) + "/settled", text);
}

int tell() {
  char directory[4096] = "";
  struct sigaction child {};
  sigaction(SIGCHLD, nullptr, &child);
  std::printf("%s of %s\n", std::getenv("GREETING"), getcwd(directory, sizeof directory));
  std::printf("leads its session: %d\n", getsid(0) == getpid());
  std::printf("signal of a child: %s\n", child.sa_handler == SIG_DFL ? "default" : "other");
  char byte = 0;
  std::printf("stdin: %d\ndescriptors:", static_cast<int>(read(STDIN_FILENO, &byte, 1)));
  for (int fd = 0; fd < 100; ++fd) {
    struct stat status {};
    if (fstat(fd, &status) == 0) std::printf(" %d", fd);
  }
  std::printf("\n");
  std::fflush(stdout);
  std::fprintf(stderr, "error goes there too\n");
  std::printf("end\n");
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const auto words = lockstep::io::serve_forks(STDIN_FILENO, argv, {prepare, settle});
  if (!words) return 0;
  if ((*words)[1] == "tell") return tell();
  while (true) pause();
}
