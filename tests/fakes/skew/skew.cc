// A machine whose clock jumps and whose disk is slow, for one process: LD_PRELOAD this, and name in
// LOCKSTEP_TEST_SKEW a file of three native 64-bit integers, read at each call:
//   wall_ns   added to CLOCK_REALTIME, time() and gettimeofday()
//   since_ns  added to CLOCK_MONOTONIC and CLOCK_BOOTTIME: so much time seems to have passed
//   sync_ns   how long fsync and fdatasync take longer
// Kernel timeouts stay real: absolute deadlines of condition variables are shifted back. A file's
// times are the kernel's and do not jump.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

struct Skew {
  std::int64_t wall_ns, since_ns, sync_ns;
};

constexpr std::int64_t kSecond = 1'000'000'000;

const Skew& skew() {
  static const Skew* const shared = [] {
    static const Skew none{};
    const char* path = std::getenv("LOCKSTEP_TEST_SKEW");
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return &none;
    void* at = mmap(nullptr, sizeof(Skew), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? &none : static_cast<const Skew*>(at);
  }();
  return *shared;
}

template <typename F>
F next(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

std::int64_t shift_of(clockid_t id) {
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) return skew().wall_ns;
  const bool since = id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE ||
                     id == CLOCK_MONOTONIC_RAW || id == CLOCK_BOOTTIME;
  return since ? skew().since_ns : 0;
}

timespec shifted(const timespec& time, std::int64_t by_ns) {
  std::int64_t seconds = time.tv_sec + by_ns / kSecond;
  std::int64_t ns = time.tv_nsec + by_ns % kSecond;
  if (ns < 0) ns += kSecond, --seconds;
  if (ns >= kSecond) ns -= kSecond, ++seconds;
  return {static_cast<time_t>(seconds), static_cast<long>(ns)};
}

void wait_for_disk() {
  const std::int64_t ns = skew().sync_ns;
  if (ns <= 0) return;
  const timespec pause{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  nanosleep(&pause, nullptr);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t id, timespec* time) noexcept {
  static const auto real = next(&clock_gettime, "clock_gettime");
  const int result = real(id, time);
  if (result == 0) *time = shifted(*time, shift_of(id));
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  static const auto real = next(&pthread_cond_timedwait, "pthread_cond_timedwait");
  const timespec moment = shifted(*until, -skew().wall_ns);
  return real(condition, mutex, &moment);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id,
                           const timespec* until) {
  static const auto real = next(&pthread_cond_clockwait, "pthread_cond_clockwait");
  const timespec moment = shifted(*until, -shift_of(id));
  return real(condition, mutex, id, &moment);
}

int fsync(int fd) {
  static const auto real = next(&fsync, "fsync");
  wait_for_disk();
  return real(fd);
}

int fdatasync(int fd) {
  static const auto real = next(&fdatasync, "fdatasync");
  wait_for_disk();
  return real(fd);
}

}  // extern "C"
