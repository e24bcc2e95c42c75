// mpi_abort [CODE [RANK]]: one rank (the last by default) calls MPI_Abort(CODE) while the others
// wait in a barrier that can never complete.

#include <mpi.h>

#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int code = argc > 1 ? std::atoi(argv[1]) : 42;
  const int who = argc > 2 ? std::atoi(argv[2]) : size - 1;
  if (rank == who) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
