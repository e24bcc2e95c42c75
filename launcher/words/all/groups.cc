#include "launcher/words/why.h"

#include <fmt/format.h>

#include "common/domain/why/all/reason.h"
#include "launcher/words/jobs/say_ends.h"
#include "launcher/words/jobs/say_events.h"
#include "launcher/words/jobs/say_explain.h"
#include "launcher/words/jobs/say_orders.h"
#include "launcher/words/jobs/say_settings.h"
#include "launcher/words/jobs/say_steps.h"
#include "launcher/words/jobs/say_vain.h"
#include "launcher/words/jobs/say_waits.h"
#include "launcher/words/nodes/say_fit.h"
#include "launcher/words/nodes/say_losses.h"
#include "launcher/words/nodes/say_machines.h"
#include "launcher/words/nodes/say_nodes.h"
#include "launcher/words/nodes/say_placement.h"
#include "launcher/words/nodes/say_providers.h"
#include "launcher/words/nodes/say_targets.h"
#include "launcher/words/ranks/say_notes.h"
#include "launcher/words/ranks/say_parts.h"
#include "launcher/words/ranks/say_ranks.h"
#include "launcher/words/ranks/say_rdma.h"
#include "launcher/words/unknown.h"

namespace lockstep::words {

namespace {

std::string say(const Told& reason) { return reason.text; }

}  // namespace

std::string text_of(const Why& why) {
  if (!why) return "";
  return visit_reason([](const auto& reason) { return say(reason); }, *why.get());
}

}  // namespace lockstep::words
