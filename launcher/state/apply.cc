#include <variant>

#include "launcher/state/applier.h"

namespace lockstep::launcher {

void State::apply(Instant at, const Fact& fact) { std::visit(Applier{*this, at}, fact); }

}  // namespace lockstep::launcher
