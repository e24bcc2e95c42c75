// mpi_exchange SECONDS MEGABYTES: neighbours send each other messages of so many MiB for so long,
// check each, and say how many there were. Exits 1 when a message is wrong.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double until = MPI_Wtime() + std::atof(argv[1]);
  const std::size_t count = static_cast<std::size_t>(std::atoi(argv[2])) << 18;
  std::vector<int> out(count), in(count);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int messages = 0, goes_on = 1;
  while (goes_on) {
    for (std::size_t i = 0; i < count; i += 1024) out[i] = rank + messages + static_cast<int>(i);
    MPI_Sendrecv(out.data(), static_cast<int>(count), MPI_INT, to, 0, in.data(),
                 static_cast<int>(count), MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < count; i += 1024) {
      if (in[i] == from + messages + static_cast<int>(i)) continue;
      std::fprintf(stderr, "rank %d: message %d is wrong\n", rank, messages);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ++messages;
    goes_on = MPI_Wtime() < until;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  std::printf("rank %d: %d messages of %s MiB\n", rank, messages, argv[2]);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
