#pragma once
// All reasons. Each is a struct in its group's header with
//   kCode      its name in JSON, on the wire and in the journal; never given to another reason
//   LOCKSTEP_FIELDS its members; a name never changes its meaning
// and launcher/words has a sentence for each. Names are snake_case; of a number without a type of
// its own, the name ends with the unit.

#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

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

// Calls `see` with the List of each group.
template <class See>
void each_group(See&& see) {
  see(List<Told, Unknown>());
  see(WaitReasons());
  see(StepReasons());
  see(NodeReasons());
  see(FitReasons());
  see(PlacementReasons());
  see(VainReasons());
  see(SettingReasons());
  see(ExplainReasons());
  see(MachineReasons());
  see(ProviderReasons());
  see(TargetReasons());
  see(RankReasons());
  see(PartReasons());
  see(NoteReasons());
  see(RdmaReasons());
  see(EndReasons());
  see(OrderReasons());
  see(LossReasons());
  see(EventReasons());
}

namespace detail {
template <class R, class See>
auto call_as(See& see, const Reason& reason) {
  return see(static_cast<const ReasonOf<R>&>(reason).value);
}
}  // namespace detail

// see(r) of the struct that the reason is; it returns the same type for each.
template <class See>
auto visit_reason(See&& see, const Reason& reason) {
  using Visitor = std::remove_reference_t<See>;
  using Call = decltype(see(std::declval<const Told&>())) (*)(Visitor&, const Reason&);
  static const auto calls = [] {
    std::map<std::string_view, Call> all;
    each_group([&]<class... R>(List<R...>) {
      (all.emplace(R::kCode, &detail::call_as<R, Visitor>), ...);
    });
    return all;
  }();
  return calls.at(reason.code())(see, reason);
}

}  // namespace lockstep
