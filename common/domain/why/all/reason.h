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
#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/explain.h"
#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/jobs/settings.h"
#include "common/domain/why/jobs/steps.h"
#include "common/domain/why/jobs/vain.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/nodes/providers.h"
#include "common/domain/why/nodes/targets.h"
#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/parts.h"
#include "common/domain/why/ranks/ranks.h"
#include "common/domain/why/ranks/rdma.h"
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

// Calls see(r) with the struct that the reason is; it returns the same type for each.
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
