#include "launcher/words/why.h"

#include <fmt/format.h>

#include "common/domain/why/all/reason.h"
#include "launcher/words/ends.h"
#include "launcher/words/events.h"
#include "launcher/words/explain.h"
#include "launcher/words/fit.h"
#include "launcher/words/losses.h"
#include "launcher/words/machines.h"
#include "launcher/words/nodes.h"
#include "launcher/words/notes.h"
#include "launcher/words/orders.h"
#include "launcher/words/parts.h"
#include "launcher/words/placement.h"
#include "launcher/words/providers.h"
#include "launcher/words/ranks.h"
#include "launcher/words/rdma.h"
#include "launcher/words/settings.h"
#include "launcher/words/steps.h"
#include "launcher/words/targets.h"
#include "launcher/words/unknown.h"
#include "launcher/words/vain.h"
#include "launcher/words/waits.h"

namespace lockstep::words {

namespace {

std::string say(const Told& reason) { return reason.text; }

}  // namespace

std::string text_of(const Why& why) {
  if (!why) return "";
  return visit_reason([](const auto& reason) { return say(reason); }, *why.get());
}

}  // namespace lockstep::words
