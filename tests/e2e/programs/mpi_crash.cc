// mpi_crash [SIGNAL [RANK [before|fence|collective]]]: one rank (the last by default) is killed by
// SIGNAL (SIGSEGV by default) before MPI_Init, while the others are in MPI_Init's fence, or in a
// collective (the default).

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

// Without core files, and also where a library has put its own handler.
void die(int signal_number) {
  signal(signal_number, SIG_DFL);
  kill(getpid(), signal_number);
  pause();
}

}  // namespace

int main(int argc, char** argv) {
  const int signal_number = argc > 1 ? std::atoi(argv[1]) : SIGSEGV;
  const char* when = argc > 3 ? argv[3] : "collective";
  const char* me = std::getenv("LOCKSTEP_RANK");
  const char* world = std::getenv("LOCKSTEP_WORLD_SIZE");
  const int last = (world ? std::atoi(world) : 1) - 1;
  const int who = argc > 2 ? std::atoi(argv[2]) : last;
  const bool mine = me && std::atoi(me) == who;
  if (mine && std::strcmp(when, "before") == 0) die(signal_number);
  if (mine && std::strcmp(when, "fence") == 0) {
    usleep(200'000);  // the others are in MPI_Init's fence by now
    die(signal_number);
  }
  MPI_Init(&argc, &argv);
  if (mine) die(signal_number);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
