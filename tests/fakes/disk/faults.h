#pragma once
// A disk that fails the k-th call that would change it, or that call and all later ones. A test
// runs its scenario for k = 1, 2, … until a run has fewer calls (each_fault).

#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/io/disk.h"

namespace lockstep::test {

struct DiskWeather {
  std::string name;
  int error = ENOSPC;
  bool lasts = false;       // from the k-th call on, not only then
  bool short_write = true;  // half of the bytes are written first
  std::set<io::disk::Call> calls;
};

inline std::set<io::disk::Call> growing_calls() {
  using io::disk::Call;
  return {Call::create, Call::write, Call::folder, Call::rename, Call::link, Call::resize};
}

// A disk that is full once, one that stays full, one failing call, a failing sync, and a disk that
// its file system made read-only after an error.
inline std::vector<DiskWeather> all_disk_weather() {
  using io::disk::Call;
  auto all = growing_calls();
  all.insert({Call::sync, Call::remove});
  auto read_only = growing_calls();
  read_only.insert(Call::remove);
  return {{"full once", ENOSPC, false, true, growing_calls()},
          {"full", ENOSPC, true, true, growing_calls()},
          {"broken once", EIO, false, true, all},
          {"sync fails", EIO, false, false, {Call::sync}},
          {"read-only", EROFS, true, false, read_only}};
}

class DiskFaults final : public io::disk::Faults {
 public:
  DiskFaults(const DiskWeather& weather, int kth) : weather_(weather), kth_(kth) {}

  std::optional<io::disk::Fault> before(io::disk::Call call, std::size_t bytes) override {
    const std::lock_guard guard(mutex_);
    if (weather_.calls.count(call) == 0) return std::nullopt;
    ++seen_;
    if (seen_ < kth_ || (seen_ > kth_ && !weather_.lasts && !rest_of_write_)) return std::nullopt;
    io::disk::Fault fault{weather_.error, std::nullopt};
    // The write after a short write fails too: it would write the rest.
    rest_of_write_ = weather_.short_write && call == io::disk::Call::write && seen_ == kth_;
    if (rest_of_write_ && bytes > 1) fault.first = bytes / 2;
    struck_ = true;
    return fault;
  }
  bool struck() const { return struck_; }

 private:
  const DiskWeather weather_;
  const int kth_;
  std::mutex mutex_;
  int seen_ = 0;
  bool rest_of_write_ = false;
  bool struck_ = false;
};

// A directory for files whose syncs should not take a real disk's time.
inline std::string quick_directory() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

// Calls run(faults, description) for every weather and every k until the scenario ends without a
// fault. `run` itself puts the faults in front of the disk, and removes them before it checks the
// result.
template <typename Run>
int each_fault(const Run& run) {
  int runs = 0;
  for (const DiskWeather& weather : all_disk_weather()) {
    for (int kth = 1;; ++kth, ++runs) {
      DiskFaults faults(weather, kth);
      run(faults, weather.name + ", call " + std::to_string(kth));
      if (!faults.struck()) break;
    }
  }
  return runs;
}

}  // namespace lockstep::test
