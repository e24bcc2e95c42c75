#pragma once
// Works on the machines of a request, several at a time.

#include <functional>
#include <string>

#include "launcher/compute/contract.h"

namespace lockstep::compute {

template <typename T>
using Attempt = tl::expected<T, Failed>;

struct Outcome {
  std::string machine;
  Attempt<void> done;
};

// Calls `work` for 0 … count-1, on at most 16 threads, and writes an error event for each that
// failed. Returns the number of those.
int at_once(std::size_t count, Events& events, const std::function<Outcome(std::size_t)>& work);

}  // namespace lockstep::compute
