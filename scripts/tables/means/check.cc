// Round trip of filled structs, all numbers named, JSON and schema.
#include <iostream>
#include "common/wire/table_codec.h"
#include "launcher/api/table_json.h"
#include "means/codec.h"
#include "proto/compute.access.h"
#include "proto/journal.access.h"
#include "tests/fill_table.h"
using namespace lockstep;
// As many names as T has members, or it does not compile.
#define BIND(n, ...) template <> struct Bind<n> { template <class T> static void check(T& v) { auto& [__VA_ARGS__] = v; } };
template <int N> struct Bind;
BIND(2, a, b) BIND(3, a, b, c) BIND(4, a, b, c, d) BIND(5, a, b, c, d, e) BIND(6, a, b, c, d, e, f) BIND(7, a, b, c, d, e, f, g)
BIND(9, a, b, c, d, e, f, g, h, i) BIND(12, a, b, c, d, e, f, g, h, i, j, k, l) BIND(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
BIND(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) BIND(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
BIND(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v2, w, x, y, z)
// Its own members in its table: what lies within it, not what a part of it has.
struct OwnMembers {
  const char* begin; std::size_t size; int count = 0; 
  void operator()(auto, const char*, auto&& m, const char* = "", const Rule& = {}) { ++count; }
};
struct Sorted { std::vector<int> numbers; template <int N> void operator()(At<N>, const char*, auto&&, const char* = "", const Rule& = {}) { if (N) numbers.push_back(N); } };
template <class Wire, class T>
void check(const char* name, bool show) {
  T value; test::TableFiller().fill(value);
  Wire wire; pb::to_message(value, &wire);
  T back; const Status status = pb::from_message(wire, &back);
  if (!status) std::cout << name << ": " << status.error().message << "\n";
  else if (!(back == value)) std::cout << name << ": not the same\n";
  Sorted seen; T::fields(value, seen); std::sort(seen.numbers.begin(), seen.numbers.end());
  std::vector<int> all(pb::kNumbers<Wire>.begin(), pb::kNumbers<Wire>.end()); std::sort(all.begin(), all.end());
  for (int n : all) if (!std::binary_search(seen.numbers.begin(), seen.numbers.end(), n)) std::cout << name << ": no line for " << n << "\n";
  if (show) std::cout << api::table_json(value).dump(1, ' ', false, api::Json::error_handler_t::replace) << "\n" << api::schema_of<T>().dump(2) << "\n";
}
int main(int argc, char**) {
  using Json = api::Json; (void)sizeof(Json);
  check<pb::ExitReport, ExitReport>("ExitReport", argc > 1);
  check<pb::RankExit, RankExit>("RankExit", false);
  check<pb::ComputeSpec, ComputeSpec>("ComputeSpec", false);
  check<pb::Inventory, Inventory>("Inventory", argc > 1);
  check<pb::ResourceRequest, ResourceRequest>("ResourceRequest", false);
  check<pb::PartGone, launcher::PartGone>("PartGone", false);
  check<pb::TokenCreated, launcher::TokenCreated>("TokenCreated", false);
  // LostPeer, RankEnd … each has a line for each member:
  RankEnd e; Bind<7>::check(e); LostPeer l; Bind<4>::check(l); ExitReport r; Bind<15>::check(r); Inventory i; Bind<26>::check(i); ResourceRequest q; Bind<12>::check(q);
}
