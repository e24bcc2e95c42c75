// mpi_exit_without_finalize [RANK]: one rank (the last by default; -1: all) leaves with exit code 0
// between MPI_Init and MPI_Finalize. That is a failure, which only the PMIx server can see.

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int who = argc > 1 ? std::atoi(argv[1]) : size - 1;
  if (who < 0 || rank == who) _exit(0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
