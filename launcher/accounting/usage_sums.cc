#include "launcher/accounting/usage_sums.h"

#include <iterator>
#include <limits>

namespace lockstep::launcher {
namespace {

using S = UsageSums;  // for the table

constexpr UsageField kFields[] = {
    {"started", &S::started, "attempts placed"},
    {"completed", &S::completed, "attempts of which every rank exited with 0"},
    {"failed", &S::failed, "attempts that failed, and none followed"},
    {"canceled", &S::canceled, "attempts, and jobs that waited, that were canceled"},
    {"retried", &S::retried, "attempts after which another one of their job followed"},
    {"waits", &S::waits, "times that jobs waited to be placed"},
    {"wait_seconds", &S::wait_seconds, "how long they did, together"},
    {"node_seconds", &S::node_seconds, "nodes held, times seconds"},
    {"cpu_seconds", &S::cpu_seconds, "cpus held, times seconds"},
    {"gpu_seconds", &S::gpu_seconds, "GPUs held, times seconds"},
    {"memory_mib_seconds", &S::memory_mib_seconds, "MiB of memory held, times seconds"},
    {"used_cpu_seconds", &S::used_cpu_seconds, "cpu time that ranks used"},
    {"used_gpu_seconds", &S::used_gpu_seconds, "time in which GPUs were busy"},
    {"used_memory_mib_seconds", &S::used_memory_mib_seconds,
     "MiB of memory that ranks used, times seconds"},
    {"measured_cpu_seconds", &S::measured_cpu_seconds,
     "of cpu_seconds, those of which the use is known"},
    {"measured_gpu_seconds", &S::measured_gpu_seconds,
     "of gpu_seconds, those of which the use is known"},
    {"measured_memory_mib_seconds", &S::measured_memory_mib_seconds,
     "of memory_mib_seconds, those of which the use is known"},
    {"cost_micros", &S::cost_micros,
     "millionths of the unit in which sizes have prices; 0: they have none"},
};
static_assert(sizeof(UsageSums) == std::size(kFields) * sizeof(std::int64_t));

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

UsageSums& UsageSums::operator+=(const UsageSums& other) {
  for (const UsageField& field : kFields)
    this->*field.value = bounded_sum(this->*field.value, other.*field.value);
  return *this;
}

std::span<const UsageField> usage_fields() { return kFields; }

std::int64_t held_after(std::int64_t rate, std::int64_t elapsed_ms) {
  constexpr std::int64_t kThousand = 1'000;
  return bounded_sum(bounded_product(rate, elapsed_ms / kThousand),
                     bounded_product(rate, elapsed_ms % kThousand) / kThousand);
}

}  // namespace lockstep::launcher
