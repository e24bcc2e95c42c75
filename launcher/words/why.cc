#include "launcher/words/why.h"

#include <fmt/format.h>

#include "common/domain/why/reason.h"
#include "launcher/words/ends.h"
#include "launcher/words/events.h"
#include "launcher/words/losses.h"
#include "launcher/words/orders.h"
#include "launcher/words/unknown.h"
#include "launcher/words/waits.h"

namespace lockstep::words {

namespace {

std::string say(const Told& reason) { return reason.text; }

}  // namespace

std::string text_of(const Why& why) {
  if (!why) return "";
  return std::visit([](const auto& reason) { return say(reason); }, why.get()->value);
}

}  // namespace lockstep::words
