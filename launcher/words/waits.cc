#include "launcher/words/waits.h"

#include <fmt/format.h>

#include "launcher/words/why.h"

namespace lockstep::words {

std::string say(const WaitsToBePlaced&) { return "waits to be placed"; }

std::string say(const WaitsBehindJob& reason) {
  return fmt::format("waits behind job '{}': {}", reason.job.value, text_of(reason.why));
}

}  // namespace lockstep::words
