// A variant, optional structs and a map of lists, by the table alone; as many members as lines.
#include <iostream>
#include <utility>
#include "common/domain/environment.h"
#include "common/domain/exit_report.h"
#include "common/wire/table_codec.h"
#include "proto/environment.access.h"
#include "tests/fill_table.h"
using namespace lockstep;
struct Any { template <class T> constexpr operator T&() const noexcept; };
template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) { return requires { T{(static_cast<void>(I), Any{})...}; }; }
template <class T, std::size_t N = 64>
constexpr std::size_t members_of() {
  if constexpr (takes<T>(std::make_index_sequence<N>{})) return N;
  else return members_of<T, N - 1>();
}
struct Count { int n = 0; void operator()(auto, const char*, auto&&, const char* = "", const Rule& = {}) { ++n; } };
template <class T> void count(const char* name) { T v; Count c; T::fields(v, c); std::cout << name << " " << c.n << " lines, " << members_of<T>() << " members\n"; }
int main() {
  EnvironmentSpec value; test::TableFiller().fill(value);
  pb::EnvironmentSpec wire; pb::to_message(value, &wire);
  EnvironmentSpec back; const Status status = pb::from_message(wire, &back);
  std::cout << "environment: " << (status && back == value ? "the same" : "not the same") << ", " << wire.ByteSizeLong() << " bytes\n";
  pb::EnvironmentSpec empty; EnvironmentSpec none; const Status bad = pb::from_message(empty, &none);
  std::cout << bad.error().message << "\n";
  count<EnvironmentSpec>("EnvironmentSpec"); count<CondaEnvironment>("CondaEnvironment"); count<RankExit>("RankExit"); count<ExitReport>("ExitReport");
}
