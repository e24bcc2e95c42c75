#include <utility>
#include "common/domain/compute.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_spec.h"
#include "common/domain/node.h"
#include "common/domain/pipeline.h"
using namespace lockstep;
struct Any {
  template <class T> constexpr operator T&() const& noexcept;
  template <class T> constexpr operator T&&() const&& noexcept;
};
struct AnyL { template <class T> constexpr operator T&() const noexcept; };
template <class A, class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) { return requires { T{(static_cast<void>(I), A{})...}; }; }
template <class A, class T, std::size_t N = 64>
constexpr std::size_t arity() {
  if constexpr (takes<A, T>(std::make_index_sequence<N>{})) return N;
  else if constexpr (N == 0) return 999;
  else return arity<A, T, N - 1>();
}

static_assert(arity<AnyL, ExitReport>() == 15 && arity<AnyL, Inventory>() == 26 && arity<AnyL, JobSpec>() == 37 && arity<AnyL, ComputeSpec>() == 13); int main() { }
#if 0
  std::printf("ExitReport %zu (15) Inventory %zu (26) ComputeSpec %zu (13) RankExit %zu (16) JobSpec %zu (37) LostPeer %zu (4)\n",
    arity<AnyL, ExitReport>(), arity<AnyL, Inventory>(), arity<AnyL, ComputeSpec>(), arity<AnyL, RankExit>(), arity<AnyL, JobSpec>(), arity<AnyL, LostPeer>());
}
#endif
