// Says who it is, then checks what an MPI library does most: allreduce, a ring, messages larger
// than any eager limit, sub-communicators, and one-sided access. Exits 1 with a line on stderr when
// a sum is wrong.

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace {

int rank = 0, size = 0;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void check_allreduce() {
  const std::vector<double> mine(1000, rank + 1.0);
  std::vector<double> sum(mine.size());
  MPI_Allreduce(mine.data(), sum.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (double value : sum) require(value == size * (size + 1) / 2.0, "the allreduce sum");
}

void check_ring() {
  int token = rank, received = -1;
  for (int hop = 0; hop < size; ++hop) {
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token = received;
  }
  require(token == rank, "the ring's token");
}

void check_big_messages(int megabytes) {
  const std::size_t count = static_cast<std::size_t>(megabytes) << 18;
  std::vector<int> out(count), in(count);
  std::iota(out.begin(), out.end(), rank);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Sendrecv(out.data(), static_cast<int>(count), MPI_INT, to, 1, in.data(),
               static_cast<int>(count), MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < count; ++i) {
    require(in[i] == from + static_cast<int>(i), "a big message");
  }
}

// Groups make PMIx fences over some ranks only in other MPI libraries, and new communicators in
// all.
void check_groups() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  int members = 0, one = 1;
  MPI_Allreduce(&one, &members, 1, MPI_INT, MPI_SUM, half);
  require(members == (size + 1 - rank % 2) / 2, "the size of a half");
  MPI_Comm_free(&half);
}

void check_windows() {
  int value = -1;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  require(value == (rank + size - 1) % size, "a one-sided put");
  MPI_Win_free(&window);
}

// Whether all threads of this process but this one sleep, and none waits for a page (D).
bool others_sleep() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(thread.path() / "stat");
    const std::string stat(std::istreambuf_iterator<char>(file), {});
    const std::size_t name_end = stat.rfind(") ");
    if (name_end != stat.npos && stat[name_end + 2] != 'S') return false;
  }
  return true;
}

// Open MPI 4.1 tells itself by an event that MPI has begun. If its thread has not come to that when
// MPI_Finalize unloads the PMIx component, it jumps to where the handler was: signal 11, which only
// programs as short as this one meet, and only on a busy machine. A thread with an event is awake.
void let_events_be_handled() {
  for (int look = 0; look < 5000 && !others_sleep(); ++look) usleep(1000);
}

}  // namespace

// mpi_hello [EXPECTED_SIZE [MEGABYTES]]: more than a hello only when an expected size is given.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  require(sum == size * (size - 1) / 2, "the sum of ranks");
  std::printf("rank %d of %d on %s: sum %d\n", rank, size, host, sum);
  std::fflush(stdout);
  if (argc > 1) {
    require(size == std::atoi(argv[1]), "the world's size");
    check_allreduce();
    check_ring();
    check_big_messages(argc > 2 ? std::atoi(argv[2]) : 8);
    check_groups();
    check_windows();
  }
  let_events_be_handled();
  MPI_Finalize();
  return 0;
}
