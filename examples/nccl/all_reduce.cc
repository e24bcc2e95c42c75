// An all-reduce over all ranks with NCCL, checked for correctness. No MPI: rank 0 makes the
// communicator's id and hands it to the others over TCP at MASTER_ADDR:MASTER_PORT.
// Usage (as a Lockstep job with distribution pytorch): all_reduce [MEBIBYTES]
// Every rank prints its result; exit code 1 when a sum is wrong or a call fails.

#include <arpa/inet.h>
#include <cuda_runtime.h>
#include <nccl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "all_reduce: %s\n", what.c_str());
  std::exit(1);
}

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) die(std::string(what) + ": " + cudaGetErrorString(status));
}

void check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) die(std::string(what) + ": " + ncclGetErrorString(status));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    die(std::string(name) + " is not set; run this as a job with distribution pytorch");
  return value;
}

void transfer_all(int fd, char* data, std::size_t size, bool sending) {
  while (size > 0) {
    const ssize_t n = sending ? send(fd, data, size, MSG_NOSIGNAL) : recv(fd, data, size, 0);
    if (n <= 0) die("the connection for the communicator's id broke");
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

addrinfo* resolve(const std::string& host, const std::string& port, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  if (passive) hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(passive ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) die("cannot resolve " + host + ":" + port + ": " + gai_strerror(code));
  return found;
}

void hand_out(ncclUniqueId id, int others, const std::string& port) {
  addrinfo* where = resolve("", port, true);
  const int listener = socket(where->ai_family, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, where->ai_addr, where->ai_addrlen) != 0 || listen(listener, others) != 0)
    die("cannot listen on MASTER_PORT " + port + ": " + std::strerror(errno));
  freeaddrinfo(where);
  for (int i = 0; i < others; ++i) {
    const int peer = accept(listener, nullptr, nullptr);
    if (peer < 0) die(std::string("accept: ") + std::strerror(errno));
    transfer_all(peer, id.internal, sizeof id.internal, true);
    close(peer);
  }
  close(listener);
}

ncclUniqueId fetch(const std::string& host, const std::string& port) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  addrinfo* where = resolve(host, port, false);
  while (std::chrono::steady_clock::now() < end) {
    const int fd = socket(where->ai_family, SOCK_STREAM, 0);
    if (connect(fd, where->ai_addr, where->ai_addrlen) == 0) {
      ncclUniqueId id;
      transfer_all(fd, id.internal, sizeof id.internal, false);
      close(fd);
      freeaddrinfo(where);
      return id;
    }
    close(fd);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  die("rank 0 does not answer at " + host + ":" + port);
}

// Sum over ranks r of (r + 1 + i mod 7) for element i.
float expected(std::size_t i, int world) {
  return static_cast<float>(world) * static_cast<float>(i % 7) +
         static_cast<float>(world) * static_cast<float>(world + 1) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  const int rank = std::stoi(variable("RANK")), world = std::stoi(variable("WORLD_SIZE"));
  const int local_rank = std::stoi(variable("LOCAL_RANK"));
  const std::size_t count = (argc > 1 ? std::stoul(argv[1]) : 64) * (1u << 20) / sizeof(float);
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices == 0) die("no CUDA device is visible");
  check(cudaSetDevice(local_rank % devices), "cudaSetDevice");

  ncclUniqueId id;
  if (rank == 0) {
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    hand_out(id, world - 1, variable("MASTER_PORT"));
  } else {
    id = fetch(variable("MASTER_ADDR"), variable("MASTER_PORT"));
  }
  ncclComm_t comm;
  check(ncclCommInitRank(&comm, world, id, rank), "ncclCommInitRank");

  std::vector<float> host(count);
  for (std::size_t i = 0; i < count; ++i)
    host[i] = static_cast<float>(rank + 1) + static_cast<float>(i % 7);
  float* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(data, host.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copy in");
  const auto begin = std::chrono::steady_clock::now();
  check(ncclAllReduce(data, data, count, ncclFloat, ncclSum, comm, nullptr), "ncclAllReduce");
  check(cudaStreamSynchronize(nullptr), "synchronize");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  check(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost), "copy out");
  for (std::size_t i = 0; i < count; ++i)
    if (host[i] != expected(i, world))
      die("element " + std::to_string(i) + " is " + std::to_string(host[i]) + ", not " +
          std::to_string(expected(i, world)));
  check(ncclCommDestroy(comm), "ncclCommDestroy");
  std::printf("rank %d of %d: all-reduce of %zu floats is right (first call %.1f ms)\n", rank,
              world, count, took.count());
  return 0;
}
