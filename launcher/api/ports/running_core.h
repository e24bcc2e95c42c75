#pragma once
// The core as it runs in this process, as the service uses it: to read its state, to feed it
// requests, and to wait until an answer may rest on its state. It does not perform the actions of
// the core; those that are replies come back through Service::perform.

#include <functional>

#include "launcher/core/core.h"

namespace lockstep::launcher {

class RunningCore {
 public:
  virtual ~RunningCore() = default;
  virtual const Core& core() const = 0;
  // Feeds an input. Its actions are performed later, when its facts are durable.
  virtual void feed(const Input& input) = 0;
  // Runs what makes an answer from the state: now, or later on the loop.
  virtual void ask(std::function<void()> answer) = 0;
};

}  // namespace lockstep::launcher
