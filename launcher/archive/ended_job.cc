#include "launcher/archive/ended_job.h"

namespace lockstep::archive {

Use& Use::operator+=(const Use& other) {
  cpu_ms += other.cpu_ms;
  gpu_ms += other.gpu_ms;
  memory_mib_s += other.memory_mib_s;
  used_cpu_ms += other.used_cpu_ms;
  waited_ms += other.waited_ms;
  attempts += other.attempts;
  jobs += other.jobs;
  return *this;
}

// Rounded down, also before 1970.
std::int64_t day_of(Instant time) {
  const std::int64_t day = kDay.count();
  return time.ns / day - (time.ns % day < 0 ? 1 : 0);
}

}  // namespace lockstep::archive
