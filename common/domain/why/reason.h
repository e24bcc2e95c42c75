#pragma once
// All reasons. Each is a struct in its group's header with
//   kCode      its name in JSON, on the wire and in the journal; never given to another reason
//   fields()   shows a visitor each member with its name, which never changes its meaning
// and launcher/words has a sentence for each. Names are snake_case; of a number without a type of
// its own, the name ends with the unit.

#include <memory>
#include <utility>
#include <variant>

#include "common/domain/why/data.h"
#include "common/domain/why/ends.h"
#include "common/domain/why/events.h"
#include "common/domain/why/explain.h"
#include "common/domain/why/fit.h"
#include "common/domain/why/list.h"
#include "common/domain/why/losses.h"
#include "common/domain/why/machines.h"
#include "common/domain/why/nodes.h"
#include "common/domain/why/notes.h"
#include "common/domain/why/orders.h"
#include "common/domain/why/parts.h"
#include "common/domain/why/placement.h"
#include "common/domain/why/providers.h"
#include "common/domain/why/ranks.h"
#include "common/domain/why/rdma.h"
#include "common/domain/why/settings.h"
#include "common/domain/why/steps.h"
#include "common/domain/why/targets.h"
#include "common/domain/why/vain.h"
#include "common/domain/why/waits.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct Reason {
  VariantOf<List<Told, Unknown>, WaitReasons, StepReasons, NodeReasons, FitReasons,
            PlacementReasons, VainReasons, SettingReasons, ExplainReasons, MachineReasons,
            ProviderReasons, TargetReasons, RankReasons, PartReasons, NoteReasons, RdmaReasons,
            EndReasons, OrderReasons, LossReasons, EventReasons>
      value;
  friend bool operator==(const Reason&, const Reason&) = default;
};

template <class R>
requires requires { R::kCode; }
Why::Why(R reason) : Why(Reason{std::move(reason)}) {}

template <class R>
const R* Why::as() const {
  return reason_ == nullptr ? nullptr : std::get_if<R>(&reason_->value);
}

}  // namespace lockstep
