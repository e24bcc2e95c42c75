#pragma once
// A core in memory whose facts are durable at once. It stands in for the daemon's loop: what a test
// or the service feeds is handled now, and `on_step` gets what came of it.

#include <functional>

#include "launcher/api/ports/running_core.h"
#include "launcher/api/service.h"
#include "tests/fakes/api/clock_and_random.h"

namespace lockstep::test {

class FakeRunningCore final : public launcher::RunningCore {
 public:
  explicit FakeRunningCore(FakeClockAndRandom& clock) : clock_(clock) {}

  const launcher::Core& core() const override { return core_; }
  void feed(const launcher::Input& input) override { on_step(core_.handle(clock_.time, input)); }
  void ask(std::function<void()> answer) override { answer(); }

  launcher::Core& core() { return core_; }
  std::function<void(const launcher::Step&)> on_step = [](const launcher::Step&) {};

 private:
  FakeClockAndRandom& clock_;
  launcher::Core core_{launcher::CoreConfig{}};
};

// What a step's actions are to the service, as the daemon performs them.
inline void perform(const launcher::Step& step, launcher::Service& service) {
  for (const launcher::Action& action : step.actions)
    std::visit(
        [&service](const auto& one) {
          if constexpr (requires { service.perform(one); }) service.perform(one);
        },
        action);
  service.flush();
}

}  // namespace lockstep::test
