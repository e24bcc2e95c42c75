// mpi_pingpong SECONDS: two ranks send each other messages of 8 bytes to 64 MiB, each size for so
// long. Rank 0 prints for each "pingpong BYTES MICROSECONDS", of one way.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kSizes[] = {8, 64, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20};
constexpr int kWarmUps = 3, kLeastRounds = 5, kMostRounds = 200'000;

int rank = 0;

// There and back again; seconds that it took.
double bounce(std::vector<char>& data, int bytes, int rounds) {
  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    if (rank == 0) {
      MPI_Send(data.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(data.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  return MPI_Wtime() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double seconds = std::atof(argv[1]);
  std::vector<char> data(64 << 20, 'x');
  for (const int bytes : kSizes) {
    const double each = std::max(bounce(data, bytes, kWarmUps) / kWarmUps, 1e-7);
    int rounds =
        static_cast<int>(std::clamp(seconds / each, 1.0 * kLeastRounds, 1.0 * kMostRounds));
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const double took = bounce(data, bytes, rounds);
    if (rank == 0) std::printf("pingpong %d %.3f\n", bytes, took / rounds / 2 * 1e6);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
