#include "common/domain/why/ranks/parts.h"

namespace lockstep {

std::string_view to_string(SpawnEnd end) {
  switch (end) {
    case SpawnEnd::died: return "died";
    case SpawnEnd::container_removed: return "container_removed";
    case SpawnEnd::container_gone: return "container_gone";
  }
  return "died";
}

std::string_view to_string(TableFault fault) {
  switch (fault) {
    case TableFault::other_attempt: return "other_attempt";
    case TableFault::out_of_order: return "out_of_order";
    case TableFault::wrong_count: return "wrong_count";
    case TableFault::altered: return "altered";
    case TableFault::incomplete: return "incomplete";
  }
  return "altered";
}

}  // namespace lockstep
