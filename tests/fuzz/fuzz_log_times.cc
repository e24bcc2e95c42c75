// Any file beside a log holds times: what is said of them grows and stays within what was asked.

#include <cstdint>
#include <cstdlib>

#include "common/io/attempt/log_times.h"
#include "tests/fuzz/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::Scratch scratch;
  scratch.write("log.times", {reinterpret_cast<const char*>(data), size});
  io::LogTimes times(scratch.path() + "/log");
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  for (const std::uint64_t end : {std::uint64_t{1}, std::uint64_t{1} << 20, kAll}) {
    for (const std::size_t most : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
      const auto found = times.between(end / 2, end, most, true);
      if (found.size() > most) std::abort();
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].offset >= end || found[i].at.ns <= 0) std::abort();
        if (i > 0 && found[i].offset <= found[i - 1].offset) std::abort();
      }
    }
  }
  for (const std::int64_t since : {INT64_MIN, std::int64_t{0}, INT64_MAX})
    (void)times.first_since({since});
  (void)times.known();
  if (!times.append({{1, Instant{2}}})) std::abort();
  times.free_before(kAll);
  return 0;
}
