#pragma once
// A process with space on its disk, and one line in the log of each provider.

#include <utility>

#include "launcher/api/ports/clock_and_random.h"
#include "launcher/api/ports/launcher_process.h"

namespace lockstep::test {

class FakeLauncherProcess final : public launcher::LauncherProcess {
 public:
  explicit FakeLauncherProcess(launcher::ClockAndRandom& clock) : clock_(clock) {}

  launcher::LauncherInfo info() const override { return about; }
  std::string low_space() const override { return about.low_reason; }
  launcher::NewToken make_token(Duration valid_for) override {
    return {sha256("another"), {"the token's text", clock_.now() + valid_for}};
  }
  std::string compute_log(const std::string&, std::int64_t) const override { return "a line\n"; }
  Status parse_job_file(const launcher::Caller&, CheckJobFile request,
                        std::function<void(spec::JobFileReading)> then) override {
    then(launcher::parse(request));
    return {};
  }

  launcher::LauncherInfo about;

 private:
  launcher::ClockAndRandom& clock_;
};

}  // namespace lockstep::test
